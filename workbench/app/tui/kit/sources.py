"""Where the rows of tables come from: memory, a settled order of ids, or a query that is read by pages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from workbench.app.tui.kit.columns import Sort, TableColumn, TableRow

Row = TypeVar("Row")

_NUMBER = re.compile(r"[^\w+-]*([+-]?\d+(?:\.\d+)?)(?: ?%| .*)?")


class MemorySource:
    """A `RowSource` over a short list; `put` replaces the rows under the same columns.

    Attributes:
        sort: The column a person has asked for; None for the order in which the rows were put.
    """

    def __init__(self, columns: Sequence[TableColumn], rows: Sequence[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        self.sort: Sort | None = None
        self._rows = self._shown = tuple(rows)

    def put(self, rows: Sequence[TableRow]) -> bool:
        """Replace the rows; True when other rows, or the same in another order, are there now."""
        self._rows = tuple(rows)
        return self._arrange()

    def sort_by(self, key: str) -> None:
        """Sort by a column, by the same one again in the other direction, and at last as the rows were put."""
        again = self.sort is not None and self.sort.column == key
        self.sort = Sort(key, again) if self.sort is None or self.sort != Sort(key, True) else None
        self._arrange()

    def _arrange(self) -> bool:
        before, self._shown = self._shown, self._rows
        if self.sort is not None:
            place = [column.key for column in self.columns].index(self.sort.column)
            self._shown = tuple(
                sorted(self._rows, key=lambda row: rank(row.cells[place].text), reverse=self.sort.descending)
            )
        return [row.id for row in before] != [row.id for row in self._shown]

    def count(self) -> int:
        """How many rows there are."""
        return len(self._shown)

    def ids(self) -> array[int]:
        """The ids of all rows in order."""
        return array("q", [row.id for row in self._shown])

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in order."""
        return list(self._shown[offset : offset + limit])

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """The rows with these ids."""
        rows = {row.id: row for row in self._shown}
        return [rows[row_id] for row_id in ids if row_id in rows]


def rank(text: str) -> tuple[bool, float, str]:
    """What a cell is sorted by: numbers by their size, before words in the order of their letters."""
    number = _NUMBER.fullmatch(text.replace(",", "").replace("−", "-"))
    return (False, float(number[1]), text) if number else (True, 0.0, text.casefold())


class FixedSource:
    """Items whose order is settled, as a table reads them.

    Args:
        columns: The table's columns; none of them can be sorted by.
        order: All row ids.
        rows: Makes rows by id.
    """

    def __init__(
        self, columns: Sequence[TableColumn], order: array[int], rows: Callable[[Sequence[int]], list[TableRow]]
    ) -> None:
        self.columns = tuple(column._replace(sortable=False) for column in columns)
        self.order, self.page = order, rows

    def count(self) -> int:
        """How many items there are."""
        return len(self.order)

    def ids(self) -> array[int]:
        """Row ids in that order."""
        return self.order

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in the same order."""
        return self.page(self.order[offset : offset + limit])


class QueriedRows(Protocol[Row]):
    """The rows of one query; every method but `cancel` is called in a thread."""

    def cancel(self) -> None:
        """End a reading of ids that is under way."""

    def count(self) -> int:
        """How many rows there are."""

    def ids(self) -> array[int]:
        """The ids of all rows in the query's order."""

    def first(self, limit: int, offset: int = 0) -> list[Row]:
        """Rows in the order of import, long before `ids`."""

    def rows(self, ids: Sequence[int]) -> list[Row]:
        """Rows by id, in the order asked for."""


class PagedSource(Generic[Row]):
    """A `RowSource` over the rows of one query.

    Args:
        columns: The table's columns.
        found: The rows.
        shown: A row as the table shows it.
    """

    def __init__(
        self, columns: Sequence[TableColumn], found: QueriedRows[Row], shown: Callable[[Row], TableRow]
    ) -> None:
        self.columns = columns
        self.cancel, self.count, self.ids = found.cancel, found.count, found.ids
        self._found, self._row = found, shown

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in the order of import."""
        return list(map(self._row, self._found.first(limit, offset)))

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """Rows by id."""
        return list(map(self._row, self._found.rows(ids)))
