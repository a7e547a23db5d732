"""``workbench best-of DB``."""

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
    verifiers_option,
    where_option,
)
from workbench.errors import UsageError


def _sizes(_context: click.Context, _parameter: click.Parameter, text: str | None) -> tuple[int, ...]:
    """The numbers of ``--n 1,2,4``."""
    from workbench.services.measuring.selecting import read_sizes

    if text is None:
        return ()
    try:
        return read_sizes(text)
    except UsageError as error:
        raise click.BadParameter(error.message) from None


@click.command()
@database_argument
@verifiers_option
@click.option(
    "--n", "sizes", callback=_sizes, metavar="N[,N…]", help="Completions to pick from; 1, 2, 4, 8 … by default."
)
@protocol_option
@gold_option
@where_option
@json_option
def command(
    database: str,
    verifiers: tuple[str, ...],
    sizes: tuple[int, ...],
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let verifiers pick one of n completions: how often is it correct?

    By score where a verifier gives scores, else by verdict, beside a random pick and the best one possible (pass@n).
    Only questions with at least n completions count, each alike; --protocol says what becomes of undecided verdicts.
    """
    from workbench.services.measuring.selecting import best_of
    from workbench.services.measuring.selecting_text import best_of_text

    with project_at(database) as project:
        report = best_of(project, verifiers, sizes=sizes, protocol=protocol, gold=gold, selection=selection_of(where))
    if as_json:
        print_json(report)
    else:
        click.echo(best_of_text(report), nl=False)
