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
    table_format_option,
    verifiers_option,
    where_option,
    whole_number,
)
from workbench.model.breakdown import GROUPS
from workbench.services.measuring.refining import SAMPLES


@click.command()
@database_argument
@verifiers_option
@click.option(
    "--by",
    metavar="FIELD[,FIELD]",
    help=f"Break down by one of {', '.join(GROUPS)} (reason: the verifier's own), or by several crossed; the row over "
    "all items is always there.",
)
@protocol_option
@gold_option
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@where_option
@click.option(
    "--prevalence",
    type=float,
    metavar="SHARE",
    help="Say also how accurate each would be where this share of completions is correct, and who is ahead where.",
)
@click.option(
    "--accept-rate",
    type=float,
    metavar="SHARE",
    help="Say also which share of completions is correct where a verifier accepts this share (Rogan and Gladen).",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(1, 1_000_000),
    is_flag=False,
    flag_value=SAMPLES,
    metavar="[SAMPLES]",
    help=f"Add intervals of balanced accuracy and MCC, from so many draws of questions ({SAMPLES:,} if not said).",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--sort",
    type=click.Choice(["name", "accuracy", "balanced_accuracy", "mcc", "fpr", "fnr", "coverage", "auroc"]),
    help="Order verifiers by name, or the best first by this figure of all items; baselines stay last.",
)
@table_format_option
@click.option("--csv", "as_csv", is_flag=True, help="The same as --format csv.")
@json_option
def command(
    database: str,
    verifiers: tuple[str, ...],
    by: str | None,
    protocol: Any,
    gold: Any,
    run: int | None,
    where: tuple[str, ...],
    prevalence: float | None,
    accept_rate: float | None,
    bootstrap: int | None,
    seed: int,
    sort: Any,
    format_: Any,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Show how accurate verifiers are, with intervals clustered by question.

    Accuracy alone misleads where most rows are incorrect: read it beside MCC, balanced accuracy, both error rates and
    the baselines, which need no run: always-incorrect, always-correct, and majority-by-type, which says of each type
    what is most frequent in the very gold it is measured on.

    A group has a delta, its accuracy less that of its type (subtypes) or of all items (other groups), a p-value of the
    permutation test by question against the rest, and a q-value over all cells of the table (Benjamini and Hochberg).
    Micro is the mean over items, macro the unweighted mean over groups.
    """
    from workbench.services.measuring.accuracy import accuracy
    from workbench.services.measuring.refining import refined
    from workbench.services.measuring.tables import accuracy_table, sorted_by

    selection = selection_of(where)
    with project_at(database) as project:
        report = accuracy(
            project,
            verifiers=verifiers,
            by=by,
            protocol=protocol,
            gold=gold,
            selection=selection,
            run=run,
            prevalence=prevalence,
            accept_rate=accept_rate,
        )
        if bootstrap is not None:
            report = refined(project, report, selection=selection, run=run, samples=bootstrap, seed=seed)
    if sort is not None:
        report = sorted_by(report, sort)
    if as_json:
        print_json(report)
    else:
        click.echo(accuracy_table(report, "csv" if as_csv else format_), nl=False)
