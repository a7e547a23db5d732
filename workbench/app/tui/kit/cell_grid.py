"""What tables with a cursor on one cell share: moving it, keeping it in sight, and holding on to its keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView


class CellGrid(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows × columns; what stands at the left of the rows stays in sight and can hold the cursor too.

    Attributes:
        row: Where the cursor is, from 0.
        column: The same; -1 on what stands at the left.
    """

    class Moved(Message):
        """The cursor is on another cell, or that cell has become another."""

    class Opened(Message):
        """The cell under the cursor was clicked."""

    class TitleClicked(Message):
        """A title was clicked; the cursor is in its column now."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1, 0)", "Up", show=False, id="matrix.up"),
        Binding("down,j", "move(1, 0)", "Down", show=False, id="matrix.down"),
        Binding("left", "move(0, -1)", "Left", show=False, id="matrix.left"),
        Binding("right", "move(0, 1)", "Right", show=False, id="matrix.right"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="matrix.page-up"),
        Binding("pagedown", "move_page(1)", "Page down", show=False, id="matrix.page-down"),
        Binding("home", "move(0, -100000)", "First column", show=False, id="matrix.first"),
        Binding("end", "move(0, 100000)", "Last column", show=False, id="matrix.last"),
        Binding("ctrl+home", "move(-100000, 0)", "First row", show=False, id="matrix.top"),
        Binding("ctrl+end", "move(100000, 0)", "Last row", show=False, id="matrix.bottom"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.row = self.column = 0
        self._first = 0  # column in sight

    # -- what a grid has ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def row_keys(self) -> Sequence[object]:
        """What the cursor holds on to, a row."""

    @property
    @abstractmethod
    def column_keys(self) -> Sequence[object]:
        """The same, a column."""

    @property
    @abstractmethod
    def header_height(self) -> int:
        """Lines above the rows."""

    @abstractmethod
    def columns_in_sight(self) -> Sequence[int]:
        """The columns that are shown: whole ones from the first on."""

    @abstractmethod
    def column_at(self, x: int) -> int | None:
        """The column at a cell of a line, -1 for what stands at the left; None behind the last one."""

    # -- what grids and screens call ---------------------------------------------------------------

    def replaced(self, row: object, column: object, *, on_names: bool) -> None:
        """There are other rows and columns now: the cursor goes where its keys are, else stays near.

        Args:
            row: The key of the row it was on.
            column: The key of its column.
            on_names: It was at the left of the columns.
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
        """Put the cursor on a cell by keys; where a key isn't there, the place stays as far as it can."""
        rows, columns = self.row_keys, self.column_keys
        self._place(
            rows.index(row) if row in rows else self.row,
            columns.index(column) if column in columns else min(max(self.column, 0), len(columns) - 1),
        )

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

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor."""
        self._place(self.row + rows, self.column + columns)

    def action_move_page(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self._place(self.row + pages * self._page_height, self.column)

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        self._bring_into_sight()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move to a cell, open the one under the cursor, or say that a title was clicked."""
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
        """Show the next column at the right."""
        if self._first + len(self.columns_in_sight()) < len(self.column_keys):
            self._first += 1
            self.refresh()

    def on_mouse_scroll_left(self) -> None:
        """Show the column before."""
        self._first = max(0, self._first - 1)
        self.refresh()
