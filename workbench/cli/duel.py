"""``workbench duel DB A B``."""

from __future__ import annotations

import shlex
import sys

import click

from workbench.cli.common import (
    database_argument,
    json_option,
    option_option,
    options_of,
    print_json,
    project_at,
    say,
    selection_of,
    trust_option,
    trusting,
    where_option,
    whole_number,
)
from workbench.cli.following import follow


@click.command()
@database_argument
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@option_option
@click.option("--name", help="The name of this duel; duel/A/B by default.")
@where_option
@click.option("--limit", type=whole_number, help="Only the first so many of these items.")
@trust_option
@json_option
def command(
    database: str,
    a: str,
    b: str,
    options: tuple[str, ...],
    name: str | None,
    where: tuple[str, ...],
    limit: int | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Have a model compare, blind, what two judges reasoned about the items both have judged.

    It is asked in both orders (-o base_url=… -o model=…); a win counts only in both. Run it again to go on.
    """
    from workbench.services.running.duelling import duel_report, start_duel
    from workbench.services.running.study_text import duel_text

    with project_at(database) as project:
        chosen, selection = options_of(options), selection_of(where, limit)
        info = trusting(lambda yes: start_duel(project, a, b, chosen, name, selection, yes), trust)
        ended = follow(project, info, database)
        report = duel_report(project, info.run)
    if as_json:
        print_json(report)
    else:
        click.echo(duel_text(report), nl=False)
    if ended.state != "complete":
        say(ended.message or f"Run {ended.run} is {ended.state}.")
        say(f"  Go on with it: workbench runs {shlex.quote(database)} resume {ended.run}")
        sys.exit(1)
