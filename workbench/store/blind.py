"""What an annotator's session may read: enforced by SQLite itself, not by the screen.

The connection carries an authorizer that denies every table and column but those listed here; a person's own
events and slots are reached through temporary views. No query on it can return another person's label, a
verdict, the model's name, the imported gold or the imported answer type. (Who can read the file can read all
of it with another program: blinding holds inside the app.)
"""

from __future__ import annotations

import secrets
import sqlite3
from functools import partial
from pathlib import Path

from workbench.store.connection import open_connection

READABLE: dict[str, frozenset[str]] = {
    "datasets": frozenset({"id", "name", "types"}),
    "questions": frozenset({"id", "dataset_id", "key", "hash"}),
    "question_text": frozenset({"id", "text", "reference"}),
    "completions": frozenset({"id", "question_id", "key", "hash"}),
    "completion_text": frozenset({"id", "text"}),
}
"""Table -> columns a blind connection may read."""

_OWN = {
    "own_events": "label_events",
    "own_slots": "assignments",
    "own_drafts": "drafts",
}
"""View of a person's own rows -> the table it shows a part of."""

_ALLOWED_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def open_blind(path: Path, annotator: int) -> sqlite3.Connection:
    """A read-only connection for one annotator's session."""
    connection = open_connection(path)
    guards = {}
    for view, table in _OWN.items():
        # The authorizer is told only the name of the view or WITH table it is in: a secret name can't be borrowed.
        guard = f"guard_{secrets.token_hex(16)}"
        guards[guard] = table
        rows = f"SELECT * FROM main.{table} WHERE annotator_id = {int(annotator)}"
        connection.execute(f"CREATE TEMP VIEW {guard} AS {rows}")
        connection.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM {guard}")
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(partial(_authorize, guards))
    return connection


def _authorize(
    guards: dict[str, str],
    action: int,
    first: str | None,
    second: str | None,
    _database: str | None,
    inside: str | None,
) -> int:
    if action in _ALLOWED_ACTIONS:
        return sqlite3.SQLITE_OK
    if action != sqlite3.SQLITE_READ or first is None:
        return sqlite3.SQLITE_DENY
    readable = (
        first in _OWN
        or first in guards
        or (inside is not None and guards.get(inside) == first)
        or (first in READABLE and (second == "" or second in READABLE[first]))
    )
    return sqlite3.SQLITE_OK if readable else sqlite3.SQLITE_DENY
