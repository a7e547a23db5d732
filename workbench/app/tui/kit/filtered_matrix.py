"""A matrix whose rows can be filtered while typing and copied; the conditions are shown as chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual import events
from textual.binding import BindingType
from textual.strip import Strip

from workbench.app.tui.keymap import Action, bindings, key_of
from workbench.app.tui.kit.columns import TableColumn, TableRow
from workbench.app.tui.kit.conditions import (
    ColumnSuggester,
    chip_at,
    chips_line,
    condition_text,
    condition_value,
    read_line,
    row_filter,
)
from workbench.app.tui.kit.copies import ActingWidget, Copyable, row_copyables
from workbench.app.tui.kit.filter_line import FilterLine
from workbench.app.tui.kit.matrix import Matrix, MatrixCell, MatrixColumn, MatrixRow
from workbench.core.selection import Condition
from workbench.tables.document import Cell

_NAME: Final = "name"
"""The key of the row heads."""
_ARROWS: Final = " ▲▼"
_ACTIONS: Final = (
    Action("matrix.filter", "f", "filter", "Filter", "Show only rows that meet conditions, while you type."),
    Action("matrix.unfilter", "F", "unfilter", "Unfilter", "Remove the last condition.", False),
    Action("matrix.only", "equals_sign", "only", "Only", "Show only rows like this one in the column.", False),
)


class FilteredMatrix(Matrix, ActingWidget):
    """A matrix that shows only the rows that meet the conditions; the values of the rows don't change.

    Attributes:
        conditions: Conditions that rows must meet.
    """

    ACTIONS: ClassVar[tuple[Action, ...]] = _ACTIONS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(_ACTIONS)]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conditions: tuple[Condition, ...] = ()
        self._every: Sequence[MatrixRow] = ()

    def put(self, corner: str, columns: Sequence[MatrixColumn], rows: Sequence[MatrixRow]) -> None:
        """Replace columns and rows; conditions on columns that no longer exist are dropped."""
        self._corner, self.columns, self._every = corner, columns, rows
        asked = self._filter_columns
        there = {"", *(column.key for column in asked)}
        self.conditions = tuple(one for one in self.conditions if one.field in there)
        wanted = row_filter(self.conditions, asked)
        super().put(corner, columns, [row for row in rows if wanted(_filter_row(row))])

    @property
    def _filter_columns(self) -> list[TableColumn]:
        corner = self._corner.strip(_ARROWS)
        titles = ((head.key, head.title.strip(_ARROWS)) for head in self.columns)
        return [TableColumn(_NAME, corner), *(TableColumn(key or title, title) for key, title in titles)]

    def narrow(self, conditions: tuple[Condition, ...]) -> None:
        if conditions != self.conditions:
            self.conditions = conditions
            self.put(self._corner, self.columns, self._every)

    def action_filter(self) -> None:
        columns = self._filter_columns
        figures = f"{columns[1].title}<80 " if len(columns) > 1 else ""
        suggester = ColumnSuggester(columns, map(_filter_row, self._every))
        text = " ".join(map(condition_text, self.conditions))
        self.app.push_screen(FilterLine(text, self._filter_by_text, f"{figures}a-name", suggester))

    def _filter_by_text(self, text: str) -> None:
        self.narrow(read_line(text, self._filter_columns))

    def action_unfilter(self) -> None:
        self.narrow(self.conditions[:-1])

    def action_only(self) -> None:
        if self.row < len(self.rows):
            place = self.column + 1
            value = condition_value(_filter_row(self.rows[self.row]).cells[place])
            one = Condition(self._filter_columns[place].key, "=", value)
            self.narrow((*self.conditions, *([one] if one not in self.conditions else [])))

    def copies(self) -> Iterator[Copyable]:
        if self.row < len(self.rows):
            yield from row_copyables(self._filter_columns, _filter_row(self.rows[self.row]), self.column + 1)

    # -- chips -------------------------------------------------------------------------------------

    @property
    def header_height(self) -> int:
        return super().header_height + bool(self.conditions)

    def render_line(self, y: int) -> Strip:
        if not self.conditions:
            return super().render_line(y)
        if y:
            return super().render_line(y - 1)
        remark = f"{len(self.rows)} of {len(self._every)}  {key_of('matrix.unfilter')} removes the last"
        return chips_line(
            self.conditions, remark, self.scrollable_size.width, self.style_of("glyph"), self.style_of("header")
        )

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None or not self.conditions or place.y:
            return  # handled by `Matrix`
        event.prevent_default()
        if (chip := chip_at(self.conditions, place.x)) is not None:
            self.narrow((*self.conditions[:chip], *self.conditions[chip + 1 :]))


def _filter_row(row: MatrixRow) -> TableRow:
    return TableRow(0, (Cell(row.name, value=row.name), *map(_filter_cell, row.cells)))


def _filter_cell(cell: MatrixCell) -> Cell:
    return cell.asked or Cell(cell.text)
