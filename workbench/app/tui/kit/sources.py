"""Sources of table rows: memory, a fixed order of ids, or a query read by pages."""

from __future__ import annotations

from array import array
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from workbench.app.tui.kit.columns import RowSource, TableColumn, TableRow, rows_of, table_columns
from workbench.data.paging import QueryTable
from workbench.tables.table import Columns

Row = TypeVar("Row")


class MemorySource:
    """A `RowSource` over a short list; `put` replaces the rows under the same columns."""

    queried = False

    def __init__(self, columns: Sequence[TableColumn], rows: Sequence[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        self.put(rows)

    def put(self, rows: Sequence[TableRow]) -> None:
        self.rows = tuple(rows)
        self._by_id = {row.id: row for row in rows}

    def ids(self) -> array[int]:
        return array("q", [row.id for row in self.rows])

    def first_page(self, limit: int) -> list[TableRow]:
        return list(self.rows[:limit])

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        by_id = self._by_id
        return [by_id[row_id] for row_id in ids if row_id in by_id]


class FixedSource(Generic[Row]):
    """A `RowSource` over records in a fixed order.

    Args:
        columns: The declared columns.
        order: All row ids.
        read: Reads records by row id.
        row_id: Returns a record's row id.
    """

    queried = False

    def __init__(
        self,
        columns: Columns[Row],
        order: array[int],
        read: Callable[[Sequence[int]], Iterable[Row]],
        row_id: Callable[[Row], int],
    ) -> None:
        self.columns, self.order = table_columns(columns), order
        self._declared, self._read, self._id = columns, read, row_id

    def ids(self) -> array[int]:
        return self.order

    def first_page(self, limit: int) -> list[TableRow]:
        return self.page(self.order[:limit])

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        return rows_of(self._declared, ((self._id(one), one) for one in self._read(ids)))


class PagedSource(Generic[Row]):
    """A `RowSource` over the rows of one query.

    Args:
        columns: The declared columns.
        found: The query that reads the records.
        row_id: Returns a record's row id.
    """

    queried = True

    def __init__(self, columns: Columns[Row], found: QueryTable[Row], row_id: Callable[[Row], int]) -> None:
        self.columns = table_columns(columns)
        self.cancel, self.ids, self.tally = found.cancel, found.ids, found.tally
        self._declared, self._found, self._id = columns, found, row_id

    def first_page(self, limit: int) -> list[TableRow]:
        return self._table_rows(self._found.first(limit))

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        return self._table_rows(self._found.rows(ids))

    def _table_rows(self, found: Iterable[Row]) -> list[TableRow]:
        return rows_of(self._declared, ((self._id(one), one) for one in found))


# -- Rows in memory: the most recently used pages of a row source, and requests for more pages.


PAGE: Final = 128
"""Number of rows in a page."""
_MAX_PAGES = 64
_MAX_REQUESTS = 8
_READ_AT_ONCE = 2
"""Pages read by one thread: a newer request waits no longer than for these."""


class Page(NamedTuple):
    """Rows read from a source. ``epoch`` counts how often the cache had become stale when reading began."""

    number: int
    rows: Sequence[TableRow]
    epoch: int = 0


class PageCache:
    """Pages of one source under one order; only `read` is called in threads.

    Without ids there is one page, in the source's natural order.

    Attributes:
        ids: The ids of all rows in order, once known.
    """

    def __init__(self, source: RowSource, ids: array[int] | None = None) -> None:
        self.source = source
        self.ids = ids
        self._pages: OrderedDict[int, Sequence[TableRow]] = OrderedDict()
        self._stale: set[int] = set()
        self._failed: set[int] = set()
        self._reading: set[int] = set()
        self._epoch = 0
        self._wishes: deque[int] = deque(maxlen=_MAX_REQUESTS)

    @property
    def count(self) -> int:
        return len(self._pages.get(0, ()) if self.ids is None else self.ids)

    @property
    def pages(self) -> list[Sequence[TableRow]]:
        return list(self._pages.values())

    def row(self, index: int) -> TableRow | None:
        """Return the row at `index`; None (and request its page) while it is not in memory."""
        number, offset = divmod(index, PAGE)
        page = self._pages.get(number)
        if page is None or number in self._stale:
            self._request_page(number, urgent=True)
        if page is None:
            return None
        self._pages.move_to_end(number)
        return page[offset] if offset < len(page) else None

    def failed(self, index: int) -> bool:
        """Return whether reading the page of this row failed."""
        return index // PAGE in self._failed

    def prefetch(self, index: int) -> None:
        for near in (index - PAGE // 2, index + PAGE // 2):
            if 0 <= near < self.count and near // PAGE not in self._pages:
                self._request_page(near // PAGE, urgent=False)

    def id_at(self, index: int) -> int | None:
        if self.ids is not None:
            return self.ids[index] if 0 <= index < self.count else None
        row = self.row(index)
        return None if row is None else row.id

    def index_of(self, row_id: int) -> int | None:
        """Return the index of the row with this id; None if there is no such row, or its index is not known yet."""
        ids = [row.id for row in self._pages.get(0, ())] if self.ids is None else self.ids
        try:
            return ids.index(row_id)
        except ValueError:
            return None

    def put(self, page: Page) -> None:
        """Store a page; the least recently used page is dropped if there are too many."""
        self._reading.discard(page.number)
        self._pages[page.number] = page.rows
        self._pages.move_to_end(page.number)
        if page.epoch == self._epoch:
            self._stale.discard(page.number)
        while len(self._pages) > _MAX_PAGES:
            gone, _ = self._pages.popitem(last=False)
            self._stale.discard(gone)

    def mark_stale(self) -> None:
        """Mark every page to be read again when it is next shown; until then the old rows are shown."""
        self._epoch += 1
        self._stale = set(self._pages) | self._reading
        self._failed.clear()

    def fetch_failed(self) -> None:
        """Record that the pages being read can't be read: they are not requested again until `mark_stale`."""
        self._failed |= self._reading
        self._stale -= self._reading
        self._reading.clear()

    def take_requests(self) -> list[int]:
        """Return the numbers of the pages to read next, the newest request first."""
        wanted = [self._wishes.pop() for _ in range(min(len(self._wishes), _READ_AT_ONCE))]
        self._reading.update(wanted)
        return wanted

    def read(self, number: int) -> Page:
        """Read a page from the source; a row that no longer exists has no cells."""
        epoch = self._epoch
        if self.ids is None:
            return Page(number, self.source.first_page(PAGE), epoch)
        wanted = self.ids[number * PAGE : (number + 1) * PAGE]
        rows = {row.id: row for row in self.source.page(wanted)}
        return Page(number, [rows.get(row_id, TableRow(row_id, ())) for row_id in wanted], epoch)

    def _request_page(self, number: int, *, urgent: bool) -> None:
        if number in self._failed or number in self._reading or (number in self._wishes and not urgent):
            return
        if number in self._wishes:
            self._wishes.remove(number)
        if urgent:
            self._wishes.append(number)
        elif len(self._wishes) < _MAX_REQUESTS:
            self._wishes.appendleft(number)
