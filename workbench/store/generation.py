"""Which copy of a database a file is, and how many transactions have been written to it.

SQLite replays whatever log lies beside a file. So every file is given a name at random when it is made, copied or
restored, and every transaction counts itself beside that name: what stands in the log then tells which file, and which
state of it, the log belongs to (`store/logs.py`). Name and number have the same length always, so that they can be
found in a page without SQLite.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

_WORD = "workbench-generation "
_FIRST = 2**32
"""SQLite stores numbers from here to 2**47 in six bytes."""

SINCE = 9
"""Version of the schema that has it first."""

TABLE = """CREATE TABLE generation (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    writes INTEGER NOT NULL
) STRICT"""
BEGIN = f"INSERT INTO generation (id, name, writes) VALUES (1, '{_WORD}' || hex(randomblob(16)), {_FIRST})"

# A row as SQLite's record format has it: the header (its length, NULL for the row id, the kinds), then the values.
_RECORD = re.compile(
    re.escape(bytes((4, 0, 13 + 2 * (len(_WORD) + 32), 5)) + _WORD.encode()) + rb"([0-9A-F]{32})(.{6})", re.DOTALL
)


class Generation(NamedTuple):
    """What a file, or a transaction in its log, says of itself."""

    name: str
    writes: int

    @property
    def first(self) -> bool:
        """Whether nothing has been written since the name was drawn."""
        return self.writes == _FIRST


def count(connection: sqlite3.Connection) -> None:
    """Count the caller's transaction."""
    connection.execute("UPDATE generation SET writes = writes + 1")


def draw(connection: sqlite3.Connection) -> None:
    """Give the file a new name; no log of another copy is its own from then on, and no runner of one works on it.

    Older databases have none.
    """
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'generation'").fetchone():
        connection.execute("DELETE FROM generation")
        connection.execute(BEGIN)
        connection.execute("DELETE FROM runner")


def name_anew(path: Path) -> None:
    """Give a copy that nobody has open a generation of its own, as one file without a log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("BEGIN IMMEDIATE")
        draw(copy)
        copy.execute("COMMIT")


def read(connection: sqlite3.Connection) -> Generation | None:
    """What the database says, as far as this connection sees it; None where it is older than that."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'generation'").fetchone():
        return None
    row = connection.execute("SELECT substr(name, -32), writes FROM generation").fetchone()
    return None if row is None else Generation(*row)


def found_in(pages: bytes, *, last: bool = False) -> tuple[Generation, int] | None:
    """The first generation that stands in some pages, or the last, and where."""
    every = _RECORD.finditer(pages)
    found = next(every, None)
    if found is None:
        return None
    if last:
        *_, found = found, *every
    return Generation(found[1].decode(), int.from_bytes(found[2])), found.start()
