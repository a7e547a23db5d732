"""A table over more rows than fit in memory: it draws what is at hand and fetches the rest."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from rich.style import Style
from textual import events, on
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.app.tui.allocating import let_go
from workbench.app.tui.kit import sources as messages
from workbench.app.tui.kit.columns import Record, RowPainter, RowSource, Sort, TableColumn, TableRow, laid_out, rows_of
from workbench.app.tui.kit.sources import PAGE, FixedSource, MemorySource, PageCache
from workbench.tables.table import Columns

# -- The reading half of a table: threads that turn a row source into pages at hand.


class PagedView(ScrollView):
    """A scroll view that reads its source in threads; they speak to it only by messages.

    One thread counts, one reads the ids of all rows, and one fetches the pages wished for, the
    newest wish first. A new source cancels what the older one still reads.

    Attributes:
        selected_id: The id that keeps the cursor when the view changes.
    """

    def __init__(self, source: RowSource | None, *, id: str | None, classes: str | None) -> None:
        super().__init__(id=id, classes=classes)
        self.selected_id: int | None = None
        self._chosen = False  # by the user or a screen, not merely the first row
        self._source = source
        self._cache: PageCache | None = None
        self._ready = False
        self._known_count: int | None = None
        self._fetcher: Worker[None] | None = None

    @property
    def row_count(self) -> int:
        """Rows of the current view, as far as known."""
        if self._known_count is not None:
            return self._known_count
        return 0 if self._cache is None else self._cache.count

    @property
    def ready(self) -> bool:
        """Whether the order of all rows is known."""
        return self._ready

    def on_mount(self) -> None:
        self._load(natural=True)

    @abstractmethod
    def _rows_changed(self) -> None:
        """Another number of rows is known, or rows can't be read: draw anew."""

    @abstractmethod
    def _page_arrived(self, first: int) -> None:
        """The page that begins with row `first` is at hand."""

    @abstractmethod
    def _failed(self, error: BaseException) -> None:
        """A thread could not read."""

    def _start(self, group: str, work: partial[None]) -> Worker[None]:
        # The description is given because the default one is the repr of everything in `work`.
        return self.run_worker(
            let_go(work), group=group, description=group, thread=True, exclusive=True, exit_on_error=False
        )

    def _load(self, *, natural: bool) -> None:
        source = self._source
        if source is None or not self.is_attached:
            return
        if natural:
            self._start("table-count", partial(self._count, source))
        self._start("table-ids", partial(self._read_ids, source, natural))

    def _count(self, source: RowSource) -> None:
        self.post_message(messages.Counted(get_current_worker(), source.count()))

    def _read_ids(self, source: RowSource, natural: bool) -> None:
        worker = get_current_worker()
        if natural:
            first = PageCache(source)
            first.put(first.read(0))
            self.post_message(messages.ViewReady(worker, first))
        cache = PageCache(source, source.ids())
        if worker.is_cancelled:
            return
        sought = self.selected_id if self._chosen else None
        index = 0 if sought is None else cache.index_of(sought)
        near = (max(0, (index or 0) + step) for step in (-PAGE // 2, PAGE // 2))
        for number in {row // PAGE for row in (*near, cache.count - 1) if 0 <= row < cache.count}:
            cache.put(cache.read(number))  # the last page too: it often has the widest numbers
        self.post_message(messages.ViewReady(worker, cache, sought, index))

    def _read_pages(self, cache: PageCache) -> None:
        while (number := cache.next_wish()) is not None:
            self.post_message(messages.PageReady(cache, cache.read(number)))

    def _fetch_wishes(self) -> None:
        if self._cache is not None and self._cache.start_fetching():
            self._fetcher = self._start("table-pages", partial(self._read_pages, self._cache))

    def _set_cache(self, cache: PageCache | None) -> None:
        if self._cache is not None:
            self._cache.close()
        self._cache = cache
        if cache is not None and cache.ids is None:
            cache.count = max(cache.count, self._known_count or 0)
        else:
            self._known_count = None
        self._ready = cache is not None and cache.ids is not None

    @on(messages.Counted)
    def _rows_counted(self, event: messages.Counted) -> None:
        if event.worker.is_cancelled or self._ready:
            return
        self._known_count = event.count
        if self._cache is not None and self._cache.source is self._source:
            self._cache.count = max(self._cache.count, event.count)
        self._rows_changed()

    @on(messages.PageReady)
    def _page_ready(self, event: messages.PageReady) -> None:
        if event.cache is self._cache:
            self._cache.put(event.page)
            self._page_arrived(event.page.number * PAGE)

    @on(Worker.StateChanged)
    def _worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is not WorkerState.ERROR or event.worker.error is None:
            return
        if event.worker is self._fetcher and self._cache is not None:
            self._cache.fetch_failed()
        self._rows_changed()
        self._failed(event.worker.error)


_HEADER = 1  # lines
_SIDEWAYS = 8  # cells a key scrolls


class VirtualTable(PagedView, can_focus=True, inherit_bindings=False):
    """Rows of a `RowSource` with a cursor, sort marks and a position.

    The selection is the id of a row: it survives sorting, filtering and new rows. Reading happens in
    threads; lines that are not here yet are drawn dim.

    Attributes:
        sort: The order shown in the header.
        cursor: The index of the row under the cursor; None while its row is not in the view.
        position: Where the cursor is, for people: ``123,456 of 1,450,000``.
    """

    RowHighlighted = messages.RowHighlighted
    RowSelected = messages.RowSelected
    SortRequested = messages.SortRequested
    PositionChanged = messages.PositionChanged
    SelectionHidden = messages.SelectionHidden
    Failed = messages.Failed

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"virtual-table--{part}"
        for part in ("header", "cursor", "success", "error", "warning", "accent", "dim", "bold")
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
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="table.up"),
        Binding("down,j", "move(1)", "Down", show=False, id="table.down"),
        Binding("pageup", "move_page(-1)", "Page up", show=False, id="table.page-up"),
        Binding("pagedown", "move_page(1)", "Page down", show=False, id="table.page-down"),
        Binding("home", "first", "First row", show=False, id="table.first"),
        Binding("end", "last", "Last row", show=False, id="table.last"),
        Binding("left", "sideways(-1)", "Left", show=False, id="table.left"),
        Binding("right", "sideways(1)", "Right", show=False, id="table.right"),
        Binding("enter", "open", "Open", show=False, id="table.open"),
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
        self._painter: RowPainter | None = None
        self._strips: LRUCache[tuple[int, bool, int], Strip] = LRUCache(1024)
        self._part_styles: dict[str, Style] = {}
        self._announced: int | None = None
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
        """Where the rows come from; None until it has been given."""
        return self._source

    @property
    def order(self) -> Sequence[int]:
        """Ids of all rows in their order; while that is not known, those of the rows in sight."""
        if isinstance(self._source, FixedSource):
            return self._source.order
        return self.visible_ids if self._cache is None or self._cache.ids is None else self._cache.ids

    def set_source(self, source: RowSource, *, sort: Sort | None = None) -> None:
        """Show another view: its first page at once, all of it when its ids are known.

        The selected row stays selected. Old rows stay in sight until the first page is here.
        """
        self._source = source
        self.sort = sort
        self._ready = False
        self._known_count = None
        if self._painter is not None and self._painter.columns != tuple(source.columns):
            self._set_cache(None)
            self._painter = None
        self._load(natural=True)
        self._repaint()

    def show_records(
        self, columns: Columns[Record], records: Iterable[tuple[int, Record]], *, sortable: bool = True
    ) -> None:
        """Show records, each behind its row id, under declared columns; see `show_rows`."""
        self.show_rows(laid_out(columns, sortable=sortable), rows_of(columns, records))

    def show_rows(self, columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> None:
        """Show rows that are in memory; the cursor stays, and their order as long as its column is there."""
        source = self._source
        if not isinstance(source, MemorySource) or source.columns != tuple(columns):
            sorted_by = source.sort if isinstance(source, MemorySource) else None
            source = MemorySource(columns, rows, sort=sorted_by)
            self.set_source(source, sort=source.sort)
        elif source.put(rows):
            self.reload()
        else:
            self.refresh_rows()

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
        """Scroll sideways; the first column stays."""
        self.scroll_to(x=self.scroll_offset.x + steps * _SIDEWAYS, animate=False, force=True)

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
            if column is not None and column.sortable:
                self._sort_by(column.key)
            return
        index = place.y - _HEADER + self.scroll_offset.y
        if index == self.cursor:
            self.action_open()
        elif index < self.row_count:
            self._move_to(index)

    def _sort_by(self, key: str) -> None:
        """Sort what is in memory; who has a query is asked for another one."""
        if isinstance(self._source, MemorySource):
            self._source.sort_by(key)
            self.set_source(self._source, sort=self._source.sort)
        else:
            self.post_message(self.SortRequested(self, key))

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
            return painter.header(self.sort, not self._ready, offset.x)
        index = y - _HEADER + offset.y
        if index >= cache.count:
            return painter.note("No rows") if y == _HEADER and self._ready else blank
        key = (index, index == self.cursor, offset.x)
        strip = self._strips.get(key)
        if strip is None:
            row = cache.row(index)
            if cache.wanting:
                self.call_next(self._fetch_wishes)
            if row is None:
                return painter.note("can't be read" if cache.failed(index) else "…", cursor=key[1])
            strip = self._strips[key] = painter.row(row, cursor=key[1], scroll_x=offset.x)
        return strip
