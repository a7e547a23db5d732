"""Databases without a row, each made once in a process: a new database begins as a copy of one.

A template holds the schema and nothing that tells one database from another. Whatever is a database's own is drawn
when it is made: its secret, its file's mark, the token of its first change, the times.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from workbench.core.database import generation, schema_added, schema_analysis
from workbench.core.database.schema_check import NAMES, quoted
from workbench.core.database.unlocked import OPENING

Connection = sqlite3.Connection

_DRAWN: Final = {"secrets": schema_added.SECRET, "changes": schema_analysis.FIRST_CHANGE}
"""The row that a table begins with, beside the file's mark, which `generation` draws."""


class SchemaTemplate(NamedTuple):
    """One version's.

    Attributes:
        content: The whole file.
        statements: Those that made it, in order.
    """

    content: bytes
    statements: tuple[str, ...]

    def in_memory(self) -> Connection:
        """A copy that is in no file; the caller closes it."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(self.content)
        return connection

    def write(self, path: Path) -> None:
        """Make a database of it that shares no value with another, where no file is yet."""
        with closing(self.in_memory()) as made:
            made.execute("BEGIN IMMEDIATE")
            _draw(made)
            made.execute("COMMIT")
            with OPENING:
                file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rwc", uri=True, isolation_level=None)
            with closing(file):
                made.backup(file)
                file.execute("PRAGMA journal_mode = WAL")


def built(make: Callable[[Connection], None]) -> SchemaTemplate:
    """A template of what is made of an empty database.

    Args:
        make: Makes it; what it puts into tables is left out.
    """
    statements: list[str] = []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # Nothing of what is taken out is left in the file.
        connection.execute("PRAGMA secure_delete = ON")
        connection.set_trace_callback(statements.append)
        connection.execute("BEGIN IMMEDIATE")
        make(connection)
        connection.set_trace_callback(None)
        # Tables' triggers write the numbers that SQLite keeps.
        for table in sorted(_tables(connection) - {NAMES}, key=lambda name: name.startswith("sqlite_")):
            connection.execute(f"DELETE FROM {quoted(table)}")
        connection.execute(f"UPDATE {NAMES} SET applied_at = NULL")
        connection.execute("COMMIT")
        return SchemaTemplate(connection.serialize(), tuple(statements))


def _draw(connection: Connection) -> None:
    for table in _DRAWN.keys() & _tables(connection):
        connection.execute(_DRAWN[table])
    generation.draw(connection)
    connection.execute(f"UPDATE {NAMES} SET applied_at = ?", (applied_at(),))


def applied_at() -> str:
    """The present, as the table of applied migrations has it."""
    return str(datetime.now(UTC))


def _tables(connection: Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
