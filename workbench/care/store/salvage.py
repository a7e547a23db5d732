"""Reads a damaged file with SQLite as far as possible, table by table, so that one error does not hide others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
_IDS_BEYOND: Final = 100_000
"""Row ids tried after the last known one."""


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
    """The tables of the schema.

    Attributes:
        tables: The tables by name, including SQLite's own.
    """

    def __init__(self) -> None:
        with closing(migrations.template().in_memory()) as connection:
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
        """Yield a table's rows as far as they can be read: from both ends, then by their ids; some come twice."""
        shape = self._schema.tables[table]
        there = set()
        with suppress(sqlite3.DatabaseError):
            there = {row[1] for row in self._connection.execute(f'PRAGMA table_info("{table}")')}
        if not there:
            self._hurt.add(table)
            return
        what = ", ".join(f'"{name}"' if name in there else "NULL" for name in shape.names)
        asked = f'SELECT {"rowid" if shape.by_rowid else "0"}, {what} FROM "{table}" NOT INDEXED'
        last = 0
        for order, step in (("ASC", 1), ("DESC", -1)):
            names = ["rowid"] if shape.by_rowid else [shape.names[place] for place in shape.key]
            keys = [f'"{name}" {order}' for name in names]
            before = None
            try:
                for rowid, *values in self._execute(f"{asked} ORDER BY {', '.join(keys)}"):
                    # A row out of order is on a page of another table or place.
                    if shape.by_rowid and before is not None and (rowid - before) * step <= 0:
                        raise sqlite3.DatabaseError
                    before, last = rowid, max(last, rowid)
                    yield tuple(values)
            except sqlite3.DatabaseError:
                self._hurt.add(table)
            else:
                return
        if shape.by_rowid:
            yield from self._rows_by_id(f"{asked} WHERE rowid = ?", last)

    def _execute(self, asked: str) -> Iterator[tuple[Any, ...]]:
        number = 0
        try:
            for row in self._connection.execute(asked):
                number += 1
                yield row
        except sqlite3.DatabaseError:
            # Python reads a row ahead, and loses the last one before the damage.
            yield from self._connection.execute(f"{asked} LIMIT 1 OFFSET {number}")
            raise

    def _rows_by_id(self, asked: str, last: int) -> Iterator[Values]:
        number = 0
        while number <= last + _IDS_BEYOND:
            number += 1
            with suppress(sqlite3.DatabaseError):
                row = self._connection.execute(asked, (number,)).fetchone()
                if row is not None and row[0] == number:
                    last = max(last, number)
                    yield row[1:]
