"""The columns and rows of a table."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import Final, NamedTuple, Protocol, TypeVar

from msgspec import structs
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from workbench.app.tui.kit.cells import MAX_CELL, Align, fit, fit_cell, printable
from workbench.core.text.excerpt import abbreviate_ids
from workbench.tables.document import Cell, Table, Tone
from workbench.tables.table import Column, Columns, Worst

Record = TypeVar("Record")

OUTCOME_MARKS: Final[dict[str, tuple[str, Tone]]] = {
    "correct": ("✓", "success"),
    "incorrect": ("✗", "error"),
    "abstain": ("?", "warning"),
    "error": ("!", "warning"),
    "none": ("–", "dim"),
}
"""Symbol and style of each verdict and gold value."""


def verdict_cell(word: str) -> Cell:
    mark, style = OUTCOME_MARKS[word]
    return Cell(f"{mark} {word}", style, whole=word)


class TableRow(NamedTuple):
    """One row; selections refer to its id.

    Attributes:
        block: Rows of a lower block stay above the others however the table is sorted, such as a total row.
    """

    id: int
    cells: tuple[Cell, ...]
    block: int = 0


class TableColumn(NamedTuple):
    """A column and its possible widths, in cells.

    Attributes:
        min_width: Minimum width, as long as other columns can still be made narrower.
        ideal_width: Width beyond which the column grows only if space is left over.
        worst: Whether low or high values are bad; the first sort puts the bad ones on top.
        below: Further lines of the heading; none in most tables.
    """

    key: str
    title: str
    min_width: int = 4
    ideal_width: int = 24
    align: Align = "left"
    worst: Worst = "low"
    below: tuple[str, ...] = ()


class Sort(NamedTuple):
    """The column that rows are sorted by, and the direction."""

    column: str
    descending: bool = False

    def turned(self) -> Sort:
        return Sort(self.column, not self.descending)


def worst_first(column: TableColumn) -> Sort:
    return Sort(column.key, column.worst == "high")


def next_sort(column: TableColumn, present: Sort | None) -> Sort | None:
    """Return the next order of a column: worst first, then reversed, then unsorted."""
    first = worst_first(column)
    return first.turned() if present == first else None if present == first.turned() else first


class RowSource(Protocol):
    """Rows under one filter and one order. Every method is called in a thread.

    Attributes:
        queried: Whether sorting needs a new query, which the screen makes; otherwise the table sorts the rows itself.
    """

    queried: bool

    @property
    def columns(self) -> Sequence[TableColumn]:
        """Return the columns in order; the first one stays in sight when the table scrolls sideways."""

    def ids(self) -> array[int]:
        """Return the ids of all rows in order (``array('q')``); may be slow."""

    def first_page(self, limit: int) -> list[TableRow]:
        """Return rows in the order that is fastest to read; they are shown until the ids are known."""

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """Return the rows with these ids, in this order; ids that no longer exist are left out."""


def table_columns(columns: Columns[Record]) -> tuple[TableColumn, ...]:
    return tuple(_table_column(one) for one in columns if one.there)


def _table_column(one: Column[Record]) -> TableColumn:
    least, ideal = one.room if isinstance(one.room, tuple) else (one.room, one.room)
    return TableColumn(one.key or one.heading, one.heading, least, ideal, "left" if one.words else "right", one.worst)


def rows_of(
    columns: Columns[Record], records: Iterable[tuple[int, Record]], block: Callable[[Record], int] = lambda _: 0
) -> list[TableRow]:
    there = [one for one in columns if one.there]
    rows = [TableRow(row_id, tuple(one.cell(record) for one in there), block(record)) for row_id, record in records]
    for place in (place for place, one in enumerate(there) if one.ids):
        rows = _shorten_ids(rows, place)
    return rows


def _shorten_ids(rows: Sequence[TableRow], place: int) -> list[TableRow]:
    short = abbreviate_ids([row.cells[place].text for row in rows])

    def shorten(at: int, cell: Cell) -> Cell:
        return structs.replace(cell, text=short[cell.text], whole=cell.text) if at == place else cell

    return [row._replace(cells=tuple(starmap(shorten, enumerate(row.cells)))) for row in rows]


_UNCUT_CELLS: Final = 24
"""Maximum width, in cells, of a text column that is never truncated."""


def rows_of_table(found: Table) -> tuple[tuple[TableColumn, ...], list[TableRow]]:
    """Return a table of a document as columns and rows, which keep their order; a row's id is its position."""
    rows = []
    for place, row in enumerate(found.rows):
        bold = [structs.replace(cell, tone=cell.tone or "bold") for cell in row.cells]
        rows.append(TableRow(place, tuple(bold) if row.kind == "total" else row.cells))
    columns = (_sheet_column(found, place, printable(title), rows) for place, title in enumerate(found.titles))
    return tuple(columns), rows


def _sheet_column(found: Table, place: int, title: str, rows: Sequence[TableRow]) -> TableColumn:
    width = max(
        cell_len(title), *natural_widths([TableColumn(title, "")], [TableRow(0, (row.cells[place],)) for row in rows])
    )
    key = f"{place} {title}"
    if place < found.left:
        return TableColumn(key, title, min(width, _UNCUT_CELLS), width)
    return TableColumn(key, title, width, width, "right")


def natural_widths(columns: Sequence[TableColumn], rows: Iterable[TableRow]) -> list[int]:
    """Return each column's width in cells that shows its title (with a sort mark, unless it is one or two cells wide)
    and all its values in full.
    """
    marks = (0 if column.title and column.ideal_width < 3 else 2 for column in columns)
    widths = [
        max(cell_len(column.title) + mark, *map(cell_len, column.below), 0)
        for column, mark in zip(columns, marks, strict=True)
    ]
    for row in rows:
        for index, cell in enumerate(row.cells):
            small = cell_len(cell.small) + 1 if cell.small else 0
            widths[index] = max(widths[index], cell_len(printable(cell.text[:MAX_CELL])) + small)
    return widths


def fit_widths(columns: Sequence[TableColumn], natural: Sequence[int], available: int) -> list[int]:
    """Distribute `available` cells among the columns.

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


class Layout:
    """A person's changes to a table's columns, by column key.

    Attributes:
        hidden: Hidden columns.
        widths: Widths in cells of resized columns.
    """

    def __init__(self) -> None:
        self.hidden: set[str] = set()
        self.widths: dict[str, int] = {}


# -- Rows to strips: widths, styles, the frozen first column and sideways scrolling.


_CURSOR = "›"
_MARGIN = 1  # the cursor mark
_HERE = Style(reverse=True)  # the title of the column under the cursor
_CELL = Style(underline=True)  # the cell under the cursor


class RowPainter:
    """Draws the lines of a table for one set of columns.

    Args:
        columns: All columns.
        style_of: Returns the Rich style of a part ("row", "cursor", "header", "gone" or a cell style).
        layout: Which columns are drawn, and their widths.
        cells: Whether the cursor marks only a cell, and the name of its row; otherwise it marks the whole row.
        gap: Cells between columns; after the first one there is always one.

    Attributes:
        lines_below: Number of further lines of the heading.
        shown: Indexes of the drawn columns. The methods' column numbers are indexes into this list.
        widths: Widths of the drawn columns, in cells.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn],
        style_of: Callable[[str], Style],
        layout: Layout,
        *,
        cells: bool = False,
        gap: int = 1,
    ) -> None:
        self.columns = tuple(columns)
        self.lines_below = max((len(column.below) for column in columns), default=0)
        self._cells, self._gap = cells, gap
        self._style_of = style_of
        self._layout = layout
        self._natural = natural_widths(columns, ())
        self.widths: list[int] = []
        self.shown: list[int] = []
        self._available = 0
        self._frozen = 0
        self.total_width = 0

    def sample(self, rows: Sequence[TableRow]) -> None:
        """Let columns grow to fit these rows; they never shrink, so that nothing jumps."""
        natural = natural_widths(self.columns, rows)
        self._natural = [max(pair) for pair in zip(self._natural, natural, strict=True)]
        self.resize(self._available)

    def resize(self, available: int) -> None:
        self._available = available
        hidden, asked = self._layout.hidden, self._layout.widths
        self.shown = [place for place, one in enumerate(self.columns) if one.key not in hidden] or [0]
        columns = [self.columns[place] for place in self.shown]
        gaps = _MARGIN + 1 + self._gap * (len(columns) - 1)
        found = fit_widths(columns, [self._natural[place] for place in self.shown], available - gaps)
        self.widths = [asked.get(column.key, width) for column, width in zip(columns, found, strict=True)]
        most = min(available // 2, self._natural[0]) if self._cells else available // 2
        self.widths[0] = max(1, min(self.widths[0], most))
        self._frozen = _MARGIN + self.widths[0] + 1
        self.total_width = gaps + sum(self.widths)

    def _begin_of(self, column: int) -> int:
        """Return the first cell of a column, or of what follows the last one."""
        return self._frozen + sum(self.widths[1:column]) + self._gap * (column - 1) if column else _MARGIN

    def column_at(self, x: int, scroll_x: int) -> int | None:
        place = x if x < self._frozen else x + scroll_x
        return next((number for number in range(len(self.widths)) if place < self._begin_of(number + 1)), None)

    def scrolled_to(self, column: int, scroll_x: int) -> int:
        if not column:
            return scroll_x
        begin, end = self._begin_of(column), self._begin_of(column + 1)
        return max(0, min(max(scroll_x, end - self._available), begin - self._frozen))

    def header(self, sort: Sort | None, sorting: bool, scroll_x: int, here: int | None = None) -> Strip:
        """Return the header line; a column being sorted is marked ``…`` until its order is known.

        Args:
            here: The column under the cursor.
        """
        cells = []
        for place, width in zip(self.shown, self.widths, strict=True):
            column = self.columns[place]
            title = column.title
            if sort is not None and sort.column == column.key:
                mark = "…" if sorting else "▼" if sort.descending else "▲"
                title = title + " " + mark if cell_len(title) + 2 <= width else set_cell_size(title, width - 1) + mark
            cells.append(Cell(title))
        return self._line(cells, "header", " ", scroll_x, here)

    def below(self, number: int, scroll_x: int, here: int | None = None) -> Strip:
        """Return a further line of the heading, counted from 0."""
        lines = (self.columns[place].below[number : number + 1] for place in self.shown)
        return self._line([Cell("".join(line)) for line in lines], "header", " ", scroll_x, here)

    def row(self, row: TableRow, *, cursor: bool, scroll_x: int, here: int | None = None) -> Strip:
        """Return the line of a row; a row without cells no longer exists.

        Args:
            here: The column under the cursor, in the row under the cursor.
        """
        if not row.cells:
            return self.note(f"#{row.id} is gone", cursor=cursor)
        cells = [row.cells[place] for place in self.shown]
        part = "cursor" if cursor and not self._cells else "row"
        return self._line(cells, part, _CURSOR if cursor else " ", scroll_x, here)

    def note(self, text: str, *, cursor: bool = False) -> Strip:
        style = self._style_of("cursor" if cursor else "dim")
        mark = _CURSOR if cursor else " "
        return Strip([Segment(fit(mark + text, self._available), style)], self._available)

    def _line(self, cells: Sequence[Cell], part: str, mark: str, scroll_x: int, here: int | None) -> Strip:
        base, edge = self._style_of(part), "│" if scroll_x else " "
        segments: list[Segment] = []
        plain = mark  # text in the base style that waits for its segment: few segments draw fast
        begin = _MARGIN
        for number, (cell, place, width) in enumerate(zip(cells, self.shown, self.widths, strict=True)):
            align = self.columns[place].align
            text = _fit_whole(cell, width, align)
            if number and align == "right":
                # A number that is cut is another number.
                if begin + width > self._available + scroll_x:
                    text = "…".ljust(width)
                elif begin < self._frozen + scroll_x:
                    text = "…".rjust(width)
            begin += width + (self._gap if number else 1)
            if number == here:
                own = self._style_of("cursor") if self._cells and part == "row" else base
                segments += (Segment(plain, base), Segment(text, own + (_HERE if part == "header" else _CELL)))
                plain = ""
            elif not number and self._cells and here is not None and part == "row":
                segments += (Segment(plain, base), Segment(text, base + self._style_of("current")))
                plain = ""
            elif part == "row" and cell.tone:
                segments += (Segment(plain, base), Segment(text, base + self._style_of(cell.tone)))
                plain = ""
            else:
                plain += text
            plain += " " * self._gap if number else edge
        segments.append(Segment(plain, base))
        strip = Strip(segments, self.total_width)
        room = self._available - self._frozen
        if scroll_x:
            parts = (strip.crop(0, self._frozen), strip.crop(self._frozen + scroll_x, self._frozen + scroll_x + room))
            strip = Strip.join(parts)
        return strip.adjust_cell_length(self._available, base)


def _fit_whole(cell: Cell, width: int, align: Align) -> str:
    """Fit a cell to a width; its small print is not cut."""
    if not cell.small:
        return fit_cell(cell.text, width, align)
    return fit(f"{fit_cell(cell.text, max(1, width - cell_len(cell.small) - 1), align)} {cell.small}", width)
