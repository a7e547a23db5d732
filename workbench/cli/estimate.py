"""``workbench estimate DB VERIFIER``."""

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
)


@click.command()
@database_argument
@click.argument("verifier")
@click.option(
    "--predictor",
    "predictors",
    multiple=True,
    metavar="NAME",
    help="A verifier whose verdicts predict gold (repeatable); all others that have run if none.",
)
@click.option("--by", metavar="FIELD[,FIELD]", help="By group and stratified by it, as in: workbench accuracy.")
@protocol_option
@gold_option
@where_option
@json_option
def command(
    database: str,
    verifier: str,
    predictors: tuple[str, ...],
    by: str | None,
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Estimate a verifier's accuracy on all items it has judged when few of them have gold.

    What other verifiers say of all items is corrected by how far they are off on the labelled ones
    (prediction-powered inference). The estimate stands beside that from labels alone, with the number of labels it
    saves. Labelled items are taken for a random sample; --by gives each group's labels the weight of its items.
    """
    from workbench.services.measuring.estimating import estimate
    from workbench.services.measuring.estimating_text import estimate_text

    with project_at(database) as project:
        report = estimate(
            project, verifier, predictors, by=by, protocol=protocol, gold=gold, selection=selection_of(where)
        )
    if as_json:
        print_json(report)
    else:
        click.echo(estimate_text(report), nl=False)
