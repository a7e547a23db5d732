"""The home side of a merge: which items are meant, and the slots of labels that came from elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from workbench.core.label import LabelEvent, Task
from workbench.labelling.store.foreign import ForeignSubject

_ITEM = (
    "SELECT c.id FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
    "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.key = ?3 AND q.key = ?2 AND d.name = ?1 "
    "AND c.id < (SELECT completion_id FROM horizon)"
)
_QUESTION = (
    "SELECT q.id FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id WHERE q.key = ?2 AND d.name = ?1 "
    "AND q.id < (SELECT question_id FROM horizon)"
)


def find(connection: sqlite3.Connection, item: ForeignSubject) -> int | None:
    """Row id of the completion or question that has these names here."""
    try:
        if item.completion is None:
            row = connection.execute(_QUESTION, (item.dataset, item.question)).fetchone()
        else:
            row = connection.execute(_ITEM, item).fetchone()
    except UnicodeEncodeError:
        # A name that is no text names nothing.
        return None
    return None if row is None else int(row[0])


def checks(connection: sqlite3.Connection) -> set[tuple[str, int, int]]:
    """(task, subject, person) of every check that is a person's, and their only slot there."""
    rows = connection.execute(
        "SELECT k.task, k.subject, k.slot FROM assignments AS k WHERE k.purpose = 'check' AND NOT EXISTS "
        "(SELECT 1 FROM assignments AS a WHERE a.annotator_id = k.slot AND a.task = k.task AND a.subject = k.subject "
        "AND a.purpose = 'quota' AND a.state <> 'past')"
    )
    return set(rows.fetchall())


def settle_slots(connection: sqlite3.Connection, task: Task, subject: int, labellers: Sequence[int]) -> list[int]:
    """Bring the slots of a subject's overlap in line with the people whose labels count.

    Whoever holds a slot and has a label has done it; a slot that is done without a label is open again; open slots
    go to the rest, in their order. Slots that are leased to others stay theirs.

    Returns:
        Those for whom no slot is left; none where nothing is assigned.
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
        "UPDATE assignments SET state = 'done', expires_at = NULL WHERE id = ?",
        [(slot,) for slot in done],
    )
    connection.executemany(
        "UPDATE assignments SET state = 'open', annotator_id = NULL, claimed_at = NULL, expires_at = NULL WHERE id = ?",
        [(slot,) for slot in given_up],
    )
    connection.executemany(
        "UPDATE assignments SET state = 'done', annotator_id = ? WHERE id = ?",
        zip(waiting, opened, strict=False),
    )
    return waiting[len(opened) :]


def settle_own_slots(connection: sqlite3.Connection, answers: Iterable[LabelEvent]) -> None:
    """The checks and repeats that were opened for these answers are done.

    A check belongs to no round; a repeat of a round that has ended answers none of the next one.
    """
    connection.executemany(
        "UPDATE assignments SET state = 'done', annotator_id = slot, expires_at = NULL WHERE task = ? AND subject = ? "
        "AND slot = ? AND purpose = ? AND (purpose = 'check' OR round = ?) AND state <> 'past'",
        [
            (one.task, one.subject, one.annotator, one.kind, one.round)
            for one in answers
            if one.kind in ("check", "repeat")
        ],
    )
