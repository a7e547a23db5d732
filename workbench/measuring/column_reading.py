"""Reads all items, or a run's verdicts, into columns; large tables are read by several threads.

SQLite reads outside the GIL: each thread has its own connection and a share of the items. All threads must read the
same state of the database, identified by its mark in the change history; if the database changes meanwhile, one thread
reads everything.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.core.database import generation
from workbench.data.store import columns as stored
from workbench.data.store.columns import EVERY_ROW, ItemNumbers
from workbench.measuring import column_tables as tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.core.database.connection import Database
    from workbench.core.database.generation import ChangeMark
    from workbench.data.store.columns import Connection
    from workbench.measuring.column_tables import ColumnTable
    from workbench.statistics.confusion import IntArray

_MIN_SHARE_ITEMS: Final = 100_000
"""Fewest items of a share: opening a connection takes as long as reading several thousand items."""
_MAX_THREADS: Final = 4

Share = TypeVar("Share")
Found = TypeVar("Found")


def read_items(database: Database, connection: Connection) -> ColumnTable:
    """Read all items as the connection sees the database; see `column_tables.read_items`."""
    import numpy as np

    first, last = stored.item_ends(connection) or (0, -1)
    bounds = _share_bounds(last - first + 1)
    spans = [(first + start, first + end - 1) for start, end in pairwise(bounds)]
    parts = _read_in_threads(database, connection, lambda reader, span: stored.item_numbers(reader, *span), spans)
    numbers = None if parts is None else ItemNumbers(*map(np.concatenate, zip(*parts, strict=True)))
    return tables.read_items(connection, *EVERY_ROW, numbers)


def read_verdicts(database: Database, connection: Connection, run: int, items: IntArray) -> ColumnTable:
    """Read a run's verdicts on all items as the connection sees the database; see `column_tables.read_verdicts`."""

    def read(reader: Connection, share: IntArray) -> ColumnTable:
        return tables.read_verdicts(reader, run, share, int(share[0]), int(share[-1]))

    shares = [items[start:end] for start, end in pairwise(_share_bounds(len(items)))]
    parts = _read_in_threads(database, connection, read, shares)
    return tables.read_verdicts(connection, run, items, *EVERY_ROW) if parts is None else tables.joined(parts)


def _share_bounds(number: int) -> list[int]:
    many = max(min(os.cpu_count() or 1, _MAX_THREADS, number // _MIN_SHARE_ITEMS), 1)
    return [number * share // many for share in range(many + 1)]


def _read_in_threads(
    database: Database, connection: Connection, read: Callable[[Connection, Share], Found], shares: Sequence[Share]
) -> list[Found] | None:
    """Read each share of the items in its own thread, the first in the calling one. Return None if there is only one
    share, or if the database changed meanwhile.
    """
    first, *others = shares
    if not others:
        return None
    elsewhere = partial(_read_on_other_connection, database, generation.mark(connection), read)
    with ThreadPoolExecutor(len(others)) as pool:
        reading = [pool.submit(copy_context().run, elsewhere, share) for share in others]
        found = [read(connection, first), *(one.result() for one in reading)]
    parts = [part for part in found if part is not None]
    return parts if len(parts) == len(found) else None


def _read_on_other_connection(
    database: Database, now: ChangeMark, read: Callable[[Connection, Share], Found], share: Share
) -> Found | None:
    try:
        with database.reading() as connection:
            return read(connection, share) if generation.mark(connection) == now else None
    finally:
        database.release_reader()
