"""Reads a damaged file with SQLite as far as possible, table by table, so that one error does not hide others."""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from typing import Any, Final, NamedTuple

from workbench.core.database import migrations

Connection = sqlite3.Connection
Value = str | int | float | bytes | None
Values = tuple[Value, ...]
DERIVED: Final = frozenset(
    {"task_states", "item_states", "changes", "generation", "runner", "verdict_cache", "sqlite_sequence"}
)
"""Tables that can be derived, describe the file itself, or are recomputed: losing them loses nothing."""
_LEAST, _MOST = -(2**63), 2**63 - 1
_IDS_BEYOND: Final = 1_000_000
"""Row ids tried after the last known one, if no index lists more."""
_MAX_RANGES: Final = 4_000
"""Maximum ranges of row ids tried in one table: each fails in microseconds."""


class TableShape(NamedTuple):
    """A table of the program's schema.

    Attributes:
        by_rowid: Whether its rows have row ids.
        key: Positions of its key's columns, in the key's order.
    """

    table: str
    names: list[str]
    by_rowid: bool
    key: list[int]


class Schema:
    """The tables of one version of the schema.

    Attributes:
        tables: The tables by name, including SQLite's own and the list of migrations.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        with closing(migrations.template(version).in_memory()) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            self.tables = {name: _table_shape(connection, name) for name in names}


def _table_shape(connection: Connection, table: str) -> TableShape:
    options = connection.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,))
    by_rowid = not options.fetchone()[0]
    found = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    key = sorted((row[5], place) for place, row in enumerate(found) if row[5])
    return TableShape(table, [row[1] for row in found], by_rowid, [place for _, place in key])


def drop_triggers(connection: Connection) -> list[str]:
    """Drop all triggers; return the statements that recreate them."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in found:
        connection.execute(f'DROP TRIGGER "{name}"')
    return [statement for _, statement in found]


class Salvage:
    """The tables of a file as far as SQLite can read them."""

    def __init__(self, connection: Connection, schema: Schema) -> None:
        self._connection, self._schema = connection, schema
        self._hurt: set[str] = set()

    @property
    def names(self) -> set[str]:
        return {str(row[0]) for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def is_hurt(self, table: str) -> bool:
        """Return whether rows of a table may be lost; known once its rows have been read."""
        said = ""
        with suppress(sqlite3.DatabaseError):
            said = str(self._connection.execute(f"PRAGMA integrity_check('{table}')").fetchall())
        # An index that has other rows than the table, and lacks none of it, has some that the table has lost.
        return table in self._hurt or ("wrong # of entries" in said and "missing from index" not in said)

    def rows(self, table: str) -> Iterator[Values]:
        """Yield a table's rows as far as they can be read: first from both ends, then from the ranges between."""
        shape = self._schema.tables[table]
        try:
            there = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        except sqlite3.DatabaseError:
            there = set()
        if not there:
            self._hurt.add(table)
            return
        what = ", ".join(f'"{name}"' if name in there else "NULL" for name in shape.names)
        yield from self._read_by_rowid(table, what) if shape.by_rowid else self._read_by_key(shape, what)

    def _read_by_rowid(self, table: str, what: str) -> Iterator[Values]:
        waiting = deque([(_LEAST, _MOST)])
        for _ in range(_MAX_RANGES):
            if not waiting:
                return
            low, high = stretch = waiting.popleft()
            last, failed = yield from self._read_range(table, what, low, high, "ASC")
            if not failed:
                continue
            self._hurt.add(table)
            low = max(low, 1) if last is None else last + 1
            first, failed = yield from self._read_range(table, what, low, high, "DESC")
            if not failed:
                continue
            high = first - 1 if first is not None else min(high, self._last_rowid(table, low))
            middle = (low + high) // 2
            for piece in ((low, middle), (middle + 1, high)):
                if piece[0] <= piece[1] and piece != stretch:
                    waiting.append(piece)

    def _read_range(
        self, table: str, what: str, low: int, high: int, order: str
    ) -> Generator[Values, None, tuple[int | None, bool]]:
        last: int | None = None
        held: tuple[int, Values] | None = None
        asked = f'SELECT rowid, {what} FROM "{table}" NOT INDEXED WHERE rowid BETWEEN ? AND ? ORDER BY rowid {order}'
        try:
            for rowid, *values in self._execute(asked, low, high):
                # If a row is out of order, it or the row before it belongs to another table or position.
                if not low <= rowid <= high or (held is not None and (rowid <= held[0]) == (order == "ASC")):
                    return last, True
                if held is not None:
                    last = held[0]
                    yield held[1]
                held = (rowid, tuple(values))
        except sqlite3.DatabaseError:
            if held is not None:
                last = held[0]
                yield held[1]
            return last, True
        if held is not None:
            yield held[1]
        return last, False

    def _execute(self, asked: str, *given: int) -> Iterator[tuple[Any, ...]]:
        number = 0
        try:
            for row in self._connection.execute(asked, given):
                number += 1
                yield row
        except sqlite3.DatabaseError:
            yield from self._connection.execute(f"{asked} LIMIT 1 OFFSET {number}", given)
            raise

    def _last_rowid(self, table: str, low: int) -> int:
        for index in self._connection.execute(f'PRAGMA index_list("{table}")').fetchall():
            # A partial index is refused.
            with suppress(sqlite3.DatabaseError):
                asked = f'SELECT max(rowid) FROM "{table}" INDEXED BY "{index[1]}"'
                if (last := self._connection.execute(asked).fetchone()[0]) is not None:
                    return int(last)
        return low + _IDS_BEYOND

    def _read_by_key(self, shape: TableShape, what: str) -> Iterator[Values]:
        last: Values | None = None
        for order in ("ASC", "DESC"):
            names = ", ".join(f'"{shape.names[place]}" {order}' for place in shape.key)
            try:
                for values in self._execute(f'SELECT {what} FROM "{shape.table}" ORDER BY {names}'):
                    key = tuple(values[place] for place in shape.key)
                    if order == "DESC" and key == last:
                        return
                    last = key if order == "ASC" else last
                    yield tuple(values)
            except sqlite3.DatabaseError:
                self._hurt.add(shape.table)
            else:
                return
