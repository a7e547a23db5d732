"""``workbench accuracy DB``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    selection_of,
    where_option,
    whole_number,
)


@click.command()
@database_argument
@click.option("--verifier", "verifiers", multiple=True, metavar="NAME", help="Only these (repeatable).")
@click.option(
    "--by",
    type=click.Choice(["type", "subtype", "domain", "source", "model", "dataset", "reason"]),
    help="Break down by this (reason: the verifier's own); the row over all items is always there.",
)
@protocol_option
@gold_option
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@where_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@json_option
def command(
    database: str,
    verifiers: tuple[str, ...],
    by: str | None,
    protocol: Any,
    gold: Any,
    run: int | None,
    where: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
) -> None:
    """Show how accurate verifiers are, with intervals clustered by question.

    Accuracy alone misleads where most rows are incorrect: read it beside MCC, balanced accuracy, the
    false-positive and false-negative rates and the row of always-incorrect.
    """
    from workbench.services.measuring.accuracy import accuracy
    from workbench.services.measuring.tables import accuracy_csv, accuracy_text

    with project_at(database) as project:
        report = accuracy(
            project,
            verifiers=verifiers,
            by=by,
            protocol=protocol,
            gold=gold,
            selection=selection_of(where),
            run=run,
        )
    if as_json:
        print_json(report)
    elif as_csv:
        click.echo(accuracy_csv(report), nl=False)
    else:
        click.echo(accuracy_text(report), nl=False)
