"""Reads the labels of another workbench database; nothing in it is executed, changed or trusted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.core.database.looking import readable
from workbench.core.database.selection import VISIBLE, VISIBLE_QUESTION
from workbench.core.label import LabelEvent, Task
from workbench.labelling.store import assignments

TABLES = (
    *("datasets", "questions", "question_text", "completions", "completion_text"),
    *("annotators", "label_events", "guidelines", "bundle_pass"),
)
"""Tables of another database that are read for its labels."""


class ForeignSubject(NamedTuple):
    """The names of a completion in its own database, or of a question if ``completion`` is None."""

    dataset: str
    question: str
    completion: str | None


class ForeignGuideline(NamedTuple):
    version: str
    text: str
    author: int
    created_at: str


def events(connection: sqlite3.Connection, columns: Sequence[str], longest: int) -> Iterator[dict[str, object]]:
    """Yield every row of ``label_events`` in order of arrival.

    Args:
        columns: The requested columns.
        longest: Maximum characters of a value; at most one character more is read.
    """
    # As bytes: for text, substr stops at a NUL.
    read = [f"substr(CAST({name} AS BLOB), 1, {4 * longest + 1:d})" if name in _LONG else name for name in columns]
    for row in connection.execute(f"SELECT {', '.join(read)} FROM label_events ORDER BY id"):
        found = dict(zip(columns, row, strict=True))
        for name in _LONG & found.keys():
            found[name] = readable(found[name])
        yield found


_LONG = {"note", "tags", "seen", "view"}


def subjects(connection: sqlite3.Connection) -> dict[tuple[Task, int], ForeignSubject]:
    completions = connection.execute(
        "SELECT c.id, d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id "
        "WHERE c.id IN (SELECT subject FROM label_events WHERE task = 'correctness')"
    )
    found: dict[tuple[Task, int], ForeignSubject] = {
        ("correctness", row[0]): ForeignSubject(*row[1:]) for row in completions
    }
    questions = connection.execute(
        "SELECT q.id, d.name, q.key FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        "WHERE q.id IN (SELECT subject FROM label_events WHERE task = 'type')"
    )
    return found | {("type", row[0]): ForeignSubject(row[1], row[2], None) for row in questions}


def people(connection: sqlite3.Connection) -> dict[int, tuple[object, object]]:
    return {row[0]: (row[1], row[2]) for row in connection.execute("SELECT id, name, role FROM annotators")}


def guidelines(connection: sqlite3.Connection, longest: int) -> list[ForeignGuideline]:
    rows = connection.execute(
        f"SELECT version, substr(CAST(text AS BLOB), 1, {4 * longest + 1:d}), author_id, created_at FROM guidelines "
        "ORDER BY version"
    )
    return [ForeignGuideline(version, readable(text) or "", *rest) for version, text, *rest in rows]


def bundle_ids(connection: sqlite3.Connection) -> list[object]:
    return [row[0] for row in connection.execute("SELECT bundle_id FROM bundle_pass LIMIT 2")]


_TEXTS = {
    "correctness": "SELECT CAST(qt.text AS BLOB), CAST(qt.reference AS BLOB), CAST(ct.text AS BLOB) FROM completions "
    "AS c JOIN question_text AS qt ON qt.id = c.question_id JOIN completion_text AS ct ON ct.id = c.id WHERE c.id = ?",
    "type": "SELECT CAST(qt.text AS BLOB), CAST(qt.reference AS BLOB) FROM question_text AS qt WHERE qt.id = ?",
}


def texts(connection: sqlite3.Connection, task: Task, subject: int) -> tuple[bytes, ...]:
    """Return the question, the reference and (for a completion) the completion as bytes; works on any database."""
    row: tuple[bytes, ...] | None = connection.execute(_TEXTS[task], (subject,)).fetchone()
    return row or ()


# -- The home side of a merge: matching items, and slots of labels from elsewhere.


_ITEM = (
    "SELECT c.id FROM completions AS c JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = "
    f"q.dataset_id WHERE c.key = ?3 AND q.key = ?2 AND d.name = ?1 AND {VISIBLE}"
)
_QUESTION = (
    "SELECT q.id FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id WHERE q.key = ?2 AND d.name = ?1 "
    f"AND {VISIBLE_QUESTION}"
)


def find(connection: sqlite3.Connection, item: ForeignSubject) -> int | None:
    try:
        if item.completion is None:
            row = connection.execute(_QUESTION, (item.dataset, item.question)).fetchone()
        else:
            row = connection.execute(_ITEM, item).fetchone()
    except UnicodeEncodeError:
        # A name that is not text matches nothing.
        return None
    return None if row is None else int(row[0])


def checks(connection: sqlite3.Connection) -> set[tuple[str, int, int]]:
    rows = connection.execute(
        "SELECT k.task, k.subject, k.slot FROM assignments AS k WHERE k.purpose = 'check' AND NOT EXISTS "
        "(SELECT 1 FROM assignments AS a WHERE a.annotator_id = k.slot AND a.task = k.task AND a.subject = k.subject "
        "AND a.purpose = 'quota' AND a.state <> 'past')"
    )
    return set(rows.fetchall())


def settle_slots(connection: sqlite3.Connection, task: Task, subject: int, labellers: Sequence[int]) -> list[int]:
    """Align the slots of an item or question with the people whose labels count.

    A person with a slot and a label has a done slot. A done slot without a label is open again. Open slots go to the
    remaining people with labels, in order. Slots leased to others stay leased.

    Returns:
        People left without a slot; empty if nothing is assigned.
    """
    quota = "task = ?1 AND subject = ?2 AND purpose = 'quota' AND state <> 'past'"
    slots = connection.execute(
        f"SELECT id, annotator_id, state FROM assignments WHERE {quota} ORDER BY slot", (task, subject)
    ).fetchall()
    if not slots:
        return []
    held = {person for _, person, _ in slots if person is not None}
    done = [slot for slot, person, state in slots if person in labellers and state != "done"]
    given_up = [slot for slot, person, state in slots if state == "done" and person not in labellers]
    opened = [slot for slot, _, state in slots if state == "open"] + given_up
    waiting = [person for person in labellers if person not in held]
    connection.executemany(
        "UPDATE assignments SET state = 'done', expires_at = NULL WHERE id = ?", [(slot,) for slot in done]
    )
    connection.executemany(
        "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL WHERE id = ?",
        [(slot,) for slot in given_up],
    )
    connection.executemany(
        "UPDATE assignments SET state = 'done', annotator_id = ? WHERE id = ?", zip(waiting, opened, strict=False)
    )
    return waiting[len(opened) :]


def settle_own_slots(connection: sqlite3.Connection, answers: Iterable[LabelEvent]) -> None:
    """Mark the check and repeat slots of these answers as done. An edited check without a slot would become a label.

    A check belongs to no round; a repeat of an earlier round doesn't fill a repeat slot of the next one.
    """
    for one in answers:
        place = one.task, one.subject, one.annotator
        if one.kind == "check" and not assignments.has_own(connection, "check", *place):
            assignments.open_own(connection, "check", *place, one.created_at)
    connection.executemany(
        "UPDATE assignments SET state = 'done', annotator_id = slot, expires_at = NULL WHERE task = ? AND subject = ? "
        "AND slot = ? AND purpose = ? AND (purpose = 'check' OR round = ?) AND state <> 'past'",
        [
            (one.task, one.subject, one.annotator, one.kind, one.round)
            for one in answers
            if one.kind in ("check", "repeat")
        ],
    )
