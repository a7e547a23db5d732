"""What several sections share: order of verifiers, cells, names of groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from workbench.core.text.figures import NONE
from workbench.core.text.heat import shade
from workbench.core.text.marks import CHOSE
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.document import Cell, Group, Intervals, Plot
from workbench.tables.figures import percentage
from workbench.tables.table import Column, Record, column

_SHORT_NAME = 20

CONSTANT = "always-incorrect"
"""The baseline that accepts nothing; whether it has a run or not."""

CONSTANTS = (CONSTANT, "always-correct")
"""Baselines that say the same of every item."""


def ranked(contents: Contents) -> list[AccuracyRow]:
    """The rows of all items: verifiers by accuracy, the best first, then baselines."""
    rows = [row for row in contents.overall.rows if row.group is None]
    return sorted(rows, key=lambda row: (is_baseline(row), row.accuracy is None, -(row.accuracy or 0.0)))


def own(contents: Contents) -> list[AccuracyRow]:
    """The same without baselines."""
    return [row for row in ranked(contents) if not is_baseline(row)]


def is_baseline(row: AccuracyRow) -> bool:
    """Whether it looks at no completion."""
    return row.kind == "baseline" or row.verifier == CONSTANT


def best_constant(rows: Iterable[AccuracyRow], group: str | None = None) -> AccuracyRow | None:
    """What the better of two verdicts gives that are the same for all items; of equals "incorrect"."""
    found = [row for row in rows if row.verifier in CONSTANTS and row.group == group and row.accuracy is not None]
    return max(found, key=lambda row: (row.accuracy or 0.0, row.verifier == CONSTANT), default=None)


def verifier_name(row: AccuracyRow) -> str:
    """Its name, marked where it helped to choose the data."""
    return f"{row.verifier} {CHOSE}" if row.selection_judge else row.verifier


def selected_by_note(rows: Iterable[AccuracyRow]) -> tuple[str, ...]:
    """What the mark means, where it stands."""
    if not any(row.selection_judge for row in rows):
        return ()
    return (f"{CHOSE} It helped to choose the items, so they are harder for it than for others.",)


def plots(title: str, drawn: Sequence[Plot], *, folded: bool = False) -> Group:
    """Plots side by side, or one below the other where long names need the room."""
    longest = max(
        (len(point.label) for plot in drawn if isinstance(plot, Intervals) for point in plot.points), default=0
    )
    layout: Literal["grid", "column"] = "grid" if longest <= _SHORT_NAME else "column"
    return Group(title=title, blocks=tuple(drawn), folded=folded, layout=layout)


def interval(ci: tuple[float, float] | None) -> str:
    """A 95 % interval in per cent."""
    return NONE if ci is None else f"{percentage(ci[0])}–{percentage(ci[1])}"


def decimal(value: float | None, digits: int = 3) -> str:
    """A figure that is no share, such as a correlation."""
    return NONE if value is None else f"{value:.{digits}f}".replace("-", "−")


def share(heading: str, value: Callable[[Record], float | None], *, there: bool = True) -> Column[Record]:
    """A column of shares in per cent."""
    return column(heading, value, percentage, there=there)


def decimals(heading: str, value: Callable[[Record], float | None], *, there: bool = True) -> Column[Record]:
    """A column of figures that are no shares."""
    return column(heading, value, decimal, there=there)


class ColourScale:
    """The colours of one table: from its least to its greatest accuracy.

    Attributes:
        note: What the colours stand for.
    """

    def __init__(self, rows: Sequence[AccuracyRow]) -> None:
        shares = [row.accuracy for row in rows if row.accuracy is not None and not is_baseline(row)]
        self._low, self._high = min(shares, default=0.0), max(shares, default=1.0)
        self.note = f"Colours run from {percentage(self._low)} to {percentage(self._high)}; baselines have none."

    def cell(self, row: AccuracyRow | None, small: str = "") -> Cell:
        """A row's accuracy on its colour."""
        if row is None or row.accuracy is None:
            return Cell(NONE)
        coloured = self._low < self._high and not is_baseline(row)
        step = shade(row.accuracy, self._low, self._high) if coloured else None
        return Cell(percentage(row.accuracy), step, small)

    @staticmethod
    def plain(share: float | None) -> Cell:
        """A share without a colour."""
        return Cell(percentage(share))


def by_cell(report: AccuracyReport) -> dict[tuple[str, str | None], AccuracyRow]:
    """Verifier and group -> the row."""
    return {(row.verifier, row.group): row for row in report.rows}


def sizes(report: AccuracyReport) -> dict[str | None, int]:
    """Group -> how many of its items count for the verifier that has most; in the order of the report."""
    found: dict[str | None, int] = {}
    for row in report.rows:
        found[row.group] = max(found.get(row.group, 0), row.n)
    return found
