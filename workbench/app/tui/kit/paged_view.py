"""The part of a table that reads pages of rows from a source, in threads."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from functools import partial

from textual import on
from textual.scroll_view import ScrollView
from textual.worker import Worker, WorkerState, get_current_worker

from workbench.app.tui.allocating import release_worker_after
from workbench.app.tui.kit import table_messages as messages
from workbench.app.tui.kit.columns import RowSource
from workbench.app.tui.kit.sources import PAGE, PageCache
from workbench.core.progress import Listener, Stopped, listening_with


class PagedView(ScrollView):
    """A scroll view that reads its rows in threads; the threads communicate with it only by messages.

    One thread counts, one reads the ids of all rows, and one fetches the requested pages, the newest request first. A
    new source cancels what the older one still reads.

    Attributes:
        selected_id: Id of the selected row; the cursor stays on it when the rows change.
    """

    def __init__(self, source: RowSource | None, *, id: str | None, classes: str | None) -> None:
        super().__init__(id=id, classes=classes)
        self.selected_id: int | None = None
        self._chosen = False  # by the user or a screen; otherwise the cursor is just on the first row
        self._source = source
        self._cache: PageCache | None = None
        self._ready = False
        self._known_count: int | None = None
        self._fetcher: Worker[None] | None = None

    @property
    def row_count(self) -> int:
        if self._known_count is not None:
            return self._known_count
        return 0 if self._cache is None else self._cache.count

    @property
    def ready(self) -> bool:
        return self._ready

    def on_mount(self) -> None:
        self._load(natural=True)

    @abstractmethod
    def _rows_changed(self) -> None:
        """Redraw: the number of rows has changed, or rows can't be read."""

    @abstractmethod
    def _page_arrived(self, first: int) -> None:
        """Redraw: the page that begins with row `first` has been read."""

    @abstractmethod
    def _failed(self, error: BaseException) -> None:
        """Report that a thread failed to read rows."""

    def _start(self, group: str, work: partial[None]) -> Worker[None]:
        # The description is given because the default one is the repr of everything in `work`.
        return self.run_worker(
            release_worker_after(work), group=group, description=group, thread=True, exclusive=True, exit_on_error=False
        )

    def _load(self, *, natural: bool) -> None:
        source = self._source
        if source is None or not self.is_attached:
            return
        if natural:
            self._start("table-count", partial(self._count_rows, source))
        self._start("table-ids", partial(self._read_ids, source, natural))

    def _count_rows(self, source: RowSource) -> None:
        worker = get_current_worker()
        with listening_with(Listener(lambda: worker.is_cancelled)), suppress(Stopped):
            self.post_message(messages.Counted(worker, source.count()))

    def _read_ids(self, source: RowSource, natural: bool) -> None:
        worker = get_current_worker()
        if natural:
            first = PageCache(source)
            first.put(first.read(0))
            self.post_message(messages.ViewReady(worker, first))
        cache = None
        with listening_with(Listener(lambda: worker.is_cancelled)), suppress(Stopped):
            cache = PageCache(source, source.ids())
        if cache is None or worker.is_cancelled:
            return
        sought = self.selected_id if self._chosen else None
        index = 0 if sought is None else cache.index_of(sought)
        near = (max(0, (index or 0) + step) for step in (-PAGE // 2, PAGE // 2))
        for number in {row // PAGE for row in (*near, cache.count - 1) if 0 <= row < cache.count}:
            cache.put(cache.read(number))  # the last page too: it often has the widest numbers
        self.post_message(messages.ViewReady(worker, cache, sought, index))

    def _read_pages(self, cache: PageCache) -> None:
        while (number := cache.next_request()) is not None:
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
