"""The headline: verifiers by group, in a named protocol, against a named gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.model.report import AccuracyReport
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice, Outcome, Protocol3
from workbench.services.measuring.columns import Columns, columns
from workbench.services.measuring.judged import BASELINE, Judge, judges_of
from workbench.services.project import Project
from workbench.store import figures
from workbench.store.selection import check_names

if TYPE_CHECKING:
    from workbench.analysis.accuracy import AccuracyColumns
    from workbench.analysis.arrays import BoolArray, IntArray


def accuracy(
    project: Project,
    *,
    verifiers: tuple[str, ...] = (),
    by: str | None = None,
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
    run: int | None = None,
) -> AccuracyReport:
    """Accuracy rows of the newest complete run of each verifier, or of one run.

    Args:
        verifiers: Names; empty for all that have a complete run and judge completions.
        by: One of ``figures.GROUPS``, or None for the row over all items only.
        run: Exactly this run.

    Raises:
        UsageError: An unknown verifier, run or group.
    """
    from workbench.analysis.accuracy import accuracy_rows

    if by is not None and by not in figures.GROUPS:
        raise UsageError(f"Accuracy can't be broken down by {by!r}.", f"Use one of: {', '.join(figures.GROUPS)}.")
    judges = judges_of(project, verifiers, run)
    if BASELINE not in {judge.name for judge in judges}:
        judges = (*judges, Judge(BASELINE, None))
    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    everything = columns(project)
    kept = everything.chosen(wanted)
    rows = []
    for judge in judges:
        rows += accuracy_rows(judge.name, _columns(everything, kept, judge.run, by, gold), protocol)
    return AccuracyReport(
        protocol=protocol, gold=figures.gold_counts(reader, wanted), gold_choice=gold, by=by, rows=rows
    )


def complete_run(project: Project, verifier: str) -> int | None:
    """The newest run of a verifier that has been complete; None for the baseline, which needs none.

    Raises:
        UsageError: The verifier has no complete run.
    """
    return judges_of(project, (verifier,))[0].run


def outcome_column(project: Project, gold: figures.GoldColumns, run: int | None) -> IntArray:
    """A run's outcomes in the order of the gold columns, -1 where it has none; the baseline's for no run."""
    import numpy as np

    from workbench.analysis.arrays import align

    items = np.asarray(gold.item, dtype=np.int64)
    if run is None:
        return np.full(len(items), Outcome.INCORRECT, dtype=np.int8)
    return align(items, *figures.outcomes(project.database.reader(), run), missing=np.int8(-1))


def _columns(
    everything: Columns, kept: BoolArray | None, run: int | None, by: str | None, gold: GoldChoice
) -> AccuracyColumns:
    """A run's verdicts beside gold; by reason only the judged items."""
    from workbench.analysis.accuracy import AccuracyColumns

    outcome, score = everything.outcome(run), everything.score(run)
    groups = everything.reasons(run) if by == "reason" else None if by is None else everything.groups(by)
    if by == "reason":
        kept = outcome >= 0 if kept is None else kept & (outcome >= 0)
    rows = slice(None) if kept is None else kept
    return AccuracyColumns(
        outcome=outcome[rows],
        gold=everything.gold(gold)[rows],
        question=everything.question[rows],
        group=None if groups is None else groups.code[rows],
        names=() if groups is None else groups.names,
        score=None if score is None else score[rows],
    )
