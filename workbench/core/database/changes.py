"""The record of a database's changes, by which caches next to it read only what has changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple


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
    if not has_mark(connection, known):
        return None
    rows = connection.execute(
        "SELECT run_id, first_id, last_id FROM changes WHERE version > ? ORDER BY version", (known.version,)
    )
    return [Change(*row) for row in rows]


def has_mark(connection: sqlite3.Connection, known: ChangeMark) -> bool:
    """Return whether a mark is from this database, and not older than the record."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    return row is not None and row[0] == known.token
