"""``workbench ensemble DB``."""

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
@click.option(
    "--verifier", "verifiers", multiple=True, metavar="NAME", help="A member (repeatable); all that have run if none."
)
@click.option("--k", type=whole_number, metavar="K", help="Only this number of acceptances instead of every one.")
@click.option("--weighted", is_flag=True, help="Weigh votes by what they have been worth, too (logistic regression).")
@click.option("--folds", type=click.IntRange(2, 1_000), default=5, show_default=True, help="Parts of the questions.")
@click.option("--by", metavar="FIELD[,FIELD]", help="Break down, as in: workbench accuracy.")
@protocol_option
@gold_option
@where_option
@json_option
def command(
    database: str,
    verifiers: tuple[str, ...],
    k: int | None,
    weighted: bool,
    folds: int,
    by: str | None,
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let verifiers vote: accept where k of n do, or where weighted votes say so.

    Each ensemble is compared with the best single verifier. What is best is chosen, and weights are fitted, on four
    fifths of the questions and judged on the rest, in turn (--folds), for the single verifier too. Abstaining and
    failing are no votes: a rule abstains where the votes that are missing could still turn it.
    """
    from workbench.services.measuring.combining import ensemble
    from workbench.services.measuring.combining_text import ensemble_text

    with project_at(database) as project:
        report = ensemble(
            project,
            verifiers,
            k=k,
            weighted=weighted,
            folds=folds,
            by=by,
            protocol=protocol,
            gold=gold,
            selection=selection_of(where),
        )
    if as_json:
        print_json(report)
    else:
        click.echo(ensemble_text(report), nl=False)
