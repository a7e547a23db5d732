"""A table of metrics with a cursor on one cell: row names stay visible, columns are never cut, colours follow the
theme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple, cast

from rich.cells import cell_len
from rich.style import Style
from textual import on
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.message import Message

from workbench.app.tui.keymap import Action, bindings
from workbench.app.tui.kit import table_messages as messages
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import TableColumn, TableRow
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.tables.document import Cell, Tone

_ACTIONS: Final = (
    Action("matrix.filter", "f", "filter", "Filter", "Show only rows that meet conditions, while you type."),
    Action("matrix.unfilter", "F", "unfilter", "Unfilter", "Remove the last condition.", False),
    Action("matrix.only", "=", "only", "Only", "Show only rows like this one in the column.", False),
)
MOVES: Final[list[BindingType]] = [
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
"""Keys of grids with a cursor on one cell."""
NAME: Final = "name"
"""The key of the row names, for sorting."""
_NAMES: Final = (14, 0.3)  # minimum cells of the row names, and the share of the width they may always take
_MAX_NAME: Final = 40  # maximum cells of the row names, so that the values stay near them
_STRENGTH: Final = 0.5  # share of the good or bad colour in the deepest tint
_TINT: Final = "tint "


class MatrixRow(NamedTuple):
    """One row; the cursor is attached to its key.

    Attributes:
        cells: Its cells, the name first.
        block: Rows of a lower block stay above the others however the rows are sorted.
    """

    key: str
    cells: tuple[Cell, ...]
    block: int = 0


class Matrix(VirtualTable, inherit_bindings=False):
    """A table of values with row names at the left, which the cursor can be on too.

    Attributes:
        columns: The columns of values.
    """

    class Moved(Message):
        """The cursor was moved to another cell, or its cell has changed."""

    CELL_CURSOR = True
    ACTIONS: ClassVar[tuple[Action, ...]] = _ACTIONS
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"virtual-table--{part}" for part in ("current", "good", "bad")}
    DEFAULT_CSS = """
    Matrix {
        overflow-x: hidden;
        overflow-y: auto;
        & > .virtual-table--current { background: $panel; color: $foreground; text-style: bold; }
        & > .virtual-table--good { background: $success; }
        & > .virtual-table--bad { background: $error; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*MOVES, *bindings(_ACTIONS)]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.column = 1
        self.columns: Sequence[TableColumn] = ()
        self._ids: dict[str, int] = {}
        self._every: dict[int, MatrixRow] = {}

    # -- what screens call -------------------------------------------------------------------------

    def name_column(self, title: str) -> TableColumn:
        """Return the column of the row names, as wide as there is room for."""
        least = min(max(_NAMES[0], int(_NAMES[1] * self.scrollable_size.width)), _MAX_NAME)
        return TableColumn(NAME, title, least, _MAX_NAME)

    def put(self, layout: Sequence[TableColumn], rows: Sequence[MatrixRow]) -> None:
        """Replace columns and rows; the cursor stays on its keys, or near its place.

        Args:
            layout: The column of names, then those of values; one without a width is as wide as its widest cell.
        """
        on_names, key = self.column == 0, self.column_key
        self.columns = layout[1:]
        self._every = {self._ids.setdefault(row.key, len(self._ids)): row for row in rows}
        self.selected_id = self.selected_id if self.selected_id in self._every else None
        self.column = 0 if on_names else self._place_of(key)
        found = [TableRow(row_id, row.cells, row.block) for row_id, row in self._every.items()]
        self.show_rows([_with_width(column, place, rows) for place, column in enumerate(layout)], found)
        self.post_message(self.Moved())

    @property
    def rows(self) -> list[MatrixRow]:
        """Return the rows that meet the conditions, in order."""
        return [self._every[row_id] for row_id in self._arranged_ids()] if self._every else []

    @property
    def row_key(self) -> str | None:
        """Return the key of the row under the cursor; None without rows."""
        keys = {self._ids[row.key]: row.key for row in self.rows}
        return keys.get(-1 if self.selected_id is None else self.selected_id)

    @property
    def column_key(self) -> str | None:
        """Return the key of the column under the cursor; of the first column if the cursor is on a row name."""
        place = max(self.column - 1, 0)
        return self.columns[place].key if place < len(self.columns) else None

    def move_to(self, row: str | None, column: str | None) -> None:
        """Put the cursor on a cell by keys; for a missing key, keep the position if possible."""
        if (row_id := self._ids.get(row or "")) in self._every and row_id is not None:
            self.jump_to_id(row_id)
        self._place_column(self._place_of(column))

    def _place_of(self, column: str | None) -> int:
        keys = [one.key for one in self.columns]
        return 1 + keys.index(column) if column in keys else max(1, min(self.column, len(keys)))

    @property
    def filter_hint(self) -> str:
        return f"{self.columns[0].title}<80 a-name" if self.columns else "a-name"

    # -- the cursor --------------------------------------------------------------------------------

    def action_move(self, rows: int, columns: int = 0) -> None:
        if rows:
            super().action_move(rows)
        if columns:
            self.action_sideways(columns)

    @on(messages.RowHighlighted)
    @on(messages.ColumnHighlighted)
    def _tell_moved(self, event: messages.TableMessage) -> None:
        event.stop()
        self.post_message(self.Moved())

    @on(messages.SelectionHidden)
    def _leave_hidden_row(self) -> None:
        self._move_to(self._line + self.scroll_offset.y)

    def _click_row(self, index: int, column: int | None) -> None:
        if column is not None and (index, column) != (self.cursor, self.column):
            self._move_to(index)
            self._place_column(column)
        elif column is not None:
            self.action_open()

    # -- drawing -----------------------------------------------------------------------------------

    def _style_of(self, part: str) -> Style:
        if part.startswith(_TINT) and part not in self._part_styles:
            self._part_styles[part] = self._tinted(float(part.removeprefix(_TINT)))
        return super()._style_of(part)

    def _tinted(self, tint: float) -> Style:
        """Return the style of a tinted cell; the text is black or white for contrast.

        Without tint if the theme uses the terminal's sixteen colours, which can't be mixed.
        """
        towards = self.get_component_styles(f"virtual-table--{'good' if tint > 0 else 'bad'}").background
        if towards.ansi is not None:
            return Style.null()
        ground: Color = self.background_colors[1].blend(towards, _STRENGTH * abs(tint))
        return Style.from_color(ground.get_contrast_text(1.0).rich_color, ground.rich_color)


def tint_tone(tint: float | None) -> Tone:
    """Return the tone, which only a matrix has, of a cell tinted from -1 (worst) to 1 (best); None for no colour."""
    return cast("Tone", "" if tint is None else f"{_TINT}{tint}")


def _with_width(one: TableColumn, place: int, rows: Sequence[MatrixRow]) -> TableColumn:
    if one.ideal_width:
        return one
    width = max(cell_len(printable(text)) for text in (one.title, *one.below, *(row.cells[place].text for row in rows)))
    return one._replace(min_width=width, ideal_width=width)
