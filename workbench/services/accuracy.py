"""The headline: verifiers by group, in a named protocol, against a named gold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.model.report import AccuracyReport
from workbench.model.selection import Selection
from workbench.model.verdict import GoldChoice, Protocol3
from workbench.services.project import Project
from workbench.store import browsing, figures
from workbench.store.selection import check_names

if TYPE_CHECKING:
    from workbench.analysis.accuracy import AccuracyColumns

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
        verifiers: Names; empty for all that have a complete run.
        by: One of ``figures.GROUPS``, or None for the row over all items only.
        run: Exactly this run.

    Raises:
        UsageError: An unknown verifier, run or group.
    """
    from workbench.analysis.accuracy import accuracy_rows, baseline_columns

    if by is not None and by not in figures.GROUPS:
        raise UsageError(f"Accuracy can't be broken down by {by!r}.", f"Use one of: {', '.join(figures.GROUPS)}.")
    chosen = _runs(project, verifiers, run)
    reader = project.database.reader()
    wanted = check_names(reader, selection or Selection())
    columns = figures.gold_columns(reader, wanted, by, gold)
    rows = []
    for number, name in chosen.items():
        rows += accuracy_rows(name, _columns(columns, *figures.outcomes(reader, number), by), protocol)
    if BASELINE not in chosen.values():
        everything = _columns(columns, columns.item, columns.gold, by)
        rows += accuracy_rows(BASELINE, baseline_columns(everything)[BASELINE], protocol)
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
    complete = browsing.newest_runs(reader)
    unknown = set(verifiers) - set(complete.values()) - {BASELINE}
    if unknown:
        known = ", ".join(sorted(complete.values())) or "none yet"
        raise UsageError(
            f"No complete run of {', '.join(sorted(unknown))}.",
            f"Complete: {known}. Start one: workbench verify DB NAME",
        )
    return {number: name for number, name in complete.items() if not verifiers or name in verifiers}


def _columns(gold: figures.GoldColumns, items: object, outcomes: object, by: str | None) -> AccuracyColumns:
    """Verdicts aligned with the gold columns (-1 where an item has no verdict)."""
    import numpy as np

    from workbench.analysis.accuracy import AccuracyColumns

    item = np.asarray(gold.item, dtype=np.int64)
    judged = np.asarray(items, dtype=np.int64)
    outcome = np.full(len(item), -1, dtype=np.int8)
    if len(judged) and len(item):
        place = np.minimum(np.searchsorted(judged, item), len(judged) - 1)
        found = judged[place] == item
        outcome[found] = np.asarray(outcomes, dtype=np.int8)[place[found]]
    return AccuracyColumns(
        outcome=outcome,
        gold=np.asarray(gold.gold, dtype=np.int8),
        question=np.asarray(gold.question, dtype=np.int64),
        group=np.asarray(gold.group, dtype=np.int32) if by else None,
        names=tuple(gold.names) if by else (),
    )
