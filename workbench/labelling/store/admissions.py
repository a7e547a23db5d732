"""Stores hashes of the links and logins of browsers, never the secrets themselves."""

from __future__ import annotations

import sqlite3
from typing import Literal

from workbench.core.database.values import now

Kind = Literal["link", "login"]


def add(connection: sqlite3.Connection, kind: Kind, digest: bytes, annotator: int, expires_at: float) -> None:
    connection.execute(
        "INSERT INTO admissions (hash, kind, annotator_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)",
        (digest, kind, annotator, now(), expires_at),
    )


def linked(connection: sqlite3.Connection, digest: bytes, at: float) -> tuple[int, str] | None:
    """Return row id and name of the person of an unused link; None for other links, or if the person is paused."""
    row: tuple[int, str] | None = connection.execute(
        "SELECT a.id, a.name FROM admissions AS l JOIN annotators AS a ON a.id = l.annotator_id "
        "WHERE l.hash = ? AND l.kind = 'link' AND l.expires_at >= ? AND a.paused_at IS NULL",
        (digest, at),
    ).fetchone()
    return row


def logged_in(connection: sqlite3.Connection, digest: bytes, at: float) -> str | None:
    row = connection.execute(
        "SELECT a.name FROM admissions AS l JOIN annotators AS a ON a.id = l.annotator_id "
        "WHERE l.hash = ? AND l.kind = 'login' AND l.expires_at >= ?",
        (digest, at),
    ).fetchone()
    return None if row is None else str(row[0])


def drop(connection: sqlite3.Connection, digest: bytes) -> None:
    connection.execute("DELETE FROM admissions WHERE hash = ?", (digest,))


def drop_links(connection: sqlite3.Connection, annotator: int) -> None:
    connection.execute("DELETE FROM admissions WHERE annotator_id = ? AND kind = 'link'", (annotator,))


def drop_all(connection: sqlite3.Connection, annotator: int) -> int:
    return connection.execute("DELETE FROM admissions WHERE annotator_id = ?", (annotator,)).rowcount


def drop_expired(connection: sqlite3.Connection, at: float) -> None:
    connection.execute("DELETE FROM admissions WHERE expires_at < ?", (at,))
