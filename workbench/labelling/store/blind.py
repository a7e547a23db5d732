"""Restricts what an annotator's session may read, enforced by SQLite itself, not by the screen.

The connection carries an authorizer that denies every table and column but those listed here; a person's own events and
slots are available through temporary views. No query on it can return another person's label, a verdict, the model's
name, the imported gold or the imported answer type. (Anyone who can read the file can read all of it with another
program: blinding holds only inside the app.)
"""

from __future__ import annotations

import secrets
import sqlite3
from functools import partial

from workbench.core.database.connection import Database

READABLE: dict[str, frozenset[str]] = {
    "datasets": frozenset({"id", "name", "types"}),
    "questions": frozenset({"id", "dataset_id", "key", "hash"}),
    "question_text": frozenset({"id", "text", "reference"}),
    "completions": frozenset({"id", "question_id", "key", "hash"}),
    "completion_text": frozenset({"id", "text"}),
}
"""Table -> columns a blind connection may read."""

_IN_SIGHT = (
    "NOT EXISTS (SELECT 1 FROM main.assignments AS s WHERE s.annotator_id = {{person}} AND s.task = {0}.task "
    "AND s.subject = {0}.subject AND s.state = 'leased' AND s.opened_at > {0}.created_at)"
)

_OWN: dict[str, tuple[frozenset[str], str]] = {
    # Checks and repeats look like any label; earlier answers to an item that is served again (a repeat, a
    # new round) are hidden as long as it is open.
    "own_events": (
        frozenset({"label_events", "assignments"}),
        "SELECT e.id, e.uuid, CASE WHEN e.kind IN ('repeat', 'check') THEN 'label' ELSE e.kind END AS kind, e.task, "
        "e.subject, e.verdict, e.exclusion_reason, e.subtype, e.unsure, e.flagged, e.tags, e.partial, e.note, "
        "e.supersedes, e.guideline, e.created_at FROM main.label_events AS e WHERE e.annotator_id = {person} "
        f"AND {_IN_SIGHT.format('e')}",
    ),
    # The coordinator's answers to the person's own flags, and to no one else's.
    "own_answers": (
        frozenset({"label_events", "assignments", "json_each"}),
        "SELECT r.uuid, r.subject, coalesce(f.note, '') AS asked, r.note, r.created_at, EXISTS (SELECT 1 FROM "
        "main.label_events AS h, json_each(h.seen) AS k WHERE h.kind = 'reveal' AND h.task = 'correctness' AND "
        "h.subject = f.subject AND h.annotator_id = {person} AND k.value = r.uuid) AS heard, NOT EXISTS (SELECT 1 FROM "
        "main.label_events AS o WHERE o.kind = 'flag' AND o.subject = f.subject AND o.annotator_id = {person} AND "
        "(o.created_at, o.uuid) > (f.created_at, f.uuid)) AS stands FROM main.label_events AS f JOIN main.label_events "
        "AS r ON r.kind = 'answer' AND r.subject = f.subject JOIN json_each(r.seen) AS n ON n.value = f.uuid WHERE "
        f"f.kind = 'flag' AND f.annotator_id = {{person}} AND {_IN_SIGHT.format('f')}",
    ),
    "own_slots": (
        frozenset({"assignments"}),
        "SELECT task, subject, state FROM main.assignments WHERE annotator_id = {person}",
    ),
    "own_drafts": (frozenset({"drafts"}), "SELECT completion_id, note FROM main.drafts WHERE annotator_id = {person}"),
}
"""View of a person's own rows -> the tables it reads, and its query."""

_ALLOWED_ACTIONS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def open_blind(database: Database, annotator: int) -> sqlite3.Connection:
    connection = database.open()
    guards = {}
    for view, (tables, query) in _OWN.items():
        # The authorizer gets only the name of the view or WITH table: a secret name can't be guessed.
        guard = f"guard_{secrets.token_hex(16)}"
        guards[guard] = tables
        connection.execute(f"CREATE TEMP VIEW {guard} AS {query.format(person=int(annotator))}")
        connection.execute(f"CREATE TEMP VIEW {view} AS SELECT * FROM {guard}")
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(partial(_authorize, guards))
    return connection


def _authorize(
    guards: dict[str, frozenset[str]],
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
        or (inside is not None and first in guards.get(inside, ()))
        or (first in READABLE and (second == "" or second in READABLE[first]))
    )
    return sqlite3.SQLITE_OK if readable else sqlite3.SQLITE_DENY
