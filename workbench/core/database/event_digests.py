"""Whether label events are what was given: a digest beside each, against decay of the file, not against forgery."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from workbench.core.database.hashes import content_hash
from workbench.core.health import Finding
from workbench.core.progress import stepping

Connection = sqlite3.Connection

COLUMNS: Final = (
    "uuid, kind, task, subject, annotator_id, round, verdict, exclusion_reason, subtype, unsure, flagged, tags, "
    "partial, note, supersedes, seen, unblinded, guideline, schema, content_hash, open_ms, focused_ms, wait_ms, keys, "
    "view, created_at, merged"
)
"""What a digest covers: all that an event says, as it is stored."""

_NAMED: Final = 3
SINCE: Final = 10
"""Version of the schema that has it first."""


class ChangedEvent(NamedTuple):
    """An event that is not what was given.

    Attributes:
        hash: What its digest would have to be; None where there can't be one.
    """

    id: int
    hash: bytes | None


def digest(values: Sequence[object]) -> bytes | None:
    """The digest of an event's columns; None where one of them is no text any more."""
    try:
        return content_hash(values)
    except UnicodeEncodeError:
        return None


def changed(connection: Connection) -> Iterator[ChangedEvent]:
    """Events that are not what their digests say; none in a database of an older version."""
    if all(row[1] != "digest" for row in connection.execute("PRAGMA table_info(label_events)").fetchall()):
        return
    total = connection.execute("SELECT count(*) FROM label_events").fetchone()[0]
    rows = connection.execute(f"SELECT id, digest, {COLUMNS} FROM label_events ORDER BY id")
    for number, stored, *values in stepping(rows, "checking label events", "events", total):
        found = digest(values)
        if found is None or found != stored:
            yield ChangedEvent(number, found)


def finding(connection: Connection) -> Finding:
    """What ``doctor`` says of them."""
    found = [one.id for one in changed(connection)]
    if not found:
        return Finding(name="labels", ok=True, message="ok: every label event is what was given")
    what = "label events are" if len(found) > 1 else "label event is"
    named = ", ".join(map(str, found[:_NAMED])) + (" …" if len(found) > _NAMED else "")
    message = f"{len(found):,} {what} not what was given (value, note, person, time, round …): row {named}"
    return Finding(name="labels", ok=False, message=message, remedy="rescue")
