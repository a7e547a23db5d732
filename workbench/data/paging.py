"""Reads the rows of a query for a table: their ids in order, their number, and pages of them. No
threads are started.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from threading import Event
from typing import TYPE_CHECKING, Generic, TypeVar

from workbench.core.database.connection import Database, cancellable

if TYPE_CHECKING:
    import sqlite3

Row = TypeVar("Row")


class QueryTable(ABC, Generic[Row]):
    """The rows of one query; every method may run in a worker thread.

    Attributes:
        whole: Whether the query has no conditions, so that its rows can be counted quickly.
    """

    whole: bool

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cancelled = Event()
        self._done = Event()
        self._count = 0
        self._ends: dict[int, int] = {}

    def cancel(self) -> None:
        self._cancelled.set()
        self._done.set()

    def ids(self) -> array[int]:
        """Return the ids of all rows in the query's order; slow for a million rows.

        Raises:
            StoreError: ``cancel`` was called.
        """
        reader = self._database.reader()
        try:
            with cancellable(reader, self._cancelled.is_set):
                found = self.read_ids(reader)
            self._count = len(found)
        finally:
            self._done.set()
        return found

    def count(self) -> int:
        """Return the number of rows; if the query has conditions, wait until ``ids`` has been called once."""
        if self.whole:
            return self.count_all(self._database.reader())
        self._done.wait()
        return self._count

    def first(self, limit: int, offset: int = 0) -> list[Row]:
        """Return rows in the order of import, long before ``ids`` is ready.

        A page can be read only after the page before it; otherwise the list is empty.
        """
        after = self._ends.get(offset, 0)
        if offset and not after:
            return []
        found = self.read_first(self._database.reader(), limit, after)
        if found:
            self._ends[offset + len(found)] = found[-1]
        return self.rows(found)

    def tally(self, column: str) -> list[tuple[str, str, int]] | None:
        """Count the rows with each value of a column.

        Returns:
            For each value its spelling in conditions, its displayed text and its count, the most frequent first; None
            if every row would have to be read.
        """
        return None

    @abstractmethod
    def read_ids(self, reader: sqlite3.Connection) -> array[int]:
        """Return row ids of all rows in the query's order."""

    @abstractmethod
    def count_all(self, reader: sqlite3.Connection) -> int:
        """Count all rows, without conditions."""

    @abstractmethod
    def read_first(self, reader: sqlite3.Connection, limit: int, after: int) -> Sequence[int]:
        """Return at most ``limit`` row ids greater than ``after``, in the order of import."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> list[Row]:
        """Return rows by id, in the given order."""
