"""Label events: they are only appended and read, never changed or removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from uuid_utils import uuid7

from workbench.core.database.hashes import ChangedRow, digest
from workbench.core.database.values import now
from workbench.core.label import EventKind, LabelEvent, Task
from workbench.core.progress import stepping

# -- Integrity of label events: a digest is stored with each, which detects damage of the file but not forgery.


COLUMNS: Final = (
    "uuid, kind, task, subject, annotator_id, round, verdict, exclusion_reason, subtype, unsure, flagged, tags, "
    "partial, note, supersedes, seen, unblinded, guideline, schema, content_hash, open_ms, focused_ms, wait_ms, keys, "
    "view, created_at, merged"
)
"""Columns that an event's digest covers: all its data."""


def changed_events(connection: Connection) -> Iterator[ChangedRow]:
    total = connection.execute("SELECT count(*) FROM label_events").fetchone()[0]
    rows = connection.execute(f"SELECT id, digest, {COLUMNS} FROM label_events ORDER BY id")
    for number, stored, *values in stepping(rows, "checking label events", "events", total):
        found = digest(values)
        if found is None or found != stored:
            yield ChangedRow(number, found)


Connection = sqlite3.Connection
Refused = sqlite3.IntegrityError
"""Raised by ``append`` when the database rejects an event."""
ANSWERS: tuple[EventKind, ...] = ("label", "check", "repeat")
"""Kinds of events that answer an assigned item: a label, or the answer to a check or repeat."""
_NAMES: Final = COLUMNS.split(", ")
_INSERT = f"INSERT INTO label_events ({COLUMNS}, digest) VALUES ({', '.join('?' * 28)})"


def new_uuid() -> str:
    return str(uuid7())


def new_event(kind: EventKind, task: Task, subject: int, annotator: int, **said: Any) -> LabelEvent:
    """Return an event with a new uuid, made now unless ``created_at`` is given."""
    given = {"uuid": new_uuid(), "created_at": now(), **said}
    return LabelEvent(kind=kind, task=task, subject=subject, annotator=annotator, **given)


def append(connection: sqlite3.Connection, event: LabelEvent) -> None:
    """Add one event.

    Raises:
        Refused: The uuid exists already, or the adjudicator is one of the item's annotators.
    """
    row = msgspec.structs.asdict(event) | {
        "annotator_id": event.annotator,
        "tags": _json_list(event.tags),
        "seen": _json_list(event.seen),
        "partial": None if event.partial is None else float(event.partial),
    }
    values = [int(row[name]) if isinstance(row[name], bool) else row[name] for name in _NAMES]
    connection.execute(_INSERT, (*values, digest(values)))


def _json_list(codes: tuple[str, ...]) -> str | None:
    return msgspec.json.encode(codes).decode() if codes else None


def events_of(connection: sqlite3.Connection, task: Task, subject: int) -> list[LabelEvent]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM label_events WHERE task = ? AND subject = ? ORDER BY id", (task, subject)
    )
    return [_event(row) for row in rows]


def events_by_time(
    connection: sqlite3.Connection, *, completion: int | None = None, annotator: int | None = None
) -> Iterator[LabelEvent]:
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM label_events WHERE (?1 IS NULL OR (task = 'correctness' AND subject = ?1) OR "
        "(task = 'type' AND subject = (SELECT question_id FROM completions WHERE id = ?1))) "
        "AND (?2 IS NULL OR annotator_id = ?2) ORDER BY created_at, uuid",
        (completion, annotator),
    )
    return (_event(row) for row in rows)


def by_uuid(connection: sqlite3.Connection, uuid: str) -> LabelEvent | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM label_events WHERE uuid = ?", (uuid,)).fetchone()
    return None if row is None else _event(row)


def uuids(connection: sqlite3.Connection) -> set[str]:
    return {uuid for (uuid,) in connection.execute("SELECT uuid FROM label_events")}


def round_of(connection: sqlite3.Connection, task: Task, subject: int) -> int:
    row: tuple[int] = connection.execute(
        "SELECT coalesce(max(round), 1) FROM label_events WHERE task = ? AND subject = ? AND kind = 'reopen'",
        (task, subject),
    ).fetchone()
    return row[0]


IN_FORCE = (
    "NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.task = e.task AND x.subject = e.subject "
    "AND x.annotator_id = e.annotator_id AND x.supersedes = e.uuid)"
)
"""SQL condition: no other event of the same person supersedes the event with the alias e."""
OF_THIS_ROUND = (
    "e.round = coalesce((SELECT max(r.round) FROM label_events AS r WHERE r.task = e.task AND r.subject = e.subject "
    "AND r.kind = 'reopen'), 1)"
)
"""SQL condition: the event with the alias e belongs to the current round."""
LONGEST_LOOK = (
    "(SELECT max({0}) FROM label_events AS look WHERE look.task = e.task AND look.subject = e.subject "
    "AND look.annotator_id = e.annotator_id AND look.kind = e.kind AND look.round = e.round)"
)
"""SQL expression: the longest time (such as ``look.focused_ms``) that the author of the event with the alias e viewed
the item in its round. A label and its quick correction are thus one decision, not two of which one is fast.
"""
FLAG_STANDS = (
    "f.kind = 'flag' AND f.flagged AND NOT EXISTS (SELECT 1 FROM label_events AS o WHERE o.kind = 'flag' "
    "AND o.subject = f.subject AND o.annotator_id = f.annotator_id AND (o.created_at, o.uuid) > (f.created_at, f.uuid))"
)
"""SQL condition: the event with the alias f is a flag that its author has not removed."""


def current_of(
    connection: sqlite3.Connection, task: Task, subject: int, annotator: int, kind: EventKind = "label"
) -> LabelEvent | None:
    row = connection.execute(
        f"SELECT {COLUMNS} FROM label_events AS e WHERE task = ? AND subject = ? AND annotator_id = ? "
        f"AND kind = ? AND round = ? AND {IN_FORCE} ORDER BY created_at DESC, uuid DESC LIMIT 1",
        (task, subject, annotator, kind, round_of(connection, task, subject)),
    ).fetchone()
    return None if row is None else _event(row)


def count_own(connection: sqlite3.Connection, annotator: int, kind: EventKind) -> int:
    """Return how many current events of a kind an annotator made; labels of answer types are not counted."""
    row: tuple[int] = connection.execute(
        f"SELECT count(*) FROM label_events AS e WHERE e.annotator_id = ? AND e.kind = ? AND {IN_FORCE} "
        "AND (e.kind <> 'label' OR e.task = 'correctness')",
        (annotator, kind),
    ).fetchone()
    return row[0]


def count_settled(connection: sqlite3.Connection, annotator: int) -> int:
    """Return the number of an annotator's current adjudications of conflicts, without accepted answer types."""
    return count_own(connection, annotator, "adjudication") - count_accepted(connection, annotator)


def count_accepted(connection: sqlite3.Connection, annotator: int) -> int:
    """Return how many suggested answer types an annotator has accepted: current adjudications of types of questions
    that fewer than two annotators labelled."""
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM label_events AS e WHERE e.annotator_id = ? AND e.kind = 'adjudication' "
        f"AND e.task = 'type' AND {IN_FORCE} AND (SELECT count(DISTINCT l.annotator_id) FROM label_events AS l "
        "WHERE l.task = 'type' AND l.subject = e.subject AND l.kind = 'label') < 2",
        (annotator,),
    ).fetchone()
    return row[0]


_GIVEN = "coalesce((SELECT o.id FROM label_events AS o WHERE o.uuid = json_extract(e.seen, '$[0]')), e.id)"
"""SQL expression that orders labels by time; a label restored by an undo has the time of its original."""


def undoable(connection: sqlite3.Connection, annotator: int, kind: EventKind = "label") -> list[LabelEvent]:
    """Return the events that an undo retracts: an annotator's newest current event, and the event of the other task
    that was stored together with it.

    Events before a reopening can't be undone. The kind "label" includes answers to checks and repeats.
    """
    given = _GIVEN if kind == "label" else "e.id"
    kinds = ANSWERS if kind == "label" else (kind,)
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM label_events AS e WHERE annotator_id = ? AND kind IN (SELECT value FROM json_each(?)) "
        f"AND {IN_FORCE} AND {OF_THIS_ROUND} ORDER BY {given} DESC LIMIT 2",
        (annotator, _json_list(kinds)),
    ).fetchall()
    newest = [_event(row) for row in rows]
    given_at = {_original(connection, event).created_at for event in newest}
    return newest if len(given_at) == 1 and _concern_one_item(connection, newest) else newest[:1]


def _concern_one_item(connection: sqlite3.Connection, newest: list[LabelEvent]) -> bool:
    subjects = {event.task: event.subject for event in newest}
    if len(subjects) < 2:
        return False
    found: tuple[int] | None = connection.execute(
        "SELECT question_id FROM completions WHERE id = ?", (subjects["correctness"],)
    ).fetchone()
    return found == (subjects["type"],)


def _original(connection: sqlite3.Connection, event: LabelEvent) -> LabelEvent:
    if event.kind == "adjudication":
        undone = _same_annotators_event(connection, event, event.supersedes) if event.supersedes else None
        before = (
            _same_annotators_event(connection, event, undone.supersedes)
            if undone is not None and undone.supersedes
            else None
        )
        again = before is not None and event == msgspec.structs.replace(
            before, uuid=event.uuid, created_at=event.created_at, supersedes=event.supersedes, merged=event.merged
        )
        return _original(connection, before) if before is not None and again else event
    repeated = (
        _same_annotators_event(connection, event, event.seen[0]) if event.seen and event.kind in ANSWERS else None
    )
    return repeated or event


def _same_annotators_event(connection: sqlite3.Connection, event: LabelEvent, uuid: str) -> LabelEvent | None:
    found = by_uuid(connection, uuid)
    same = found is not None and (found.annotator, *subject_of(found)) == (event.annotator, *subject_of(event))
    return found if same else None


def subject_of(event: LabelEvent) -> tuple[Task, int]:
    return event.task, event.subject


def previous_event(connection: sqlite3.Connection, event: LabelEvent) -> LabelEvent | None:
    """Return the label or decision that was current before an event; None if there was none. A label that an undo
    restored counts as the original."""
    original = _original(connection, event)
    before = _same_annotators_event(connection, event, original.supersedes) if original.supersedes else None
    return before if before is not None and before.kind in (*ANSWERS, "adjudication") else None


def undo_event(event: LabelEvent, earlier: LabelEvent | None, created_at: str) -> LabelEvent:
    if earlier is not None:
        return msgspec.structs.replace(
            earlier,
            uuid=new_uuid(),
            supersedes=event.uuid,
            created_at=created_at,
            seen=earlier.seen or (earlier.uuid,),
            merged=False,
        )
    fields = {"created_at": created_at, "round": event.round, "supersedes": event.uuid}
    return new_event("retraction", event.task, event.subject, event.annotator, **fields)


def all_events(connection: sqlite3.Connection, after: int = 0, last: int = 2**63 - 1) -> Iterator[LabelEvent]:
    """Yield the events with row ids above ``after`` and up to ``last``, in the order in which they were stored."""
    asked = f"SELECT {COLUMNS} FROM label_events WHERE id > ? AND id <= ? ORDER BY id"
    return map(_event, connection.execute(asked, (after, last)))


def was_revealed(
    connection: sqlite3.Connection, annotator: int, task: Task, subject: int, *, ignoring: str = ""
) -> bool:
    """Return whether an annotator has viewed gold, verdicts or others' labels of a completion or question.

    Args:
        ignoring: A kind of view that is ignored.
    """
    row = connection.execute(
        "SELECT 1 FROM label_events WHERE task = ? AND subject = ? AND annotator_id = ? AND kind = 'reveal' "
        "AND coalesce(view, '') <> ?",
        (task, subject, annotator, ignoring),
    )
    return row.fetchone() is not None


def has_seen(connection: sqlite3.Connection, annotator: int, task: Task, subject: int, what: str) -> bool:
    row = connection.execute(
        "SELECT 1 FROM label_events WHERE task = ? AND subject = ? AND annotator_id = ? AND kind = 'reveal' "
        "AND view = ?",
        (task, subject, annotator, what),
    )
    return row.fetchone() is not None


def _event(row: tuple[object, ...]) -> LabelEvent:
    values = dict(zip(_NAMES, row, strict=True))
    values["annotator"] = values.pop("annotator_id")
    for name in ("seen", "tags"):
        values[name] = msgspec.json.decode(str(values[name])) if values[name] else ()
    return msgspec.convert(values, LabelEvent, strict=False)
