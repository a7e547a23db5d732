"""What a table shows and where its rows come from."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from rich.cells import cell_len

from workbench.app.tui.kit.cells import CLIP, Align, printable

CellStyle = Literal["", "success", "error", "warning", "accent", "dim", "bold"]
"""What a cell means; the theme decides how that looks."""


class TableCell(NamedTuple):
    """The text of one cell: plain data, never markup."""

    text: str
    style: CellStyle = ""


OUTCOME_MARKS: Final[dict[str, tuple[str, CellStyle]]] = {
    "correct": ("✓", "success"),
    "incorrect": ("✗", "error"),
    "abstain": ("?", "warning"),
    "error": ("!", "warning"),
    "none": ("–", "dim"),
}
"""Verdict or gold -> its symbol and style."""


def marked(word: str) -> TableCell:
    """A verdict or gold in symbol and word."""
    mark, style = OUTCOME_MARKS[word]
    return TableCell(f"{mark} {word}", style)


def symbol(word: str) -> TableCell:
    """A verdict or gold in its symbol only."""
    return TableCell(*OUTCOME_MARKS[word])


class TableRow(NamedTuple):
    """One row; the id is what selections hold on to."""

    id: int
    cells: tuple[TableCell, ...]


class TableColumn(NamedTuple):
    """A column and the widths it may take, in cells.

    Attributes:
        min_width: Narrowest width while other columns still have room to give.
        ideal_width: Widest width it asks for; more is given only where space is left over.
    """

    key: str
    title: str
    min_width: int = 4
    ideal_width: int = 24
    align: Align = "left"
    sortable: bool = True


class Sort(NamedTuple):
    """The column rows are ordered by."""

    column: str
    descending: bool = False


class RowSource(Protocol):
    """Rows under one filter and one order. Every method is called in a thread."""

    @property
    def columns(self) -> Sequence[TableColumn]:
        """The columns, in order; the first one stays in sight when the table scrolls sideways."""

    def count(self) -> int:
        """How many rows there are."""

    def ids(self) -> array[int]:
        """The ids of all rows in order (``array('q')``); may be slow."""

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in the quickest order there is, shown until the ids are known."""

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """The rows with these ids, in this order; ids that no longer exist are left out."""


def natural_widths(columns: Sequence[TableColumn], rows: Iterable[TableRow]) -> list[int]:
    """The width in cells that shows the title (with a sort mark) and every cell in full."""
    widths = [cell_len(column.title) + 2 for column in columns]
    for row in rows:
        for index, cell in enumerate(row.cells):
            widths[index] = max(widths[index], cell_len(printable(cell.text[:CLIP])))
    return widths


def fit_widths(columns: Sequence[TableColumn], natural: Sequence[int], available: int) -> list[int]:
    """Widths for `available` cells.

    Spare cells go to columns that would be cut, the rest to the last left-aligned one; missing cells
    are taken from the widest columns down to their minimum, but not from right-aligned ones: a number
    that is cut is another number. Where even that is too wide, the table scrolls sideways.
    """
    wanted = [
        max(column.min_width, min(column.ideal_width, width)) for column, width in zip(columns, natural, strict=True)
    ]
    spare = available - sum(wanted)
    if spare >= 0:
        for index, width in enumerate(natural):
            extra = min(spare, max(0, width - wanted[index]))
            wanted[index] += extra
            spare -= extra
        for index in reversed(range(len(columns))):
            if columns[index].align == "left":
                wanted[index] += spare
                break
        return wanted
    room = [
        0 if column.align == "right" else width - column.min_width
        for column, width in zip(columns, wanted, strict=True)
    ]
    for _ in range(min(-spare, sum(room))):
        widest = max(range(len(room)), key=room.__getitem__)
        room[widest] -= 1
        wanted[widest] -= 1
    return wanted
