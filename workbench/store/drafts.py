"""Notes a person has begun and not submitted."""

from __future__ import annotations

import sqlite3

from workbench.store.people import now


def keep(connection: sqlite3.Connection, annotator: int, completion: int, note: str) -> None:
    """Keep a note; an empty one drops it."""
    if not note:
        drop(connection, annotator, completion)
        return
    connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)", (annotator, completion, note, now()))


def drop(connection: sqlite3.Connection, annotator: int, completion: int) -> None:
    """Forget a note: its label has been stored."""
    connection.execute("DELETE FROM drafts WHERE annotator_id = ? AND completion_id = ?", (annotator, completion))


def of(connection: sqlite3.Connection, annotator: int, completion: int) -> str:
    """The note a person had begun on a completion; empty without one."""
    row = connection.execute(
        "SELECT note FROM drafts WHERE annotator_id = ? AND completion_id = ?", (annotator, completion)
    ).fetchone()
    return row[0] if row else ""
