"""Reads the rows of a query for a table: their ids in order, and pages of them. No threads are started."""

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
    """The rows of one query; every method may run in a worker thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cancelled = Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def ids(self) -> array[int]:
        """Return the ids of all rows in the query's order; slow for a million rows.

        Raises:
            StoreError: ``cancel`` was called.
        """
        reader = self._database.reader()
        with cancellable(reader, self._cancelled.is_set):
            return self.read_ids(reader)

    def first(self, limit: int) -> list[Row]:
        """Return the first rows in the order of import, long before ``ids`` is ready."""
        return self.rows(self.read_first(self._database.reader(), limit))

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
    def read_first(self, reader: sqlite3.Connection, limit: int) -> Sequence[int]:
        """Return at most ``limit`` row ids, in the order of import."""

    @abstractmethod
    def rows(self, ids: Sequence[int]) -> list[Row]:
        """Return rows by id, in the given order."""
