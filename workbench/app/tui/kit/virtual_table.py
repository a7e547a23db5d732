"""A table over more rows than fit in memory: it draws what is at hand and fetches the rest."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import ClassVar, Final

from rich.style import Style
from textual import events, on
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.reactive import reactive
from textual.strip import Strip

from workbench.app.tui.keymap import Action, bindings, key_names
from workbench.app.tui.kit import sources as messages
from workbench.app.tui.kit.arranging import ArrangedSource
from workbench.app.tui.kit.columns import (
    Record,
    RowPainter,
    RowSource,
    Sort,
    TableColumn,
    TableRow,
    laid_out,
    next_sort,
    rows_of,
    worst_first,
)
from workbench.app.tui.kit.copies import Copyable, of_row
from workbench.app.tui.kit.paged_view import PagedView
from workbench.app.tui.kit.segments import marked
from workbench.app.tui.kit.sources import PAGE, FixedSource, MemorySource
from workbench.core.text.excerpt import sought
from workbench.tables.table import Columns

_HEADER = 1  # lines


_ACTIONS: Final = (
    Action("table.sort", "s", "sort", "Sort", "Sort by the column under the cursor, worst first; again: turned round."),
    Action("table.reverse", "S", "reverse", "Reverse", "Turn the order round; unsorted: best first.", footer=False),
)


@cache
def _keys_of(actions: tuple[Action, ...]) -> frozenset[str]:
    return frozenset(key for one in actions for key in key_names(one.keys))


class VirtualTable(PagedView, can_focus=True, inherit_bindings=False):
    """Rows of a `RowSource` with a cursor, sort marks and a position.

    The selection is the id of a row: it survives sorting, filtering and new rows. Reading happens in
    threads; lines that are not here yet are drawn dim.

    Attributes:
        sort: The order shown in the header.
        cursor: The index of the row under the cursor; None while its row is not in the view.
        column: The place of the column under the cursor.
        ACTIONS: What can be done with any list; the keys work while it has the focus.
        position: Where the cursor is, for people: ``123,456 of 1,450,000``.
    """

    RowHighlighted = messages.RowHighlighted
    RowSelected = messages.RowSelected
    SortRequested = messages.SortRequested
    PositionChanged = messages.PositionChanged
    SelectionHidden = messages.SelectionHidden
    Failed = messages.Failed

    ALLOW_SELECT = False
    ACTIONS: ClassVar[tuple[Action, ...]] = _ACTIONS
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"virtual-table--{part}"
        for part in ("header", "cursor", "success", "error", "warning", "accent", "dim", "bold", "hit")
    }
    DEFAULT_CSS = """
    VirtualTable {
        height: 1fr;
        background: $surface;
        color: $foreground;
        overflow-x: auto;
        overflow-y: scroll;
        scrollbar-size: 1 1;
        & > .virtual-table--header {
            background: $panel; color: $foreground; text-style: bold;
        }
        & > .virtual-table--cursor {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
            text-style: bold;
        }
        &:focus > .virtual-table--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: bold;
        }
        & > .virtual-table--success { color: $text-success; }
        & > .virtual-table--error { color: $text-error; text-style: bold; }
        & > .virtual-table--warning { color: $text-warning; }
        & > .virtual-table--accent { color: $text-accent; }
        & > .virtual-table--dim { color: $text-muted; }
        & > .virtual-table--bold { text-style: bold; }
        & > .virtual-table--hit { background: $warning-muted; color: $text-warning; text-style: bold underline; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="table.page-up"),
        Binding("pagedown", "move_page(1)", "Page down", show=False, id="table.page-down"),
        Binding("home", "first", "First row", show=False, id="table.first"),
        Binding("end", "last", "Last row", show=False, id="table.last"),
        Binding("left", "sideways(-1)", "Column at the left", show=False, id="table.left"),
        Binding("right", "sideways(1)", "Column at the right", show=False, id="table.right"),
        Binding("enter", "open", "Open", show=False, id="table.open"),
        *bindings(_ACTIONS),
    ]

    position: reactive[str] = reactive("", repaint=False)

    def __init__(
        self,
        source: RowSource | None = None,
        *,
        sort: Sort | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(source, id=id, classes=classes)
        self.sort = sort
        self.cursor: int | None = None
        self.column = 0
        self._given = source
        self._painter: RowPainter | None = None
        self._strips: LRUCache[tuple[int, int | None, int], Strip] = LRUCache(1024)
        self._part_styles: dict[str, Style] = {}
        self._announced: int | None = None
        self._sought: re.Pattern[str] | None = None
        self._line = 0  # of the cursor, below the header, when it was last in sight

    # -- what screens call -------------------------------------------------------------------------

    @property
    def visible_ids(self) -> list[int]:
        """Ids of the rows in sight, from the top, as far as known."""
        cache = self._cache
        if cache is None:
            return []
        top = self.scroll_offset.y
        ids = (cache.id_at(index) for index in range(top, min(top + self._page_height, cache.count)))
        return [row_id for row_id in ids if row_id is not None]

    @property
    def source(self) -> RowSource | None:
        """Where the rows come from, before they are arranged; None until it has been given."""
        return self._given

    @property
    def order(self) -> Sequence[int]:
        """Ids of all rows in their order; while that is not known, those of the rows in sight."""
        if isinstance(self._source, FixedSource):
            return self._source.order
        return self.visible_ids if self._cache is None or self._cache.ids is None else self._cache.ids

    def set_source(self, source: RowSource, *, sort: Sort | None = None) -> None:
        """Show another view: its first page at once, all of it when its ids are known.

        The selected row stays selected. Old rows stay in sight until the first page is here. A person's own order
        stays as long as its column is there.

        Args:
            sort: How a source that is `queried` is sorted.
        """
        if not source.queried:
            mine = self.sort if self._given is None or not self._given.queried else None
            sort = mine if mine and any(column.key == mine.column for column in source.columns) else None
        self._given, self.sort = source, sort
        self._show_arranged()

    def _show_arranged(self) -> None:
        given = self._given
        assert given is not None
        self._source = given if given.queried or self.sort is None else ArrangedSource(given, self.sort)
        self._ready = False
        self._known_count = None
        if self._painter is not None and self._painter.columns != tuple(given.columns):
            self._set_cache(None)
            self._painter = None
        self.column = min(self.column, len(given.columns) - 1)
        self._load(natural=True)
        self._repaint()

    def show_records(self, columns: Columns[Record], records: Iterable[tuple[int, Record]]) -> None:
        """Show records, each behind its row id, under declared columns; see `show_rows`."""
        self.show_rows(laid_out(columns), rows_of(columns, records))

    def show_rows(self, columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> None:
        """Show rows that are in memory; the cursor stays, and their order as long as its column is there."""
        given = self._given
        if not isinstance(given, MemorySource) or given.columns != tuple(columns):
            self.set_source(MemorySource(columns, rows))
            return
        before = self._arranged_ids()
        given.put(rows)
        if self._arranged_ids() != before:
            self.reload()
        else:
            self.refresh_rows()

    def mark(self, text: str) -> None:
        """Mark every place of a text in the rows; "" marks nothing."""
        self._sought = sought(text) if text else None
        self._repaint()

    def _arranged_ids(self) -> array[int]:
        """The order of rows in memory."""
        assert self._source is not None
        return self._source.ids()

    def reload(self) -> None:
        """Ask the source for its ids again (rows came or went); what is in sight stays."""
        self._chosen = self._chosen or self.selected_id is not None
        self._load(natural=not self._ready)

    def refresh_rows(self) -> None:
        """Read rows again as they are shown (their cells changed, not their order)."""
        if self._cache is not None:
            self._cache.mark_stale()
            self._repaint()

    def jump_to_row(self, number: int) -> None:
        """Move the cursor to the row with this number, counted from 1 as in `position`."""
        self._move_to(number - 1)

    def jump_to_id(self, row_id: int) -> bool:
        """Select the row with this id.

        Returns:
            False when the view is known not to hold it (`SelectionHidden` says so too).
        """
        index = None if self._cache is None else self._cache.index_of(row_id)
        if index is not None:
            self._move_to(index)
            return True
        self.selected_id, self._chosen = row_id, True
        self._place_cursor(None)
        if self._ready:
            self.post_message(self.SelectionHidden(self, row_id))
        return not self._ready

    # -- new rows ----------------------------------------------------------------------------------

    @on(messages.ViewReady)
    def _view_ready(self, event: messages.ViewReady) -> None:
        if event.worker.is_cancelled:
            return
        cache = event.cache
        if self.cursor is not None:
            self._line = self.cursor - self.scroll_offset.y
        index = self._place_in(event)
        self._set_cache(cache)
        if self._painter is None:
            self._painter = RowPainter(cache.source.columns, self._style_of)
            self._painter.resize(self.scrollable_size.width)
        self._painter.sample([row for page in cache.pages for row in page])
        self._measure()
        if index is not None:
            self.scroll_to(y=index - self._line, animate=False, force=True)
        self._place_cursor(index)
        if index is None and self._ready and self._chosen and self.selected_id is not None:
            self.post_message(self.SelectionHidden(self, self.selected_id))

    def _place_in(self, event: messages.ViewReady) -> int | None:
        """Where the cursor belongs in a new view; None when its row is not there."""
        cache = event.cache
        if not cache.count:
            return None
        if not self._chosen:
            return 0
        if self.selected_id is None:
            return min(self.cursor or 0, cache.count - 1)
        known = cache.ids is not None and event.sought == self.selected_id
        return event.index if known else cache.index_of(self.selected_id)

    def _rows_changed(self) -> None:
        self._measure()
        self._announce()

    def _page_arrived(self, first: int) -> None:
        self._strips.clear()
        if self.virtual_size.height != self.row_count + _HEADER:
            self._measure()
        elif first - self._page_height < self.scroll_offset.y < first + PAGE:
            self.refresh()
        self._announce()

    def _failed(self, error: BaseException) -> None:
        self.post_message(self.Failed(self, error))

    # -- the cursor --------------------------------------------------------------------------------

    @property
    def _page_height(self) -> int:
        return max(1, self.scrollable_size.height - _HEADER)

    def _move_to(self, index: int) -> None:
        if self._cache is not None and self._cache.count:
            self._chosen = True
            self._place_cursor(max(0, min(index, self._cache.count - 1)))

    def _place_cursor(self, index: int | None) -> None:
        for changed in {self.cursor, index} - {None}:
            self.refresh_line((changed or 0) + _HEADER)
        self.cursor = index
        if index is not None and self._cache is not None:
            self._scroll_to_row(index)
            self._cache.prefetch(index)
            self._fetch_wishes()
        self._announce()

    def _scroll_to_row(self, index: int) -> None:
        top, height = self.scroll_offset.y, self._page_height
        if top <= index < top + height:
            return
        y = index if index < top else index - height + 1
        if abs(y - top) > height:
            y = index - height // 2
        self.scroll_to(y=y, animate=False, force=True)

    def _announce(self) -> None:
        """Tell of the row under the cursor, once it is known which that is."""
        if self.cursor is not None and self._cache is not None:
            row_id = self._cache.id_at(self.cursor)
            if self._chosen or self._ready or self.sort is None:
                self.selected_id = row_id
                if row_id is not None and row_id != self._announced:
                    self._announced = row_id
                    self.post_message(self.RowHighlighted(self, row_id, self.cursor))
        self._tell_position()

    def _tell_position(self) -> None:
        known = self._ready or self._known_count is not None
        where = "–" if self.cursor is None else f"{self.cursor + 1:,}"
        self.position = f"{where} of {self.row_count:,}" if known else f"{where} of …"

    def watch_position(self, position: str) -> None:
        """Pass the position on."""
        self.post_message(self.PositionChanged(self, position))

    def action_move(self, rows: int) -> None:
        """Move the cursor by some rows; a hidden selection starts from the top row in sight."""
        self._move_to(self.scroll_offset.y if self.cursor is None else self.cursor + rows)

    def action_move_page(self, pages: int) -> None:
        """Move the cursor and the rows in sight by whole pages."""
        rows = pages * self._page_height
        cursor = self.scroll_offset.y if self.cursor is None else self.cursor
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, force=True)
        self._move_to(cursor + rows)

    def action_first(self) -> None:
        """Move to the first row."""
        self._move_to(0)

    def action_last(self) -> None:
        """Move to the last row."""
        self._move_to(self.row_count - 1)

    def action_sideways(self, steps: int) -> None:
        """Move the cursor to another column, which is scrolled into sight; the first one stays there."""
        if self._painter is None:
            return
        self._place_column(max(0, min(self.column + steps, len(self._painter.columns) - 1)))

    def _place_column(self, column: int) -> None:
        assert self._painter is not None
        self.column = column
        self.scroll_to(x=self._painter.scrolled_to(column, self.scroll_offset.x), animate=False, force=True)
        self.refresh()

    def action_open(self) -> None:
        """Open the row under the cursor; a hidden selection first gives way to the top row in sight."""
        if self.cursor is None:
            self.action_move(0)
            return
        row_id = None if self._cache is None else self._cache.id_at(self.cursor)
        if row_id is not None:
            self.post_message(self.RowSelected(self, row_id))

    def on_click(self, event: events.Click) -> None:
        """Sort by a header, move to a row, or open the row under the cursor."""
        place = event.get_content_offset(self)
        if place is None or self._painter is None:
            return
        if place.y < _HEADER:
            column = self._painter.column_at(place.x, self.scroll_offset.x)
            if column is not None:
                self._place_column(column)
                self.action_sort()
            return
        index = place.y - _HEADER + self.scroll_offset.y
        if index == self.cursor:
            self.action_open()
        elif index < self.row_count:
            self._move_to(index)

    # -- what can be done with any list ------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where the screen has a key for something of its own, that goes before the list's."""
        keys = _keys_of(tuple(one for one in self.ACTIONS if one.run == action))
        return keys.isdisjoint(_keys_of(getattr(self.screen, "ACTIONS", ())))

    @property
    def column_here(self) -> TableColumn | None:
        """The column under the cursor; None before there is any."""
        return None if self._painter is None else self._painter.columns[self.column]

    def copies(self) -> Iterator[Copyable]:
        """The cell and the row under the cursor, once they are here."""
        row = None if self._cache is None or self.cursor is None else self._cache.row(self.cursor)
        if self._painter is not None and row is not None and row.cells:
            yield from of_row(self._painter.columns, row, self.column)

    def action_sort(self) -> None:
        """Sort by the column under the cursor: worst first, then turned round, then as the rows come."""
        if self.column_here is not None:
            self._sort(next_sort(self.column_here, self.sort))

    def action_reverse(self) -> None:
        """Turn the order round; rows in no order are sorted by the column under the cursor, best first."""
        if self.column_here is not None:
            self._sort((self.sort or worst_first(self.column_here)).turned())

    def _sort(self, sort: Sort | None) -> None:
        """Arrange the rows; who has a query is asked for another one."""
        if self._given is not None and self._given.queried:
            self.post_message(self.SortRequested(self, sort))
        else:
            self.sort = sort
            self._show_arranged()

    # -- drawing -----------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Share the new width among the columns."""
        if self._painter is not None:
            self._painter.resize(self.scrollable_size.width)
            self._measure()
            if self.cursor is not None:
                self._scroll_to_row(self.cursor)

    def notify_style_update(self) -> None:
        """Draw anew with the theme's colours."""
        super().notify_style_update()
        self._part_styles.clear()
        self._strips.clear()

    def _style_of(self, part: str) -> Style:
        style = self._part_styles.get(part)
        if style is None:
            style = self.rich_style
            if part != "row":
                style = self.get_component_rich_style(f"virtual-table--{part}", default=Style.null())
            self._part_styles[part] = style
        return style

    def _repaint(self) -> None:
        self._strips.clear()
        self.refresh()

    def _measure(self) -> None:
        width = 0 if self._painter is None else self._painter.total_width
        self.virtual_size = Size(width, self.row_count + _HEADER)
        self._repaint()

    def render_line(self, y: int) -> Strip:
        """Draw a line of the visible part; the first is the header."""
        cache, painter, offset = self._cache, self._painter, self.scroll_offset
        blank = Strip.blank(self.scrollable_size.width, self._style_of("row"))
        if cache is None or painter is None:
            return blank
        if y < _HEADER:
            return painter.header(self.sort, not self._ready, offset.x, self.column if self.has_focus else None)
        index = y - _HEADER + offset.y
        if index >= cache.count:
            return painter.note("No rows") if y == _HEADER and self._ready else blank
        here = self.column if index == self.cursor else None
        key = (index, here, offset.x)
        strip = self._strips.get(key)
        if strip is None:
            row = cache.row(index)
            if cache.wanting:
                self.call_next(self._fetch_wishes)
            if row is None:
                return painter.note("can't be read" if cache.failed(index) else "…", cursor=here is not None)
            strip = painter.row(row, cursor=here is not None, scroll_x=offset.x, here=here)
            if self._sought is not None:
                strip = marked(strip, self._sought, self._style_of("hit"))
            self._strips[key] = strip
        return strip
