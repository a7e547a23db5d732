"""Versions of the guidelines that a project's people have written."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class StoredVersion(NamedTuple):
    """One text, with who wrote it and when; it is never changed."""

    version: str
    text: str
    author: str
    created_at: str


def every(connection: sqlite3.Connection) -> list[StoredVersion]:
    """All texts, oldest first."""
    rows = connection.execute(
        "SELECT g.version, g.text, a.name, g.created_at FROM guidelines AS g "
        "JOIN annotators AS a ON a.id = g.author_id ORDER BY g.created_at, g.version"
    )
    return [StoredVersion(*row) for row in rows]


def times(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Name and time of every version, oldest first."""
    return connection.execute("SELECT version, created_at FROM guidelines ORDER BY created_at, version").fetchall()


def add(connection: sqlite3.Connection, version: str, text: str, author: int, created_at: str) -> None:
    """Store a new version; one that is there already stays as it is."""
    connection.execute(
        "INSERT OR IGNORE INTO guidelines (version, text, author_id, created_at) VALUES (?, ?, ?, ?)",
        (version, text, author, created_at),
    )
