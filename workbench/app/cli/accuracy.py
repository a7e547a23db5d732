"""``workbench accuracy DB``."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.breakdown import GROUPS
from workbench.core.options import Gold, Options, Protocol, Run, SeedNumber, TableFormat, Verifiers, Where, option
from workbench.core.project import Project
from workbench.measuring.refining import SAMPLES


class AccuracyOptions(Options, frozen=True, kw_only=True):
    verifiers: Verifiers = ()
    by: Annotated[
        str | None,
        option(
            f"Break down by one of {', '.join(GROUPS)} (reason: the verifier's own), or by several crossed; the row "
            "over all items is always there.",
            metavar="FIELD[,FIELD]",
        ),
    ] = None
    protocol: Protocol = "forced"
    gold: Gold = "final"
    run: Run = None
    where: Where = ()
    prevalence: Annotated[
        float | None,
        option(
            "Say also how accurate each would be where this share of completions is correct, and who is ahead where.",
            metavar="SHARE",
        ),
    ] = None
    accept_rate: Annotated[
        float | None,
        option(
            "Say also which share of completions is correct where a verifier accepts this share (Rogan and Gladen).",
            metavar="SHARE",
        ),
    ] = None
    bootstrap: Annotated[
        int | None,
        option(
            f"Add intervals of balanced accuracy and MCC, from so many draws of questions ({SAMPLES:,} if not said).",
            metavar="[SAMPLES]",
            ge=1,
            le=1_000_000,
            bare=SAMPLES,
        ),
    ] = None
    seed: Annotated[SeedNumber, option("Seed of the bootstrap.")] = 0
    sort: Annotated[
        Literal["name", "accuracy", "balanced_accuracy", "mcc", "fpr", "fnr", "coverage", "auroc"] | None,
        option("Order verifiers by name, or the best first by this figure of all items; baselines stay last."),
    ] = None
    format: TableFormat = "text"
    as_csv: Annotated[bool, option("The same as --format csv.", "--csv")] = False


@verb
def command(project: Project, options: AccuracyOptions) -> Output:
    """Show how accurate verifiers are, with intervals clustered by question.

    Accuracy alone misleads where most rows are incorrect: read it beside MCC, balanced accuracy, both error rates and
    the baselines, which need no run: always-incorrect, always-correct, and majority-by-type, which says of each type
    what is most frequent in the very gold it is measured on.

    A group has a delta, its accuracy less that of its type (subtypes) or of all items (other groups), a p-value of the
    permutation test by question against the rest, and a q-value over all cells of the table (Benjamini and Hochberg).
    Micro is the mean over items, macro the unweighted mean over groups.
    """
    from workbench.measuring.accuracy import accuracy
    from workbench.measuring.refining import refined
    from workbench.measuring.tables import accuracy_table, sorted_by

    selection = selection_of(options.where)
    report = accuracy(
        project,
        verifiers=options.verifiers,
        by=options.by,
        protocol=options.protocol,
        gold=options.gold,
        selection=selection,
        run=options.run,
        prevalence=options.prevalence,
        accept_rate=options.accept_rate,
    )
    if options.bootstrap is not None:
        report = refined(
            project, report, selection=selection, run=options.run, samples=options.bootstrap, seed=options.seed
        )
    if options.sort is not None:
        report = sorted_by(report, options.sort)
    return Output(report, lambda found: accuracy_table(found, "csv" if options.as_csv else options.format))
