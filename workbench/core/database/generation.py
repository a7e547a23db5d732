"""The identity of a database file, and the record of its changes since its columns were cached.

Every database file gets a random name when it is created, copied or restored, so that cached columns and the runner of
another copy are not mistaken for its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

_NAME_DIGITS = 32


def rename_database(connection: sqlite3.Connection) -> None:
    """Give the database a new random name, and drop its runner, which belongs to another copy."""
    connection.execute("DELETE FROM generation")
    connection.execute(
        "INSERT INTO generation (id, name, writes) VALUES (1, 'workbench-generation ' || hex(randomblob(16)), 0)"
    )
    connection.execute("DELETE FROM runner")


def rename_copy(path: Path) -> None:
    """Give a closed copy a new random name, and leave it as one file without a log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("BEGIN IMMEDIATE")
        rename_database(copy)
        copy.execute("COMMIT")


def name(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT name FROM generation").fetchone()
    return "" if row is None else row[0][-_NAME_DIGITS:]


# -- Changes since the columns were cached: versions, and the ranges of changed rows.


class ChangeMark(NamedTuple):
    """A point in a database's history of changes. Points of different databases are never equal."""

    version: int
    token: bytes


class Change(NamedTuple):
    """A range of completion row ids whose rows may have changed: items (``run`` is None), or verdicts of a run."""

    run: int | None
    first: int
    last: int

    @property
    def span(self) -> tuple[int, int]:
        return self.first, self.last


_MAX_GAP = 500
"""Row ids that are further apart than this are recorded as separate ranges, so that rows in between aren't reread."""


def note_verdicts(connection: sqlite3.Connection, run: int, items: Iterable[int]) -> None:
    """Record, in the caller's transaction, that verdicts of a run on these items were added or removed."""
    connection.executemany(
        "INSERT INTO changes (run_id, first_id, last_id) VALUES (?, ?, ?)",
        [(run, first, last) for first, last in ranges((item, item) for item in items)],
    )


def note_items(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Record, in the caller's transaction, that items in a range of row ids were added by other means
    than an import.
    """
    connection.execute("INSERT INTO changes (first_id, last_id) VALUES (?, ?)", (first, last))


def ranges(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort ranges of row ids, each a first and a last id, and merge those that are near each other."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first - joined[-1][1] <= _MAX_GAP:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def mark(connection: sqlite3.Connection) -> ChangeMark:
    """Return the current point in the history. If another program has emptied the history, the mark differs from all
    earlier ones, so that everything counts as changed."""
    row = connection.execute("SELECT version, token FROM changes ORDER BY version DESC LIMIT 1").fetchone()
    return ChangeMark(*(row or (0, b"")))


def changes_since(connection: sqlite3.Connection, known: ChangeMark) -> list[Change] | None:
    """Return the changes after a mark, in order; None if the mark is from another database or older than the record."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is None or row[0] != known.token:
        return None
    rows = connection.execute(
        "SELECT run_id, first_id, last_id FROM changes WHERE version > ? ORDER BY version", (known.version,)
    )
    return [Change(*row) for row in rows]


def has_mark(connection: sqlite3.Connection, known: ChangeMark) -> bool:
    """Return whether a mark is from this database; also True if it is older than the recorded changes."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is not None:
        return bool(row[0] == known.token)
    return known.version < int(connection.execute("SELECT coalesce(min(version), 0) FROM changes").fetchone()[0])
