"""An accuracy report laid out: which rows in which order, which columns, and what stands in each cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from msgspec import Struct

from workbench.model.report import AccuracyReport, AccuracyRow, AverageRow
from workbench.render.bars import NONE, compact_count
from workbench.render.heat import GLYPHS
from workbench.tui.widgets.accuracy_figures import Figure
from workbench.tui.widgets.accuracy_view import (
    BASELINE_MARK,
    PIN,
    SELECTION_JUDGE,
    STAR,
    group_title,
    is_baseline,
    is_significant,
)
from workbench.tui.widgets.cells import fit
from workbench.tui.widgets.matrix import MatrixCell, MatrixColumn, MatrixRow

_TITLE_WIDTHS = {True: 20, False: 12}


class SheetOrder(Struct, frozen=True, kw_only=True):
    """How verifiers are sorted.

    Attributes:
        by_name: By their names; else by the figure shown, in one group.
        group: That group; None for all items.
    """

    by_name: bool = False
    group: str | None = None
    descending: bool = True


class AccuracySheet:
    """A report with its rows at hand.

    Attributes:
        verifiers: Their names in the report's order.
        groups: The groups in the report's order; None, for all items, comes first.
    """

    def __init__(self, report: AccuracyReport) -> None:
        self.report = report
        self._rows = {(row.verifier, row.group): row for row in report.rows}
        self._averages = {row.verifier: row for row in report.averages}
        self.verifiers = list(dict.fromkeys(row.verifier for row in report.rows))
        self.groups: list[str | None] = list(dict.fromkeys(row.group for row in report.rows))

    def row(self, verifier: str | None, group: str | None) -> AccuracyRow | None:
        """The row of a verifier on a group; None where the report has none."""
        return None if verifier is None else self._rows.get((verifier, group))

    def average(self, verifier: str) -> AverageRow | None:
        """Micro and macro average of a verifier."""
        return self._averages.get(verifier)

    def progress(self, verifier: str) -> str:
        """How much of a run on its way is judged: ``"62 %"``; empty for a complete one."""
        share = self.report.unfinished.get(verifier)
        return "" if share is None else f"{int(100 * share)} %"

    def mark(self, verifier: str, pinned: Collection[str] = ()) -> str:
        """Two symbols before a name: pinned or not, and what kind of row it is."""
        row = self._rows[verifier, None]
        kind = BASELINE_MARK if is_baseline(row) else SELECTION_JUDGE if row.selection_judge else " "
        return (PIN if verifier in pinned else " ") + kind

    # -- order -------------------------------------------------------------------------------------

    def ordered(self, order: SheetOrder | None, figure: Figure, pinned: Mapping[str, None]) -> list[str]:
        """The verifiers, pinned ones first in the order they were pinned, the others sorted; no figure comes last."""
        rest = [name for name in self.verifiers if name not in pinned]
        if order is not None and order.by_name:
            rest.sort(key=str.casefold, reverse=order.descending)
        elif order is not None and order.group in self.groups:
            rest.sort(key=lambda name: self._place(name, order, figure))
        return [name for name in pinned if name in self.verifiers] + rest

    def _place(self, verifier: str, order: SheetOrder, figure: Figure) -> tuple[bool, float]:
        row = self.row(verifier, order.group)
        value = None if row is None else figure.of(row)
        if value is None:
            return True, 0.0
        return False, -value if order.descending else value

    # -- the matrix --------------------------------------------------------------------------------

    def columns(self, order: SheetOrder | None, *, wide: bool) -> list[MatrixColumn]:
        """One column a group; below its title the number of items most verifiers have there."""
        return [
            MatrixColumn(
                group,
                self._title(group, order, wide),
                "" if (n := self._usual(group)) is None else f"n {compact_count(n)}",
            )
            for group in self.groups
        ]

    def corner(self, order: SheetOrder | None) -> str:
        """The title above the names."""
        return "verifier" + (_arrow(order) if order is not None and order.by_name else "")

    def _title(self, group: str | None, order: SheetOrder | None, wide: bool) -> str:
        title = fit(group_title(group, self.report.by, wide), _TITLE_WIDTHS[wide]).rstrip()
        sorted_by = order is not None and not order.by_name and order.group == group
        return title + (_arrow(order) if sorted_by else "")

    def _usual(self, group: str | None) -> int | None:
        counts = Counter(row.n for name in self.verifiers if (row := self.row(name, group)) is not None)
        return counts.most_common(1)[0][0] if counts else None

    def rows(self, names: Collection[str], figure: Figure, pinned: Collection[str]) -> list[MatrixRow]:
        """One row a verifier, in this order."""
        usual = [(group, self._usual(group), self._is_starred(group, figure)) for group in self.groups]
        return [
            MatrixRow(
                name,
                self.mark(name, pinned),
                name,
                self.progress(name),
                tuple(self._cell(self.row(name, group), figure, n, starred=starred) for group, n, starred in usual),
            )
            for name in names
        ]

    def _is_starred(self, group: str | None, figure: Figure) -> bool:
        """Whether a column needs room for stars."""
        rows = (self.row(name, group) for name in self.verifiers)
        return figure.tested and any(row is not None and is_significant(row) for row in rows)

    def _cell(self, row: AccuracyRow | None, figure: Figure, usual: int | None, *, starred: bool) -> MatrixCell:
        if row is None or not row.n:
            return MatrixCell(NONE)
        star = "" if not starred else STAR if is_significant(row) else " "
        other = "" if row.n == usual or figure.rising is None else f"({compact_count(row.n)})"
        step = figure.step(row)
        glyph = "" if step is None else GLYPHS[step]
        return MatrixCell(figure.text(figure.of(row)) + star + other, glyph, figure.tint(row))


def _arrow(order: SheetOrder | None) -> str:
    return "" if order is None else "▼" if order.descending else "▲"
