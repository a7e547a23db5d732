"""What the records of each table and index look like, so that a page can be told by what is on it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from typing import Final, NamedTuple

from workbench.care.store.pages import Values
from workbench.core.database import migrations

Connection = sqlite3.Connection

_ADDED: Final = re.compile(r"ALTER TABLE (\w+) ADD COLUMN")
_MADE: Final = re.compile(r"CREATE TABLE (\w+)")
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (int, float),
    "TEXT": (str,),
    "BLOB": (bytes,),
    "": (int, float, str, bytes),
}


DERIVED: Final = frozenset(
    {"task_states", "item_states", "changes", "generation", "runner", "verdict_cache", "sqlite_sequence"}
)
"""Tables that follow from the rest, are about the file itself, or are found again: nothing is lost with them."""


class RecordColumn(NamedTuple):
    """One column of a record; ``kinds`` are the types its values have."""

    name: str
    kinds: tuple[type, ...]
    may_lack: bool


class RecordShape(NamedTuple):
    """A table's records.

    Attributes:
        columns: In the order in which a record has them: without row ids, those of the key come first.
        fewest: Columns that even the oldest record has: others were added to the table later.
        by_rowid: Whether its rows have row ids.
        alias: Which column is the row id under a name, and NULL in the record; None where there is no such.
    """

    table: str
    columns: tuple[RecordColumn, ...]
    fewest: int
    by_rowid: bool
    alias: int | None

    def fits(self, values: Values) -> bool:
        """Whether values can be a record of the table, by their number and types."""
        if not self.fewest <= len(values) <= len(self.columns):
            return False
        for place, (value, column) in enumerate(zip(values, self.columns, strict=False)):
            if value is None:
                if not column.may_lack and place != self.alias:
                    return False
            elif place == self.alias or not isinstance(value, column.kinds):
                return False
        return True

    def row(self, rowid: int | None, values: Values) -> Values:
        """The values as SQL has them."""
        if self.alias is None:
            return values
        return (*values[: self.alias], rowid, *values[self.alias + 1 :])

    def names(self, count: int) -> list[str]:
        """The first columns by name."""
        return [column.name for column in self.columns[:count]]


class IndexShape(NamedTuple):
    """An index on a table with row ids; its records are the columns and then the row id.

    Attributes:
        partial: Whether it holds some rows only.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    partial: bool


MASTER: Final = RecordShape(
    "sqlite_master",
    (
        RecordColumn("type", (str,), may_lack=False),
        RecordColumn("name", (str,), may_lack=False),
        RecordColumn("tbl_name", (str,), may_lack=False),
        RecordColumn("rootpage", (int,), may_lack=False),
        RecordColumn("sql", (str,), may_lack=True),
    ),
    fewest=5,
    by_rowid=True,
    alias=None,
)
"""SQLite's own list of tables."""


class Schema:
    """The tables and indexes of one version of the schema.

    Attributes:
        tables: By name, SQLite's own and the list of migrations among them.
        indexes: By name, those that SQLite makes by itself among them.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self._template = migrations.template(version)
        with closing(self._template.in_memory()) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            self.tables = {name: _shape(connection, name, _added(self._template.statements, name)) for name in names}
            self.indexes = {
                index.name: index
                for name in names
                if self.tables[name].by_rowid
                for index in _indexes(connection, name)
            }

    def scratch(self) -> Connection:
        """An empty database with these tables and no triggers, in memory, to try rows on."""
        connection = self._template.in_memory()
        without_triggers(connection)
        return connection


def without_triggers(connection: Connection) -> list[str]:
    """Drop all triggers; returns the statements that make them again."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in found:
        connection.execute(f'DROP TRIGGER "{name}"')
    return [statement for _, statement in found]


def _shape(connection: Connection, table: str, added: int) -> RecordShape:
    options = connection.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,))
    by_rowid = not options.fetchone()[0]
    found = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    if not by_rowid:
        found.sort(key=lambda row: (row[5] == 0, row[5] or row[0]))
    keys = [row for row in found if row[5]]
    is_alias = by_rowid and len(keys) == 1 and keys[0][2].upper() == "INTEGER"
    columns = tuple(RecordColumn(row[1], _KINDS.get(row[2].upper(), _KINDS[""]), not row[3]) for row in found)
    alias = found.index(keys[0]) if is_alias else None
    return RecordShape(table, columns, len(columns) - added, by_rowid, alias)


def _added(statements: Iterable[str], table: str) -> int:
    """How many columns a table was given after it was made last."""
    count = 0
    for statement in statements:
        if (made := _MADE.match(statement)) and made[1] == table:
            count = 0
        elif (added := _ADDED.match(statement)) and added[1] == table:
            count += 1
    return count


def _indexes(connection: Connection, table: str) -> list[IndexShape]:
    found = []
    for _, name, _, _, partial in connection.execute(f'PRAGMA index_list("{table}")').fetchall():
        columns = tuple(row[2] for row in connection.execute(f'PRAGMA index_info("{name}")'))
        found.append(IndexShape(name, table, columns, bool(partial)))
    return found
