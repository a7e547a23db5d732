"""Identity of a database copy, and changes to it since its columns were cached.

Every file gets a random name when it is created, copied or restored, so that cached columns or a runner of another copy
are not taken for its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

_NAME_DIGITS = 32


def draw(connection: sqlite3.Connection) -> None:
    """Give the file a new name; a runner of another copy no longer works on it."""
    connection.execute("DELETE FROM generation")
    connection.execute(
        "INSERT INTO generation (id, name, writes) VALUES (1, 'workbench-generation ' || hex(randomblob(16)), 0)"
    )
    connection.execute("DELETE FROM runner")


def name_anew(path: Path) -> None:
    """Give a closed copy a new name, as one file without a log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")
        copy.execute("BEGIN IMMEDIATE")
        draw(copy)
        copy.execute("COMMIT")


def name(connection: sqlite3.Connection) -> str:
    row = connection.execute("SELECT name FROM generation").fetchone()
    return "" if row is None else row[0][-_NAME_DIGITS:]


# -- Changes since the columns were cached: versions, and the ranges of changed rows.


class ChangeMark(NamedTuple):
    """A point in a database's history of changes; it is unique across databases."""

    version: int
    token: bytes


class Change(NamedTuple):
    """Rows that may have changed: items (no run) or verdicts of a run, by completion row id."""

    run: int | None
    first: int
    last: int

    @property
    def span(self) -> tuple[int, int]:
        return self.first, self.last


_MAX_GAP = 500
"""Distance of items from which they are noted as separate ranges, so that rows in between are not read again."""


def note(connection: sqlite3.Connection, run: int, items: Iterable[int]) -> None:
    """Record that verdicts of a run on these items were added or removed, in the caller's transaction."""
    connection.executemany(
        "INSERT INTO changes (run_id, first_id, last_id) VALUES (?, ?, ?)",
        [(run, first, last) for first, last in ranges((item, item) for item in items)],
    )


def note_items(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Record that items in a range of row ids are new without an import, in the caller's transaction."""
    connection.execute("INSERT INTO changes (first_id, last_id) VALUES (?, ?)", (first, last))


def ranges(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges of rows, first and last, in order; nearby ones are merged."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first - joined[-1][1] <= _MAX_GAP:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def mark(connection: sqlite3.Connection) -> ChangeMark:
    """Return the current point in the history; if another program has emptied it, everything counts as changed."""
    row = connection.execute("SELECT version, token FROM changes ORDER BY version DESC LIMIT 1").fetchone()
    return ChangeMark(*(row or (0, b"")))


def since(connection: sqlite3.Connection, known: ChangeMark) -> list[Change] | None:
    """Return the changes after a mark, in order; None if the mark belongs to another history or is too old."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is None or row[0] != known.token:
        return None
    rows = connection.execute(
        "SELECT run_id, first_id, last_id FROM changes WHERE version > ? ORDER BY version", (known.version,)
    )
    return [Change(*row) for row in rows]


def has(connection: sqlite3.Connection, known: ChangeMark) -> bool:
    """Return whether a mark is of this history, or older than the recorded history."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is not None:
        return bool(row[0] == known.token)
    return known.version < int(connection.execute("SELECT coalesce(min(version), 0) FROM changes").fetchone()[0])
