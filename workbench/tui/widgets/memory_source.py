"""Rows that are in memory already, as a table reads them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from workbench.tui.widgets.columns import TableColumn, TableRow
from workbench.tui.widgets.virtual_table import VirtualTable


class MemorySource:
    """A `RowSource` over a short list; `put` replaces the rows under the same columns."""

    def __init__(self, columns: Sequence[TableColumn], rows: Sequence[TableRow] = ()) -> None:
        self.columns = tuple(columns)
        self._rows = tuple(rows)

    def put(self, rows: Sequence[TableRow]) -> bool:
        """Replace the rows; True when other rows, or the same in another order, are there now."""
        before, self._rows = self._rows, tuple(rows)
        return [row.id for row in before] != [row.id for row in rows]

    def count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def ids(self) -> array[int]:
        """The ids of all rows in order."""
        return array("q", [row.id for row in self._rows])

    def first_page(self, limit: int, offset: int = 0) -> list[TableRow]:
        """Rows in order."""
        return list(self._rows[offset : offset + limit])

    def page(self, ids: Sequence[int]) -> list[TableRow]:
        """The rows with these ids."""
        rows = {row.id: row for row in self._rows}
        return [rows[row_id] for row_id in ids if row_id in rows]


def show_rows(
    table: VirtualTable, source: MemorySource | None, columns: Sequence[TableColumn], rows: Sequence[TableRow]
) -> MemorySource:
    """Show rows in a table; the cursor stays where it was as far as the columns are the same.

    Args:
        source: What the table has shown so far, if anything.

    Returns:
        What it shows now.
    """
    if source is None or source.columns != tuple(columns):
        source = MemorySource(columns, rows)
        table.set_source(source)
    elif source.put(rows):
        table.reload()
    else:
        table.refresh_rows()
    return source
