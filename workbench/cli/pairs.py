"""``workbench pairs DB VERIFIER``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    selection_of,
    where_option,
)


@click.command()
@database_argument
@click.argument("verifier", metavar="VERIFIER")
@click.option(
    "--by",
    type=click.Choice(["type", "subtype", "domain", "source", "dataset"]),
    help="Break down by this; the row over all pairs is always there.",
)
@gold_option
@where_option
@json_option
def command(database: str, verifier: str, by: str | None, gold: Any, where: tuple[str, ...], as_json: bool) -> None:
    """Show how often a verifier scores a question's correct completion above its incorrect one.

    It needs questions with exactly one correct and one incorrect completion; a tie is wrong.
    """
    from workbench.services.measuring.pairing import pairs, pairs_text

    with project_at(database) as project:
        report = pairs(project, verifier, by=by, gold=gold, selection=selection_of(where))
    if as_json:
        print_json(report)
    else:
        click.echo(pairs_text(report), nl=False)
