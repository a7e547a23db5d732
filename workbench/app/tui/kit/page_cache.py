"""The rows at hand: pages of a row source, the latest ones used, and the wishes for more."""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Lock
from typing import Final, NamedTuple

from workbench.app.tui.kit.columns import RowSource, TableRow

PAGE: Final = 128
"""Rows in a page."""

_PAGES = 64
_WISHES = 8


class Page(NamedTuple):
    """Rows read from a source, and how often the cache had gone stale when reading began."""

    number: int
    rows: Sequence[TableRow]
    epoch: int = 0


class PageCache:
    """Pages of one source under one order.

    Everything here belongs to the user interface's thread except `next_wish` and `read`, which the
    fetching thread calls. Without ids the rows come in the source's natural order.

    Attributes:
        count: How many rows there are, as far as known.
        ids: The ids of all rows in order, once known.
    """

    def __init__(self, source: RowSource, ids: array[int] | None = None) -> None:
        self.source = source
        self.ids = ids
        self.count = 0 if ids is None else len(ids)
        self._pages: OrderedDict[int, Sequence[TableRow]] = OrderedDict()
        self._stale: set[int] = set()
        self._failed: set[int] = set()
        self._reading: set[int] = set()
        self._epoch = 0
        self._wishes: deque[int] = deque(maxlen=_WISHES)
        self._fetching = False
        self._lock = Lock()

    @property
    def pages(self) -> list[Sequence[TableRow]]:
        """The pages at hand."""
        return list(self._pages.values())

    def row(self, index: int) -> TableRow | None:
        """The row at `index`, or None (and a wish for its page) while it is not here."""
        number, offset = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None or number in self._stale:
            self._wish(number, urgent=True)
        if page is None:
            return None
        self._pages.move_to_end(number)
        return page[offset] if offset < len(page) else None

    def failed(self, index: int) -> bool:
        """Whether the page of this row could not be read."""
        return index // PAGE in self._failed

    def prefetch(self, index: int) -> None:
        """Wish for the pages around `index` when nothing more urgent is wanted."""
        for near in (index - PAGE // 2, index + PAGE // 2):
            if 0 <= near < self.count and near // PAGE not in self._pages:
                self._wish(near // PAGE, urgent=False)

    def id_at(self, index: int) -> int | None:
        """The id of the row at `index`; None while unknown."""
        if self.ids is not None:
            return self.ids[index] if 0 <= index < self.count else None
        row = self.row(index)
        return None if row is None else row.id

    def index_of(self, row_id: int) -> int | None:
        """Where the row with this id is; None when it is not here (or not known to be)."""
        if self.ids is not None:
            try:
                return self.ids.index(row_id)
            except ValueError:
                return None
        for number, page in self._pages.items():
            for offset, row in enumerate(page):
                if row.id == row_id:
                    return number * PAGE + offset
        return None

    def put(self, page: Page) -> None:
        """Keep a page; the one used longest ago makes room."""
        self._reading.discard(page.number)
        self._pages[page.number] = page.rows
        self._pages.move_to_end(page.number)
        if page.epoch == self._epoch:
            self._stale.discard(page.number)
        if self.ids is None:
            self.count = max(self.count, page.number * PAGE + len(page.rows))
        while len(self._pages) > _PAGES:
            gone, _ = self._pages.popitem(last=False)
            self._stale.discard(gone)

    def mark_stale(self) -> None:
        """Read every page again when it is next shown; until then the old rows stay."""
        self._epoch += 1
        self._stale = set(self._pages) | self._reading
        self._failed.clear()

    def fetch_failed(self) -> None:
        """The fetching thread died: don't ask again (until `mark_stale`) for what it was reading."""
        with self._lock:
            self._fetching = False
        self._failed |= self._reading
        self._stale -= self._reading
        self._reading.clear()

    @property
    def wanting(self) -> bool:
        """Whether there are wishes nobody works on."""
        return bool(self._wishes) and not self._fetching

    def start_fetching(self) -> bool:
        """Whether a fetching thread is needed now; the caller who is told so must start it."""
        with self._lock:
            if self._fetching or not self._wishes:
                return False
            self._fetching = True
            return True

    def next_wish(self) -> int | None:
        """The newest page wished for; None ends the fetching thread."""
        with self._lock:
            if self._wishes:
                number = self._wishes.pop()
                self._reading.add(number)
                return number
            self._fetching = False
            return None

    def read(self, number: int) -> Page:
        """Read a page from the source; a row that no longer exists is left without cells."""
        epoch, first = self._epoch, number * PAGE
        if self.ids is None:
            return Page(number, self.source.first_page(PAGE, first), epoch)
        wanted = self.ids[first : first + PAGE]
        rows = {row.id: row for row in self.source.page(wanted)}
        return Page(number, [rows.get(row_id, TableRow(row_id, ())) for row_id in wanted], epoch)

    def close(self) -> None:
        """Forget all wishes: nobody will look at these rows again."""
        with self._lock:
            self._wishes.clear()

    def _wish(self, number: int, *, urgent: bool) -> None:
        if number in self._failed or number in self._reading:
            return
        with self._lock:
            if number in self._wishes:
                if not urgent:
                    return
                self._wishes.remove(number)
            if urgent:
                self._wishes.append(number)
            elif len(self._wishes) < _WISHES:
                self._wishes.appendleft(number)
