"""SQL of the conflict queue: items and questions on which annotators disagree, for a person who didn't label them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from workbench.core.database.events import IN_FORCE, by_uuid
from workbench.core.database.selection import FROM_ITEMS, compile_selection
from workbench.core.label import LabelEvent, Task
from workbench.core.selection import Selection

_LABELLED = (
    "EXISTS (SELECT 1 FROM label_events AS l WHERE l.task = t.task AND l.subject = t.subject "
    "AND l.annotator_id = {person} AND l.kind = 'label' AND l.round {round} t.round)"
)
_NAMED = (
    "EXISTS (SELECT 1 FROM assignments AS a JOIN batches AS b ON b.id = a.batch_id "
    "WHERE a.task = t.task AND a.subject = t.subject AND {whom})"
)
_ANYBODY = "b.adjudicator_id IS NOT NULL AND NOT " + _LABELLED.format(person="b.adjudicator_id", round="=")

# A batch that names an adjudicator leaves its conflicts to that person, unless they labelled the item
# themselves. The first condition is evaluated once: most databases name no adjudicator, and no slot is read then.
_LEFT_TO_OTHERS = (
    "EXISTS (SELECT 1 FROM batches WHERE adjudicator_id IS NOT NULL) "
    f"AND {_NAMED.format(whom=_ANYBODY)} AND NOT {_NAMED.format(whom='b.adjudicator_id = ?1')}"
)

# The type of a question whose items are all excluded needs no decision.
_NEEDED = (
    "(t.task = 'correctness' OR EXISTS (SELECT 1 FROM completions AS c JOIN item_states AS i "
    "ON i.completion_id = c.id WHERE c.question_id = t.subject AND i.state <> 'excluded'))"
)
_OPEN = (
    "FROM task_states AS t WHERE t.state = 'conflict' "
    f"AND NOT {_LABELLED.format(person='?1', round='=')} AND NOT ({_LEFT_TO_OTHERS}) AND {_NEEDED}"
)

# First what a batch left to this person; last what they labelled in an earlier round, on which they have an opinion;
# else in order of the subjects' first events. Another order (such as the most doubtful first) would go here. CASE:
# with AND, SQLite would evaluate both sides.
_ORDER = (
    "ORDER BY CASE WHEN EXISTS (SELECT 1 FROM batches WHERE adjudicator_id = ?1) "
    f"THEN {_NAMED.format(whom='b.adjudicator_id = ?1')} ELSE 0 END DESC, "
    f"CASE WHEN t.round > 1 THEN {_LABELLED.format(person='?1', round='<')} ELSE 0 END, "
    "(SELECT min(e.id) FROM label_events AS e WHERE e.task = t.task AND e.subject = t.subject) LIMIT ?2"
)

WAITING = f"SELECT t.task, t.subject {_OPEN} {_ORDER}"
COUNT = f"SELECT count(*) {_OPEN}"
IS_OPEN = f"SELECT 1 {_OPEN} AND t.task = ?2 AND t.subject = ?3"
_SAID = (
    "SELECT e.task, e.subject, e.annotator_id, e.created_at, e.uuid, coalesce(e.verdict, e.subtype), "
    f"coalesce(e.exclusion_reason, '') FROM (SELECT t.task, t.subject, t.round {_OPEN}) AS q JOIN label_events AS e ON "
    f"e.task = q.task AND e.subject = q.subject AND e.round = q.round WHERE e.kind = 'label' AND {IN_FORCE}"
)


class ConflictingLabel(NamedTuple):
    uuid: str
    value: str
    reason: str


def waiting(
    connection: sqlite3.Connection, person: int, skipped: frozenset[tuple[str, int]]
) -> tuple[Task, int] | None:
    for task, subject in connection.execute(WAITING, (person, len(skipped) + 1)):
        if (task, subject) not in skipped:
            return task, subject
    return None


def is_open_to(connection: sqlite3.Connection, person: int, task: Task, subject: int) -> bool:
    return connection.execute(IS_OPEN, (person, task, subject)).fetchone() is not None


def count(connection: sqlite3.Connection, person: int) -> int:
    return int(connection.execute(COUNT, (person,)).fetchone()[0])


def conflicting_labels(connection: sqlite3.Connection, person: int) -> dict[tuple[Task, int], list[ConflictingLabel]]:
    heads: dict[tuple[Task, int], dict[int, tuple[str, ConflictingLabel]]]
    heads = {(task, subject): {} for task, subject in connection.execute(WAITING, (person, -1))}
    for task, subject, maker, created_at, *label in connection.execute(_SAID, (person,)):
        makers = heads.setdefault((task, subject), {})
        given = created_at, ConflictingLabel(*label)
        # Two labels in force of one person after a merge: the newer one counts.
        makers[maker] = max(given, makers.get(maker, given))
    return {key: [label for _, label in makers.values()] for key, makers in heads.items()}


def subjects(connection: sqlite3.Connection, task: Task, selection: Selection) -> set[int]:
    where, parameters = compile_selection(selection)
    column = "c.id" if task == "correctness" else "c.question_id"
    return {row[0] for row in connection.execute(f"SELECT {column} FROM {FROM_ITEMS} WHERE {where}", parameters)}


def a_completion(connection: sqlite3.Connection, task: Task, subject: int) -> int:
    if task == "correctness":
        return subject
    row: tuple[int] = connection.execute("SELECT min(id) FROM completions WHERE question_id = ?", (subject,)).fetchone()
    return row[0]


def flaggers(connection: sqlite3.Connection, completion: int) -> set[int]:
    rows: Iterable[tuple[int, int]] = connection.execute(
        "SELECT annotator_id, flagged FROM label_events WHERE task = 'correctness' AND subject = ? AND kind = 'flag' "
        "ORDER BY created_at, uuid",
        (completion,),
    )
    return {person for person, flagged in dict(rows).items() if flagged}


def decisions_of(connection: sqlite3.Connection, person: int, limit: int) -> list[tuple[LabelEvent, str, bool]]:
    """Return a person's decisions that are not superseded, newest first.

    Returns:
        The event, the beginning of its question, and whether the item still is as decided.
    """
    rows = connection.execute(
        "SELECT e.uuid, substr(qt.text, 1, 200), t.decided_by = 'adjudicated' AND t.round = e.round AND "
        "coalesce(t.verdict, t.subtype) = coalesce(e.verdict, e.subtype) FROM label_events AS e JOIN question_text AS "
        "qt ON qt.id = CASE e.task WHEN 'type' THEN e.subject ELSE (SELECT c.question_id FROM completions AS c WHERE "
        "c.id = e.subject) END LEFT JOIN task_states AS t ON t.task = e.task AND t.subject = e.subject WHERE "
        f"e.annotator_id = ? AND e.kind = 'adjudication' AND {IN_FORCE} ORDER BY e.id DESC LIMIT ?",
        (person, limit),
    ).fetchall()
    found = [(by_uuid(connection, uuid), question, bool(stands)) for uuid, question, stands in rows]
    return [(event, question, stands) for event, question, stands in found if event is not None]


BULK = "bulk"
"""The ``view`` of a decision that resolved many conflicts at once."""


def decided_together(connection: sqlite3.Connection, event: LabelEvent) -> list[str]:
    if event.view != BULK:
        return [event.uuid]
    rows = connection.execute(
        "SELECT e.uuid FROM label_events AS e WHERE e.annotator_id = ? AND e.kind = 'adjudication' AND e.view = ? "
        f"AND e.created_at = ? AND {IN_FORCE} ORDER BY e.id",
        (event.annotator, BULK, event.created_at),
    )
    return [row[0] for row in rows]
