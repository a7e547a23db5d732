"""The columns of an open database, kept in memory and beside it, and brought up to date where something changed."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from msgspec import Struct

from workbench.core.database import changes, column_files, migrations
from workbench.core.database.changes import ChangeMark
from workbench.core.database.connection import Database
from workbench.core.progress import heed, step
from workbench.data.store.columns import EVERY_ROW, Connection
from workbench.measuring import column_tables as tables
from workbench.measuring.column_tables import ColumnTable, Range

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray

WORTH = 20_000
"""Rows read from the database since the last time from which on a part is written to its file."""

_COLUMNS, _COLUMNS_BYTES = 24, 96 * 2**20
_FIGURES, _FIGURES_BYTES = 64, 32 * 2**20

VERDICTS_BYTES = 128 * 2**20
"""What the verdicts of all runs may take that are kept; the others are read from their files again."""

Made = TypeVar("Made")


class Remembered:
    """What was made from arrays that never change, by its name: the most recently used of it.

    Args:
        most: How many things are kept.
        most_bytes: How much their arrays may take together; the newest is kept whatever it takes.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, tuple[tuple[object, ...], object, int]] = OrderedDict()

    @property
    def bytes(self) -> int:
        """What the arrays of all that is kept take."""
        return self._bytes

    def get(self, name: Hashable, sources: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """What was made of the very same sources before, or is made of them now.

        Args:
            name: Stands for one kind of thing.
            sources: What it is made of.
        """
        with self._lock:
            held = self._held.get(name)
            if held is not None and all(map(is_, held[0], sources)):
                self._held.move_to_end(name)
                return cast("Made", held[1])
        heed()
        made = make()
        taken = bytes_of(made)
        with self._lock:
            older = self._held.pop(name, None)
            self._bytes += taken - (older[2] if older is not None else 0)
            self._held[name] = sources, made, taken
            while len(self._held) > 1 and (len(self._held) > self._most or self._bytes > self._most_bytes):
                self._bytes -= self._held.popitem(last=False)[1][2]
        return made


def bytes_of(value: object) -> int:
    """What the arrays in a value take, wherever in its fields and elements they are."""
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(bytes_of, value))
    if isinstance(value, Struct):
        return sum(bytes_of(getattr(value, name)) for name in value.__struct_fields__)
    return 0


class RememberedPart(NamedTuple):
    """A part as it stood at one point in the database's history.

    Attributes:
        item: Row ids of the items its rows stand for.
        unsaved: How many rows were read from the database since it was last in a file.
    """

    table: ColumnTable
    item: IntArray
    mark: ChangeMark
    unsaved: int


class ColumnMemory:
    """The parts of one database: its items, and the verdicts of each run that was asked for.

    Any thread may ask. Arrays that were handed out never change: what is new stands in new ones.

    Attributes:
        derived: Further columns, made from these.
        figures: What was counted from columns.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = column_files.folder(database.path)
        self._reading = threading.Lock()
        self._kept: dict[int | None, RememberedPart] = {}
        self.derived = Remembered(_COLUMNS, _COLUMNS_BYTES)
        self.figures = Remembered(_FIGURES, _FIGURES_BYTES)

    def items(self) -> RememberedPart:
        """All visible items as the database stands now."""
        with self._reading, self._database.reading() as connection:
            return self._brought_up(connection, None, None)

    def verdicts(self, run: int, items: IntArray) -> ColumnTable:
        """A run's verdicts on these items as the database stands now."""
        with self._reading, self._database.reading() as connection:
            return self._brought_up(connection, run, items).table

    def agrees(self, run: int | None) -> bool | None:
        """Whether a part's file, brought up to date, says what the database says; None where it would not be used."""
        with self._reading, self._database.reading() as connection:
            items = None if run is None else self._brought_up(connection, None, None).item
            kept = self._from_file(run, items)
            found = None if kept is None else changes.since(connection, kept.mark)
            if kept is None or found is None:
                return None
            kept = _patched(connection, run, items, kept, [change.span for change in found if change.run == run])
            anew = _read_whole(connection, run, items, kept.mark).table
        same = tables.put_in(kept.table, [(slice(0, kept.table.rows), anew)])
        return all(same.columns.get(name) is values for name, values in kept.table.columns.items())

    def _brought_up(self, connection: Connection, run: int | None, items: IntArray | None) -> RememberedPart:
        now = changes.mark(connection)
        kept = self._kept.get(run) or self._from_file(run, items)
        found = None if kept is None else changes.since(connection, kept.mark)
        if kept is None or found is None:
            kept = _read_whole(connection, run, items, now)
        elif kept.mark != now or (items is not None and items is not kept.item):
            stale = [change.span for change in found if change.run == run]
            kept = _patched(connection, run, items, kept, stale)._replace(mark=now)
        if kept.unsaved >= WORTH:
            kept = self._to_file(run, kept)
        self._kept.pop(run, None)
        self._kept[run] = kept
        self._let_go()
        return kept

    def _let_go(self) -> None:
        """Keep the items, and of the runs those that were asked for last, the newest in any case."""
        runs = [run for run in self._kept if run is not None]
        taken = {run: bytes_of(self._kept[run].table) for run in runs}
        while len(runs) > 1 and sum(taken[run] for run in runs) > VERDICTS_BYTES:
            del self._kept[runs.pop(0)]

    def _from_file(self, run: int | None, items: IntArray | None) -> RememberedPart | None:
        part = column_files.read(self._folder / column_files.name(run))
        if part is None or (part.head.run, part.head.schema) != (run, migrations.latest_version()):
            return None
        if (table := tables.of_part(part)) is None or not (items is None or table.rows == len(items)):
            return None
        item = table.columns["item"] if items is None else items
        if part.head.aligned != self._checksum(item, part.head.aligned if items is None else None):
            return None
        return RememberedPart(table, item, part.head.mark, 0)

    def _to_file(self, run: int | None, kept: RememberedPart) -> RememberedPart:
        """Write a part to its file. Where that can't be done it is tried again after as many more rows."""
        part = tables.to_part(kept.table, run, kept.mark, migrations.latest_version(), self._checksum(kept.item))
        column_files.write(self._folder / column_files.name(run), part)
        return kept._replace(unsaved=0)

    def _checksum(self, item: IntArray, known: int | None = None) -> int:
        """What the items are known by in the files of runs."""
        return self.derived.get("checksum", (item,), lambda: zlib.crc32(item.data) if known is None else known)


def _read_whole(connection: Connection, run: int | None, items: IntArray | None, now: ChangeMark) -> RememberedPart:
    with step("reading items" if run is None else f"reading verdicts of run {run}"):
        if run is None or items is None:
            table = tables.read_items(connection, *EVERY_ROW)
            item: IntArray = table.columns["item"]
        else:
            table, item = tables.read_verdicts(connection, run, items, *EVERY_ROW), items
    return RememberedPart(table, item, now, len(item))


def _patched(
    connection: Connection, run: int | None, items: IntArray | None, kept: RememberedPart, stale: list[Range]
) -> RememberedPart:
    """A part with those rows read again that may have changed since it was made."""
    if run is None or items is None:
        parts = [(_rows(kept.item, span), tables.read_items(connection, *span)) for span in changes.ranges(stale)]
        table = tables.put_in(kept.table, parts)
        return RememberedPart(table, table.columns["item"], kept.mark, kept.unsaved + _size(parts))
    table = kept.table
    if items is not kept.item:
        table = tables.aligned(table, kept.item, items)
        stale = [*stale, *_added(kept.item, items)]
    parts = []
    for span in changes.ranges(stale):
        rows = _rows(items, span)
        parts.append((rows, tables.read_verdicts(connection, run, items[rows], *span)))
    return RememberedPart(tables.put_in(table, parts), items, kept.mark, kept.unsaved + _size(parts))


def _size(parts: Iterable[tuple[slice, ColumnTable]]) -> int:
    return sum(part.rows for _, part in parts)


def _rows(items: IntArray, span: Range) -> slice:
    import numpy as np

    return slice(int(np.searchsorted(items, span[0])), int(np.searchsorted(items, span[1], side="right")))


def _added(old: IntArray, new: IntArray) -> list[Range]:
    """Where items stand that were not there before."""
    import numpy as np

    found = np.setdiff1d(new, old, assume_unique=True)
    return [(int(found[0]), int(found[-1]))] if len(found) else []
