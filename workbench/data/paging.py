"""A query's rows as a table reads them: all ids in order, a count, and pages, each in the calling thread."""

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
        whole: The query leaves nothing out: its rows can be counted without reading them.
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
        """Return row ids of all rows in the query's order; slow at a million rows.

        Raises:
            StoreError: ``cancel`` was called meanwhile.
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
        """Return how many rows there are; if the query leaves some out, wait for the first ``ids``."""
        if self.whole:
            return self.count_all(self._database.reader())
        self._done.wait()
        return self._count

    def first(self, limit: int, offset: int = 0) -> list[Row]:
        """Return rows in the order of import, long before ``ids`` is ready.

        A page can be read when the one before it has been; any other is empty.
        """
        after = self._ends.get(offset, 0)
        if offset and not after:
            return []
        found = self.read_first(self._database.reader(), limit, after)
        if found:
            self._ends[offset + len(found)] = found[-1]
        return self.rows(found)

    def tally(self, column: str) -> list[tuple[str, str, int]] | None:
        """Count the rows of each value of a column, as a condition spells it and as a row shows it.

        Returns:
            The most frequent first; None where every row has to be read for that.
        """
        return None

    @abstractmethod
    def read_ids(self, reader: sqlite3.Connection) -> array[int]:
        """Return row ids of all rows in the query's order."""

    @abstractmethod
    def count_all(self, reader: sqlite3.Connection) -> int:
        """How many rows there are if nothing is left out."""

    @abstractmethod
    def read_first(self, reader: sqlite3.Connection, limit: int, after: int) -> Sequence[int]:
        """Return row ids after one, in the order of import."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> list[Row]:
        """Return rows by id, in the given order."""
