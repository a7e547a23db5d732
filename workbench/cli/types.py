"""``workbench types DB --verifier NAME``."""

from __future__ import annotations

import click

from workbench.cli.common import database_argument, json_option, print_json, print_line, project_at


@click.command()
@database_argument
@click.option("--verifier", required=True, metavar="NAME", help="Whose suggestions (a verifier of kind answer-type).")
@click.option("--questions", is_flag=True, help="Print the suggestions, one JSON line a question.")
@json_option
def command(database: str, verifier: str, questions: bool, as_json: bool) -> None:
    """Show how the answer types that a model suggests agree with those in force."""
    from workbench.services.labelling.suggesting import suggestions, type_report, types_text

    if questions and as_json:
        raise click.UsageError("--questions prints JSON lines; leave --json out.")
    with project_at(database) as project:
        if questions:
            for one in suggestions(project, verifier):
                print_line(one)
        elif as_json:
            print_json(type_report(project, verifier))
        else:
            click.echo(types_text(type_report(project, verifier)), nl=False)
