"""A pass matrix: next to each solution's name one coloured letter per test, one or two cells wide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar, Final, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.app.tui.kit.cells import Align, fit
from workbench.app.tui.kit.matrix_table import MOVES
from workbench.core.code import OUTCOMES
from workbench.core.text.figures import GLYPHS, NONE, shade
from workbench.tables.document import Cell

FORGEABLE: Final = "~"
"""Marks tests that are judged inside the sandbox."""

_ROUNDS: Final = "0123456789+"
"""Characters for the rounds of an evolution, by round; later ones share the last."""

_WIDE_CELLS: Final = 2  # cells a test, where all tests have room for them
_EDGE: Final = " "
_NAMES_SHARE: Final = 0.5  # maximum share of the width for the row heads
_MIN_NAME: Final = 8  # cells to which names are shortened if all tests are then visible
_MIN_SHORT_NAME: Final = 4


class PassHead(NamedTuple):
    """The title of a column left of the letters; the first one may be cut."""

    title: str
    align: Align = "left"


class PassTest(NamedTuple):
    """One test as a column.

    Attributes:
        position: The test's index in the suite, from 0; the cursor stays on it when columns change.
        rate: Share of solutions that pass the test; None if it was not run.
        forgeable: Whether the test is judged inside the sandbox, where a solution could forge a pass.
        round: The round of an evolution that added it.
    """

    position: int
    rate: float | None
    forgeable: bool = False
    round: int | None = None


class GridRow(NamedTuple):
    """One solution, or a cluster of equal ones.

    Attributes:
        key: The row id of the (first) solution; the cursor stays on it when rows change.
        lead: Cells left of the letters.
        letters: One letter per test: its outcome.
    """

    key: int
    lead: tuple[Cell, ...]
    letters: str


_PARTS: Final = ("header", "current", "cursor", "current-test", "success", "error", "warning", "accent", "dim", "bold")


class PassGrid(ScrollView, can_focus=True, inherit_bindings=False):
    """A grid of solutions and tests; above the tests are their numbers, written vertically, and their pass rates.

    The row heads at the left stay visible, and the cursor can be on them; it stays on its solution and test.

    Attributes:
        row: The cursor's row, from 0.
        column: The cursor's column; -1 on the row head.
    """

    class CellMoved(Message):
        """The cursor was moved to another cell, or its cell has changed."""

    class CellOpened(Message):
        """The cell under the cursor was clicked."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"grid--{part}" for part in (*_PARTS, *OUTCOMES)}
    DEFAULT_CSS = """
    PassGrid {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 1 1;
        & > .grid--header { background: $panel; color: $foreground; text-style: bold; }
        & > .grid--current { background: $panel; color: $foreground; text-style: bold; }
        & > .grid--cursor, & > .grid--current-test {
            background: $block-cursor-blurred-background; color: $block-cursor-blurred-foreground; text-style: bold;
        }
        &:focus > .grid--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
        & > .grid--cursor, &:focus > .grid--cursor { text-style: bold underline; }
        & > .grid--success { color: $text-success; }
        & > .grid--error { color: $text-error; text-style: bold; }
        & > .grid--warning { color: $text-warning; }
        & > .grid--accent { color: $text-accent; }
        & > .grid--dim { color: $text-muted; }
        & > .grid--bold { text-style: bold; }
        & > .grid--p { background: $success-muted; color: $text-success; }
        & > .grid--f { background: $error-muted; color: $text-error; text-style: bold; }
        & > .grid--e { background: $warning-muted; color: $text-warning; text-style: bold; }
        & > .grid--t { background: $accent-muted; color: $text-accent; text-style: bold; }
        & > .grid--s { background: $secondary-muted; color: $text-secondary; text-style: bold italic; }
        & > .grid--x { background: $error; color: $background; text-style: bold; }
        & > .grid--n { color: $text-muted; }
        & > .grid--b { color: $text-muted; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = MOVES

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row = self.column = 0
        self._first = 0  # column in sight
        self._styles_of: dict[str, Style] = {}
        self.rows: Sequence[GridRow] = ()
        self.tests: Sequence[PassTest] = ()
        self._heads: Sequence[PassHead] = ()
        self._widths: list[int] = []
        self._extra: list[str] = []

    def put(self, heads: Sequence[PassHead], tests: Sequence[PassTest], rows: Sequence[GridRow]) -> None:
        row, column, on_names = self.row_key, self.column_key, self.column < 0
        self._heads, self.tests, self.rows = heads, tests, rows
        self._extra = _extra_lines(tests)
        self._widths = [
            max(cell_len(head.title), *(cell_len(one.lead[place].text) for one in rows), 1)
            for place, head in enumerate(heads)
        ]
        size = Size(1, self.header_height + len(rows))
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh(layout=True)
        self.move_to(row, column)
        if on_names:
            self._place(self.row, -1)
        self.refresh()

    @property
    def column_keys(self) -> list[int]:
        return [test.position for test in self.tests]

    @property
    def row_keys(self) -> list[int]:
        return [row.key for row in self.rows]

    @property
    def row_key(self) -> int | None:
        """Return the key of the row under the cursor; None without rows."""
        return self.rows[self.row].key if self.row < len(self.rows) else None

    @property
    def column_key(self) -> int | None:
        """Return the position of the test under the cursor; of the first one if the cursor is on a row head."""
        keys, place = self.column_keys, max(self.column, 0)
        return keys[place] if place < len(keys) else None

    # -- measures ----------------------------------------------------------------------------------

    @property
    def _digit_count(self) -> int:
        return len(str(len(self.tests)))

    @property
    def header_height(self) -> int:
        return self._digit_count + len(self._extra) + 1

    @property
    def _lead_widths(self) -> list[int]:
        if not self._widths:
            return []
        wanted, *rest = self._widths
        width, taken = self.scrollable_size.width, sum(rest) + len(self._widths) + 1
        left = width - taken - len(self.tests) - len(_EDGE)
        most = left if left >= _MIN_NAME else int(width * _NAMES_SHARE) - taken
        return [max(min(wanted, most), _MIN_SHORT_NAME), *rest]

    @property
    def _lead_width(self) -> int:
        widths = self._lead_widths
        return sum(widths) + len(widths) + 1

    @property
    def _cells_per_test(self) -> int:
        return _WIDE_CELLS if len(self.tests) * _WIDE_CELLS <= self._letters_width else 1

    @property
    def _letters_width(self) -> int:
        return max(0, self.scrollable_size.width - self._lead_width - len(_EDGE))

    def columns_in_sight(self) -> range:
        return range(
            self._first, min(len(self.tests), self._first + max(1, self._letters_width // self._cells_per_test))
        )

    def column_at(self, x: int) -> int | None:
        """Return the test at a cell of a line, -1 for the row head."""
        if x < self._lead_width:
            return -1
        place = self._first + (x - self._lead_width) // self._cells_per_test
        return place if place in self.columns_in_sight() else None

    # -- drawing -----------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width, row = self.scrollable_size.width, y - self.header_height + self.scroll_offset.y
        if y < self.header_height:
            return Strip(self._header_line(y)).adjust_cell_length(width, self.style_of("header"))
        segments = self._row_line(row) if row < len(self.rows) else []
        return Strip(segments).adjust_cell_length(width, self.style_of(""))

    def _header_line(self, y: int) -> list[Segment]:
        last = self.header_height - 1
        shown = self.columns_in_sight()
        if y == last:
            lead = fit(" pass rate", self._lead_width)
        elif y == self._digit_count - 1:
            lead = " " + "".join(
                fit(head.title, width, head.align) + " "
                for head, width in zip(self._heads, self._lead_widths, strict=True)
            )
        else:
            below = y - self._digit_count
            lead = fit(f" {self._extra[below]}" if below >= 0 else "", self._lead_width)
        if y == 0 and self._first:
            lead = lead[:-1] + "‹"
        segments, pitch = [Segment(lead, self.style_of("header"))], self._cells_per_test
        for place in shown:
            part = "current-test" if place == self.column else "header"
            segments.append(Segment(self._header_character(self.tests[place], y).ljust(pitch), self.style_of(part)))
        if y == 0 and shown and shown[-1] + 1 < len(self.tests):
            segments.append(Segment("›", self.style_of("header")))
        return segments

    def _header_character(self, test: PassTest, y: int) -> str:
        if y < self._digit_count:
            return str(test.position + 1).rjust(self._digit_count)[y]
        if y < self.header_height - 1:
            if self._extra[y - self._digit_count] == "round":
                return "?" if test.round is None else _ROUNDS[min(test.round, len(_ROUNDS) - 1)]
            return FORGEABLE if test.forgeable else " "
        return NONE if test.rate is None else GLYPHS[shade(test.rate, 0, 1)]

    def _row_line(self, number: int) -> list[Segment]:
        row, here = self.rows[number], number == self.row
        base = "" if not here else "cursor" if self.column < 0 else "current"
        segments = [Segment("›" if here else " ", self.style_of(base))]
        for cell, head, width in zip(row.lead, self._heads, self._lead_widths, strict=True):
            part = cell.tone if cell.tone and not here else base
            segments.append(Segment(fit(cell.text, width, head.align), self.style_of(part)))
            segments.append(Segment(" ", self.style_of(base)))
        pitch, shown = self._cells_per_test, self.columns_in_sight()
        cursor = self.column if here else -1
        for letter, places in groupby(shown, key=lambda place: "" if place == cursor else row.letters[place]):
            if letter:
                text = "".join(letter.ljust(pitch) for _ in places)
                segments.append(Segment(text, self.style_of(letter)))
            else:
                segments.append(Segment(row.letters[cursor].ljust(pitch), self.style_of("cursor")))
        return segments

    # -- the cursor --------------------------------------------------------------------------------

    def move_to(self, row: object, column: object) -> None:
        """Put the cursor on a cell by keys; for a missing key, keep the position if possible."""
        rows, columns = self.row_keys, self.column_keys
        self._place(
            rows.index(row) if row in rows else self.row,
            columns.index(column) if column in columns else min(max(self.column, 0), len(columns) - 1),
        )

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles_of.clear()

    def style_of(self, part: str) -> Style:
        """Return the style of a part of the grid, such as "header"; "" is the widget's own style."""
        if part not in self._styles_of:
            self._styles_of[part] = self.get_component_rich_style(f"grid--{part}") if part else self.rich_style
        return self._styles_of[part]

    def _place(self, row: int, column: int) -> None:
        self.row = min(max(row, 0), max(len(self.row_keys) - 1, 0))
        self.column = min(max(column, -1), len(self.column_keys) - 1)
        self._bring_into_sight()
        self.refresh()
        self.post_message(self.CellMoved())

    @property
    def _page_height(self) -> int:
        return max(1, self.scrollable_size.height - self.header_height)

    def _bring_into_sight(self) -> None:
        top, height = self.scroll_offset.y, self._page_height
        if not top <= self.row < top + height:
            self.scroll_to(y=self.row if self.row < top else self.row - height + 1, animate=False, force=True)
        if self.column < self._first:
            self._first = max(self.column, 0)
        while self._first < self.column and self.column not in self.columns_in_sight():
            self._first += 1
        self._fill_width()

    def _fill_width(self) -> None:
        last = len(self.column_keys) - 1
        while self._first and last in self.columns_in_sight():
            self._first -= 1
            if last not in self.columns_in_sight():
                self._first += 1
                return

    def action_move(self, rows: int, columns: int) -> None:
        self._place(self.row + rows, self.column + columns)

    def action_move_page(self, pages: int) -> None:
        self._place(self.row + pages * self._page_height, self.column)

    def on_resize(self) -> None:
        self._bring_into_sight()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        place = event.get_content_offset(self)
        if place is None:
            return
        column = self.column_at(place.x)
        row = place.y - self.header_height + self.scroll_offset.y
        if column is None or row >= len(self.row_keys):
            return
        if place.y < self.header_height:
            self._place(self.row, column)
        elif (row, column) == (self.row, self.column):
            self.post_message(self.CellOpened())
        else:
            self._place(row, column)

    def on_mouse_scroll_right(self) -> None:
        if self._first + len(self.columns_in_sight()) < len(self.column_keys):
            self._first += 1
            self.refresh()

    def on_mouse_scroll_left(self) -> None:
        self._first = max(0, self._first - 1)
        self.refresh()


def _extra_lines(tests: Sequence[PassTest]) -> list[str]:
    marked = len({test.forgeable for test in tests}) == 2
    rounds = any(test.round is not None for test in tests)
    return [*(["forgeable"] if marked else []), *(["round"] if rounds else [])]
