"""A table of metrics with a cursor on one cell: row names stay visible, columns are never cut, colours follow the
theme.
"""

from __future__ import annotations

import re
import shlex
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from workbench.core.text.inert import inert

if TYPE_CHECKING:
    from workbench.tables.document import Cell

# -- Shared by tables with a cursor on one cell: the cursor moves, stays visible, and stays on its row and column keys.


class CellGrid(ScrollView, can_focus=True, inherit_bindings=False):
    """A grid of rows and columns; the row heads at the left stay visible, and the cursor can be on them.

    Attributes:
        row: The cursor's row, from 0.
        column: The cursor's column; -1 on the row head.
    """

    class Moved(Message):
        """The cursor was moved to another cell, or its cell has changed."""

    class Opened(Message):
        """The cell under the cursor was clicked."""

    class TitleClicked(Message):
        """A column title was clicked; the cursor has moved to its column."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"grid--header", "grid--current", "grid--cursor"}
    DEFAULT_CSS = """
    CellGrid {
        background: $surface;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size: 1 1;
        & > .grid--header { background: $panel; color: $foreground; text-style: bold; }
        & > .grid--current { background: $panel; color: $foreground; text-style: bold; }
        & > .grid--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: bold;
        }
        &:focus > .grid--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1, 0)", "Up", show=False, id="matrix.up"),
        Binding("down,j", "move(1, 0)", "Down", show=False, id="matrix.down"),
        Binding("left", "move(0, -1)", "Left", show=False, id="matrix.left"),
        Binding("right", "move(0, 1)", "Right", show=False, id="matrix.right"),
        Binding("pageup,ctrl+u", "move_page(-1)", "Page up", show=False, id="matrix.page-up"),
        Binding("pagedown,ctrl+d", "move_page(1)", "Page down", show=False, id="matrix.page-down"),
        Binding("home", "move(0, -100000)", "First column", show=False, id="matrix.first"),
        Binding("end", "move(0, 100000)", "Last column", show=False, id="matrix.last"),
        Binding("ctrl+home", "move(-100000, 0)", "First row", show=False, id="matrix.top"),
        Binding("ctrl+end", "move(100000, 0)", "Last row", show=False, id="matrix.bottom"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row = self.column = 0
        self.rows: Sequence[Any] = ()
        self._first = 0  # column in sight
        self._styles_of: dict[str, Style] = {}

    # -- what a grid has ---------------------------------------------------------------------------

    @property
    def row_keys(self) -> list[Any]:
        """Return the keys of the rows; the cursor stays on its row's key when rows change."""
        return [row.key for row in self.rows]

    @property
    @abstractmethod
    def column_keys(self) -> Sequence[Any]:
        """Return the keys of the columns, from the left; None for one without a key."""

    @property
    def row_key(self) -> Any:
        """Return the key of the row under the cursor; None without rows."""
        return self.rows[self.row].key if self.row < len(self.rows) else None

    @property
    def column_key(self) -> Any:
        """Return the key of the column under the cursor; of the first column if the cursor is on a row head."""
        keys, place = self.column_keys, max(self.column, 0)
        return keys[place] if place < len(keys) else None

    @property
    @abstractmethod
    def header_height(self) -> int:
        """Return the number of lines above the rows."""

    @abstractmethod
    def columns_in_sight(self) -> Sequence[int]:
        """Return the indexes of the visible columns; a column is shown in full or not at all."""

    @abstractmethod
    def column_at(self, x: int) -> int | None:
        """Return the index of the column at horizontal cell `x`, -1 for the row head; None right of the last column."""

    # -- what grids and screens call ---------------------------------------------------------------

    def restore_cursor(self, row: object, column: object, *, on_names: bool) -> None:
        """Put the cursor back on its row and column keys after both were replaced, or near its former position.

        Args:
            row: The key of the row that the cursor was on.
            column: The key of the column that it was on.
            on_names: Whether it was on the row head.
        """
        size = Size(1, self.header_height + len(self.row_keys))
        if size != self.virtual_size:
            self.virtual_size = size
            self.refresh(layout=True)
        self.move_to(row, column)
        if on_names:
            self._place(self.row, -1)
        self.refresh()

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

    # -- the cursor --------------------------------------------------------------------------------

    def _place(self, row: int, column: int) -> None:
        self.row = min(max(row, 0), max(len(self.row_keys) - 1, 0))
        self.column = min(max(column, -1), len(self.column_keys) - 1)
        self._bring_into_sight()
        self.refresh()
        self.post_message(self.Moved())

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
            self.post_message(self.TitleClicked())
        elif (row, column) == (self.row, self.column):
            self.post_message(self.Opened())
        else:
            self._place(row, column)

    def on_mouse_scroll_right(self) -> None:
        if self._first + len(self.columns_in_sight()) < len(self.column_keys):
            self._first += 1
            self.refresh()

    def on_mouse_scroll_left(self) -> None:
        self._first = max(0, self._first - 1)
        self.refresh()


# -- Text made safe for a line of terminal cells: in one line, and of an exact width.


Align = Literal["left", "right"]
MAX_CELL: Final = 500
"""Maximum characters of a cell; longer cells are cut before they are measured."""
_LINE_END = re.compile("\r\n|[\n\u2028\u2029]")
_SHAPING = re.compile("[\u200c\u200d\ufe00-\ufe0f]")  # joiners and variation selectors


def printable(text: str) -> str:
    """Return the text in one line, in characters that each take 0, 1 or 2 cells regardless of their neighbours.

    Line ends become ``↵`` and tabs a space; control and invisible characters are replaced as by
    `inert`. Joiners and variation selectors are left out: terminals disagree about their widths.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SHAPING.sub("", inert(_LINE_END.sub("↵", text).replace("\t", " ")))


def shell_word(word: str) -> str:
    """Return a file's or a person's name quoted for the shell, in one line, for a command that is shown."""
    return printable(shlex.quote(word))


def fit(text: str, width: int, align: Align = "left") -> str:
    """Cut the text with ``…`` or pad it to exactly `width` cells."""
    if width <= 0:
        return ""
    shown = printable(text[:MAX_CELL])
    size = cell_len(shown)
    if size > width or len(text) > MAX_CELL:
        return set_cell_size(set_cell_size(shown, min(size, width - 1)) + "…", width)
    padding = " " * (width - size)
    return padding + shown if align == "right" else shown + padding


def _is_plain_name(text: str) -> bool:
    return " " not in text and text.isascii() and text.isprintable()


def fit_cell(text: str, width: int, align: Align = "left") -> str:
    """Fit a cell as `fit` does, but cut a path in its middle, since paths begin alike and differ at their ends."""
    if len(text) > width > 2 and align == "left" and "/" in text and _is_plain_name(text):
        last = width // 2
        return f"{text[: width - 1 - last]}…{text[-last:]}"
    return fit(text, width, align)


_HEADER = 2  # lines: titles, and the line below them
_GAP = 1  # before each column
_NAMES: Final = (14, 0.3)  # minimum cells of the row names, and the share of the width they may always take
_MAX_NAME: Final = 40  # maximum cells of the row names, so that the values stay near them
_STRENGTH: Final = 0.5  # share of the good or bad colour in the deepest tint
_GLYPH: Final = 0.65  # of a glyph, on the way from the ground to the text


class MatrixCell(NamedTuple):
    """One value.

    Attributes:
        glyph: Symbol before the text that shows the tint where there are no colours.
        tint: Colour from -1 (worst) to 1 (best); None for no colour.
        asked: The cell that conditions match; None if they match `text`.
    """

    text: str
    glyph: str = ""
    tint: float | None = None
    asked: Cell | None = None


class MatrixColumn(NamedTuple):
    key: str | None
    title: str
    below: str = ""


class MatrixRow(NamedTuple):
    """One row; the cursor is attached to its key.

    Attributes:
        mark: Symbols before the name.
        name: The row's name, cut if it is too long.
        after: Text after the name, never cut.
    """

    key: str
    mark: str
    name: str
    after: str
    cells: tuple[MatrixCell, ...]


class Matrix(CellGrid):
    """A grid of values with row names at the left, which the cursor can be on too."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"grid--name", "grid--glyph", "grid--good", "grid--bad"}
    DEFAULT_CSS = """
    Matrix {
        & > .grid--name { text-style: bold; }
        & > .grid--glyph { color: $text-muted; }
        & > .grid--good { background: $success; }
        & > .grid--bad { background: $error; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: Sequence[MatrixRow] = ()
        self.columns: Sequence[MatrixColumn] = ()
        self._corner = ""
        self._widths: list[int] = []
        self._tints: dict[float, tuple[Style, Style]] = {}

    # -- what screens call -------------------------------------------------------------------------

    def put(self, corner: str, columns: Sequence[MatrixColumn], rows: Sequence[MatrixRow]) -> None:
        row, column, on_names = self.row_key, self.column_key, self.column < 0
        self._corner, self.columns, self.rows = corner, columns, rows
        self._widths = [
            _GAP + max(map(cell_len, (head.title, head.below, *(_cell_text(row.cells[place]) for row in rows))))
            for place, head in enumerate(columns)
        ]
        self.restore_cursor(row, column, on_names=on_names)

    @property
    def column_keys(self) -> list[str | None]:
        return [column.key for column in self.columns]

    @property
    def header_height(self) -> int:
        return _HEADER

    # -- drawing -----------------------------------------------------------------------------------

    @property
    def _name_width(self) -> int:
        width = self.scrollable_size.width
        wanted = max((cell_len(row.mark + printable(row.name) + row.after) for row in self.rows), default=0) + 1
        granted = max(_NAMES[0], int(width * _NAMES[1]), width - sum(self._widths) - 1)
        return max(0, min(max(wanted, cell_len(self._corner) + 1), granted, width, _MAX_NAME))

    def columns_in_sight(self) -> list[int]:
        room = self.scrollable_size.width - self._name_width - 1
        shown: list[int] = []
        for place in range(self._first, len(self.columns)):
            room -= self._widths[place]
            if room < 0 and shown:
                break
            shown.append(place)
        return shown

    def column_at(self, x: int) -> int | None:
        edge = self._name_width
        if x < edge:
            return -1
        for place in self.columns_in_sight():
            edge += self._widths[place]
            if x < edge:
                return place
        return None

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._tints.clear()

    @property
    def _plain_styles(self) -> tuple[Style, Style]:
        return self.style_of(""), self.style_of("glyph")

    def _tinted(self, tint: float) -> tuple[Style, Style]:
        """Return the styles of a tinted cell and of its glyph; the text is black or white for contrast.

        Without tint if the theme uses the terminal's sixteen colours, which can't be mixed.
        """
        if tint not in self._tints:
            towards = self.get_component_styles("grid--good" if tint > 0 else "grid--bad").background
            if towards.ansi is not None:
                return self._plain_styles
            ground: Color = self.background_colors[1].blend(towards, _STRENGTH * abs(tint))
            text = ground.get_contrast_text(1.0)
            self._tints[tint] = (
                Style.from_color(text.rich_color, ground.rich_color),
                Style.from_color(ground.blend(text, _GLYPH).rich_color, ground.rich_color),
            )
        return self._tints[tint]

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_size.width
        row = y - _HEADER + self.scroll_offset.y
        if y < _HEADER:
            strip = self._header_line(below=y == 1)
        elif row < len(self.rows):
            strip = self._row_line(row)
        else:
            return Strip.blank(width, self.style_of(""))
        return strip.adjust_cell_length(width, self.style_of("header" if y < _HEADER else ""))

    def _header_line(self, *, below: bool) -> Strip:
        shown = self.columns_in_sight()
        before = "‹" if self._first and not below else ""
        text = fit("" if below else f" {self._corner}", self._name_width - len(before)) + before
        for place in shown:
            head = self.columns[place]
            text += fit(head.below if below else head.title, self._widths[place], "right")
        more = "›" if not below and shown and shown[-1] + 1 < len(self.columns) else ""
        return Strip([Segment(text + more, self.style_of("header"))])

    def _row_line(self, number: int) -> Strip:
        row = self.rows[number]
        here = number == self.row
        segments = [Segment(self._row_name(row), self.style_of(self._name_style_part(here)))]
        for place in self.columns_in_sight():
            cell, width = row.cells[place], self._widths[place] - _GAP
            if here and place == self.column:
                segments.append(Segment("›" + fit(_cell_text(cell), width, "right"), self.style_of("cursor")))
                continue
            room = " " * max(0, width - cell_len(_cell_text(cell)))
            ground, glyph = self._plain_styles if cell.tint is None else self._tinted(cell.tint)
            segments += (
                Segment(" " * _GAP, self.style_of("")),
                Segment(room, ground),
                Segment(cell.glyph, glyph),
                Segment(cell.text, ground),
            )
        return Strip(segments)

    def _name_style_part(self, here: bool) -> str:
        return "name" if not here else "cursor" if self.column < 0 else "current"

    def _row_name(self, row: MatrixRow) -> str:
        after = f" {row.after}" if row.after else ""
        width = self._name_width
        return fit(fit(row.mark + printable(row.name), width - cell_len(after)) + after, width)


def _cell_text(cell: MatrixCell) -> str:
    return cell.glyph + cell.text
