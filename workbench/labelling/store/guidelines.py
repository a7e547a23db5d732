"""SQL of the guidelines versions of a project."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from workbench.core.options import grouped


class StoredVersion(NamedTuple):
    version: str
    text: str
    author: str
    created_at: str


def every(connection: sqlite3.Connection) -> list[StoredVersion]:
    rows = connection.execute(
        "SELECT g.version, g.text, a.name, g.created_at FROM guidelines AS g "
        "JOIN annotators AS a ON a.id = g.author_id ORDER BY g.created_at, g.version"
    )
    return [StoredVersion(*row) for row in rows]


def times(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT version, created_at FROM guidelines ORDER BY created_at, version").fetchall()


def add(connection: sqlite3.Connection, version: str, text: str, author: int, created_at: str) -> None:
    connection.execute(
        "INSERT OR IGNORE INTO guidelines (version, text, author_id, created_at) VALUES (?, ?, ?, ?)",
        (version, text, author, created_at),
    )


def worked_under(connection: sqlite3.Connection, annotator: int) -> set[str]:
    rows = connection.execute(
        "SELECT DISTINCT guideline FROM label_events WHERE annotator_id = ? "
        "AND kind IN ('label', 'check', 'repeat', 'adjudication') AND guideline IS NOT NULL",
        (annotator,),
    )
    return {version for (version,) in rows}


def read_by(connection: sqlite3.Connection, annotator: int) -> set[str]:
    rows = connection.execute("SELECT version FROM guideline_readings WHERE annotator_id = ?", (annotator,))
    return {version for (version,) in rows}


def note_reading(connection: sqlite3.Connection, annotator: int, version: str, at: str) -> None:
    connection.execute("INSERT OR IGNORE INTO guideline_readings VALUES (?, ?, ?)", (annotator, version, at))


def readers(connection: sqlite3.Connection) -> dict[str, list[str]]:
    rows = connection.execute(
        "SELECT r.version, a.name FROM guideline_readings AS r JOIN annotators AS a ON a.id = r.annotator_id "
        "ORDER BY r.read_at, a.id"
    )
    return grouped(rows)
