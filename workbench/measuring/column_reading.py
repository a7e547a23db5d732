"""Reading a run's verdicts into columns whole: where they are many, by several threads at once.

SQLite gathers them, and does so beside Python: each thread has a connection of its own and a share of the items. All
read the same state of the database, which the mark of its history tells; where somebody has written in between, one
reads it all.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.core.database import generation
from workbench.data.store.columns import EVERY_ROW
from workbench.measuring import column_tables as tables

if TYPE_CHECKING:
    from workbench.core.database.connection import Database
    from workbench.core.database.generation import ChangeMark
    from workbench.data.store.columns import Connection
    from workbench.measuring.column_tables import ColumnTable
    from workbench.statistics.confusion import IntArray

_WORTH: Final = 100_000
"""Items of a share at least: to open a connection takes as long as reading some thousands."""
_MOST: Final = 4


def read_verdicts(database: Database, connection: Connection, run: int, items: IntArray) -> ColumnTable:
    """A run's verdicts on all items, as the connection sees the database; see `column_tables.read_verdicts`."""
    many = min(os.cpu_count() or 1, _MOST, len(items) // _WORTH)
    if many < 2:
        return tables.read_verdicts(connection, run, items, *EVERY_ROW)
    bounds = [len(items) * share // many for share in range(many + 1)]
    first, *others = (items[bounds[share] : bounds[share + 1]] for share in range(many))
    elsewhere = partial(_read_elsewhere, database, generation.mark(connection), run)
    with ThreadPoolExecutor(len(others)) as pool:
        reading = [pool.submit(copy_context().run, elsewhere, share) for share in others]
        found = [_read(connection, run, first), *(one.result() for one in reading)]
    parts = [part for part in found if part is not None]
    return tables.joined(parts) if len(parts) == many else tables.read_verdicts(connection, run, items, *EVERY_ROW)


def _read(connection: Connection, run: int, items: IntArray) -> ColumnTable:
    return tables.read_verdicts(connection, run, items, int(items[0]), int(items[-1]))


def _read_elsewhere(database: Database, now: ChangeMark, run: int, items: IntArray) -> ColumnTable | None:
    """A share of the items, by this thread; None where the database stands elsewhere by now."""
    try:
        with database.reading() as connection:
            return _read(connection, run, items) if generation.mark(connection) == now else None
    finally:
        database.release_reader()
