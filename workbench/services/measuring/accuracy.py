"""The headline: verifiers by group, in a named protocol, against a named gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from workbench.errors import UsageError
from workbench.model.report import NO_REASON, AccuracyReport
from workbench.model.selection import Selection
from workbench.model.study import JUDGES_NOTHING
from workbench.model.verdict import GoldChoice, Outcome, Protocol3
from workbench.services.project import Project
from workbench.store import browsing, figures
from workbench.store.selection import check_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from workbench.analysis.accuracy import AccuracyColumns
    from workbench.analysis.arrays import IntArray

BASELINE = "always-incorrect"
"""The row that stands in every table: what a verifier that accepts nothing would score."""


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
    chosen = _runs(project, verifiers, run)
    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    columns = figures.gold_columns(reader, wanted, None if by == "reason" else by, gold)
    judges: list[tuple[int | None, str]] = list(chosen.items())
    if BASELINE not in chosen.values():
        judges.append((None, BASELINE))
    rows = []
    for number, name in judges:
        rows += accuracy_rows(name, _columns(project, columns, number, by), protocol)
    return AccuracyReport(
        protocol=protocol, gold=figures.gold_counts(reader, wanted), gold_choice=gold, by=by, rows=rows
    )


def _runs(project: Project, verifiers: tuple[str, ...], run: int | None) -> dict[int, str]:
    reader = project.database.reader()
    if run is not None:
        name = figures.verifier_of_run(reader, run)
        if verifiers and name not in verifiers:
            raise UsageError(f"Run {run} is of {name!r}, not of {', '.join(verifiers)}.")
        return {run: name}
    complete = browsing.newest_runs(reader, without=() if verifiers else JUDGES_NOTHING)
    unknown = set(verifiers) - set(complete.values()) - {BASELINE}
    if unknown:
        known = ", ".join(sorted(complete.values())) or "none yet"
        raise UsageError(
            f"No complete run of {', '.join(sorted(unknown))}.",
            f"Complete: {known}. Start one: workbench verify DB NAME",
        )
    return {number: name for number, name in complete.items() if not verifiers or name in verifiers}


def complete_run(project: Project, verifier: str) -> int | None:
    """The newest run of a verifier that has been complete; None for the baseline, which needs none.

    Raises:
        UsageError: The verifier has no complete run.
    """
    (number,) = _runs(project, (verifier,), None) or (None,)
    return number


def outcome_column(project: Project, gold: figures.GoldColumns, run: int | None) -> IntArray:
    """A run's outcomes in the order of the gold columns, -1 where it has none; the baseline's for no run."""
    import numpy as np

    from workbench.analysis.arrays import align

    items = np.asarray(gold.item, dtype=np.int64)
    if run is None:
        return np.full(len(items), Outcome.INCORRECT, dtype=np.int8)
    return align(items, *figures.outcomes(project.database.reader(), run), missing=np.int8(-1))


def _columns(project: Project, gold: figures.GoldColumns, run: int | None, by: str | None) -> AccuracyColumns:
    """A run's verdicts beside the gold columns; the baseline's for no run."""
    import numpy as np

    from workbench.analysis.accuracy import AccuracyColumns
    from workbench.analysis.arrays import align

    reader = project.database.reader()
    items = np.asarray(gold.item, dtype=np.int64)
    scored, scores = ((), ()) if run is None else figures.scores(reader, run)
    columns = AccuracyColumns(
        outcome=outcome_column(project, gold, run),
        gold=np.asarray(gold.gold, dtype=np.int8),
        question=np.asarray(gold.question, dtype=np.int64),
        group=np.asarray(gold.group, dtype=np.int32) if by else None,
        names=tuple(gold.names) if by else (),
        score=align(items, scored, scores, missing=np.float64(np.nan)) if len(scored) else None,
    )
    if by != "reason":
        return columns
    reasons = (items, np.zeros_like(items), [NO_REASON]) if run is None else figures.reasons(reader, run)
    return _by_reason(columns, items, *reasons)


def _by_reason(
    columns: AccuracyColumns, items: IntArray, judged: ArrayLike, place: ArrayLike, names: list[str]
) -> AccuracyColumns:
    """Only the judged items, grouped by their verdicts' reasons."""
    import numpy as np

    from workbench.analysis.arrays import align

    kept = columns.outcome >= 0
    return structs.replace(
        columns,
        outcome=columns.outcome[kept],
        gold=columns.gold[kept],
        question=columns.question[kept],
        group=align(items[kept], judged, place, missing=np.int32(0)),
        names=tuple(names),
        score=None if columns.score is None else columns.score[kept],
    )
