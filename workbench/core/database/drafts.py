"""Notes a person has begun and not submitted."""

from __future__ import annotations

import sqlite3

from workbench.core.database.people import now


def keep(connection: sqlite3.Connection, annotator: int, completion: int, note: str) -> None:
    """Keep a note; an empty one drops it."""
    if not note:
        drop(connection, annotator, completion)
        return
    connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)", (annotator, completion, note, now()))


def drop(connection: sqlite3.Connection, annotator: int, completion: int, until: str | None = None) -> None:
    """Forget a note: its label has been stored.

    Args:
        until: When the label was given; a note begun later stays.
    """
    connection.execute(
        "DELETE FROM drafts WHERE annotator_id = ?1 AND completion_id = ?2 AND (?3 IS NULL OR updated_at <= ?3)",
        (annotator, completion, until),
    )


def of(connection: sqlite3.Connection, annotator: int, completion: int) -> str:
    """The note a person had begun on a completion; empty without one."""
    row = connection.execute(
        "SELECT note FROM drafts WHERE annotator_id = ? AND completion_id = ?", (annotator, completion)
    ).fetchone()
    return row[0] if row else ""
