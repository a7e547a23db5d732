"""What has changed since a copy of the columns was made: versions, and the ranges of rows behind them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple


class ChangeMark(NamedTuple):
    """A point in a database's history of changes; two databases never share one."""

    version: int
    token: bytes


class Change(NamedTuple):
    """Rows that may differ from what they were: items (no run) or verdicts of a run, by completion row id."""

    run: int | None
    first: int
    last: int

    @property
    def span(self) -> tuple[int, int]:
        """First and last row id."""
        return self.first, self.last


_APART = 500
"""Items further apart than this are noted as separate ranges: what lies between them need not be read again."""


def note(connection: sqlite3.Connection, run: int, items: Iterable[int]) -> None:
    """Note that verdicts of a run on these items came or went, in the caller's transaction."""
    connection.executemany(
        "INSERT INTO changes (run_id, first_id, last_id) VALUES (?, ?, ?)",
        [(run, first, last) for first, last in ranges((item, item) for item in items)],
    )


def note_items(connection: sqlite3.Connection, first: int, last: int) -> None:
    """Note that items from one row id to another are new without an import, in the caller's transaction."""
    connection.execute("INSERT INTO changes (first_id, last_id) VALUES (?, ?)", (first, last))


def ranges(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of rows, first and last, in order; those that lie close together become one."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(found):
        if joined and first - joined[-1][1] <= _APART:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def mark(connection: sqlite3.Connection) -> ChangeMark:
    """Where the history stands."""
    return ChangeMark(
        *connection.execute("SELECT version, token FROM changes ORDER BY version DESC LIMIT 1").fetchone()
    )


def since(connection: sqlite3.Connection, known: ChangeMark) -> list[Change] | None:
    """What has changed after a mark, in order; None where the mark is not of this history, or too old to tell."""
    row = connection.execute("SELECT token FROM changes WHERE version = ?", (known.version,)).fetchone()
    if row is None or row[0] != known.token:
        return None
    rows = connection.execute(
        "SELECT run_id, first_id, last_id FROM changes WHERE version > ? ORDER BY version", (known.version,)
    )
    return [Change(*row) for row in rows]
