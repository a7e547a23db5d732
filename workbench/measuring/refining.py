"""An accuracy report with the intervals that take drawing questions anew."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.measuring.columns import Columns
from workbench.measuring.entries import AccuracyQuery, Entries, Entry
from workbench.statistics.records.comparison import Bootstrap
from workbench.statistics.records.report import AccuracyReport, AccuracyRow

SAMPLES: Final = 2_000
"""Draws of questions behind an interval."""

SEED: Final = 0


def refined(
    project: Project,
    report: AccuracyReport,
    *,
    selection: Selection | None = None,
    run: int | None = None,
    live: bool = False,
    samples: int = SAMPLES,
    seed: int = SEED,
    known: Columns | None = None,
) -> AccuracyReport:
    """The report with intervals of balanced accuracy and MCC for every row of a verifier.

    Its other figures stay as they are. A row whose items are not those it was counted from any more stays without.

    Args:
        selection: What the report was made with.
        run: What the report was made with.
        live: What the report was made with.
        known: What the report was made with.

    Raises:
        UsageError: A verifier of the report is not there any more.
    """
    names = tuple(dict.fromkeys(row.verifier for row in report.rows if row.kind == "verifier"))
    drawn = Bootstrap(samples=samples, seed=seed)
    rows = {(row.verifier, row.groups): row for row in report.rows}
    if names:
        asked = AccuracyQuery(
            verifiers=names if run is None else (),
            by=report.by,
            protocol=report.protocol,
            gold=report.gold_choice,
            selection=selection or Selection(),
            run=run,
            live=live,
        )
        entries = Entries(project, asked, known)
        for entry in entries.verifiers:
            own = [row for row in report.rows if row.verifier == entry.name]
            rows |= {(row.verifier, row.groups): row for row in _with_intervals(own, entries, entry, drawn)}
    return structs.replace(report, rows=[rows[row.verifier, row.groups] for row in report.rows], bootstrap=drawn)


def _with_intervals(rows: list[AccuracyRow], entries: Entries, entry: Entry, drawn: Bootstrap) -> list[AccuracyRow]:
    import numpy as np

    from workbench.statistics.metric_intervals import metric_intervals

    measured = entries.measured(entry)
    counted, right = measured.graded(entries.asked.protocol)
    columns = measured.columns
    place = {part: at for at, part in enumerate(columns.parts)}
    found = []
    for row in rows:
        mask = counted if row.group is None else counted & (columns.group == place.get(row.groups, -1))
        if int(np.count_nonzero(mask)) != row.n:
            found.append(row)
            continue
        ends = metric_intervals(
            right[mask], columns.gold[mask], columns.question[mask], samples=drawn.samples, seed=drawn.seed
        )
        found.append(structs.replace(row, balanced_accuracy_ci=ends.balanced_accuracy, mcc_ci=ends.mcc))
    return found
