"""SQL of agreement: labels in force by person, and their items or questions."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

from workbench.core.database.events import IN_FORCE, LONGEST_LOOK, OF_THIS_ROUND
from workbench.core.database.selection import COLUMNS, items_sql
from workbench.core.label import Task

GROUPS = ("type", "subtype", "domain", "source", "dataset")
"""Fields by which agreement can be grouped."""

_VALUE: dict[Task, str] = {"correctness": "verdict", "type": "subtype"}
_QUESTION: dict[Task, str] = {
    "correctness": "(SELECT c.question_id FROM completions AS c WHERE c.id = e.subject)",
    "type": "e.subject",
}

_NO_CHECK: dict[Task, str] = {
    "correctness": "e.subject NOT IN (SELECT completion_id FROM check_items)",
    "type": "EXISTS (SELECT 1 FROM completions AS c WHERE c.question_id = e.subject "
    "AND c.id NOT IN (SELECT completion_id FROM check_items))",
}
"""Condition that leaves checks out of agreement, and questions whose items are all checks."""

_LOOKED = LONGEST_LOOK.format("look.focused_ms")


class Label(NamedTuple):
    """A person's label in force.

    Attributes:
        subject: Row id of the completion (correctness) or the question (type).
        annotator: Row id of the person.
        value: The verdict, or the subtype code.
        unblinded: Whether the person had seen gold, verdicts or others' labels before.
        focused_ms: Milliseconds of their longest view; -1 if unknown.
        created_at: Time of the label.
    """

    subject: int
    annotator: int
    value: str
    unblinded: int
    focused_ms: int
    created_at: str


def labels(connection: sqlite3.Connection, task: Task, *, latest: bool = False) -> list[Label]:
    """Return all labels in force of one round, ordered by item or question and person.

    Adjudications, repeats and checks are left out.

    If one person has two labels in force after a merge, the greater (created_at, uuid) counts.

    Args:
        latest: Whether to return labels of each item's current round instead of its first one.
    """
    value = _VALUE[task]
    rows = connection.execute(
        f"SELECT e.subject, e.annotator_id, e.{value}, e.unblinded, coalesce({_LOOKED}, -1), e.created_at "
        f"FROM label_events AS e WHERE e.task = ? AND e.kind = 'label' AND e.{value} IS NOT NULL "
        f"AND {IN_FORCE} AND {OF_THIS_ROUND if latest else 'e.round = 1'} AND {_NO_CHECK[task]} "
        "ORDER BY e.subject, e.annotator_id, e.created_at, e.uuid",
        (task,),
    )
    heads = {(row[0], row[1]): Label(*row) for row in rows}
    return list(heads.values())


def reopened(connection: sqlite3.Connection, task: Task) -> set[int]:
    rows = connection.execute("SELECT DISTINCT subject FROM label_events WHERE task = ? AND kind = 'reopen'", (task,))
    return {subject for (subject,) in rows}


def has_labels(connection: sqlite3.Connection, task: Task) -> bool:
    found = connection.execute("SELECT EXISTS (SELECT 1 FROM label_events WHERE task = ?)", (task,)).fetchone()
    return bool(found[0])


class AgreementSubject(NamedTuple):
    """A labelled item, or for the type task a question.

    Attributes:
        completion: Row id of a completion for display.
        question: Row id of its question.
        domain: Domain of its source; "" without one.
        type: Its answer type in force.
        group: Its group in the requested grouping; "" without a grouping.
        ruling: The adjudicator's decision; None without one.
        imported: The imported gold label or subtype; None without one.
    """

    completion: int
    question: int
    domain: str
    type: str
    group: str
    ruling: str | None
    imported: str | None


def subjects(connection: sqlite3.Connection, task: Task, by: str | None) -> dict[int, AgreementSubject]:
    texts = [COLUMNS["domain"], COLUMNS["type"], COLUMNS[by] if by else "''"]
    if task == "correctness":
        subject, shown = "c.id", "SELECT subject FROM label_events WHERE task = 'correctness' AND kind = 'label'"
        ruling = "t.verdict"
        imported = "CASE c.imported_gold WHEN 1 THEN 'correct' WHEN 0 THEN 'incorrect' END"
    else:
        subject, ruling, imported = "c.question_id", "t.subtype", "q.subtype"
        shown = (
            "SELECT min(id) FROM completions WHERE question_id IN "
            "(SELECT subject FROM label_events WHERE task = 'type' AND kind = 'label') GROUP BY question_id"
        )
    rows = connection.execute(
        f"SELECT {subject}, c.id, c.question_id, {', '.join(texts)}, {ruling}, {imported} "
        f"FROM {items_sql(*texts, imported)} LEFT JOIN task_states AS t ON t.task = ? AND t.subject = {subject} "
        f"AND t.decided_by = 'adjudicated' WHERE c.id IN ({shown})",
        (task,),
    )
    return {row[0]: AgreementSubject(*row[1:]) for row in rows}


def gold_origins(connection: sqlite3.Connection) -> dict[int, str]:
    """Map row ids of completions with gold from annotators to ``agreed`` or ``adjudicated``, and of those with a
    conflict to ``conflict``.
    """
    rows = connection.execute(
        "SELECT completion_id, CASE state WHEN 'conflict' THEN state ELSE gold_from END FROM item_states "
        "WHERE (gold IS NOT NULL AND state <> 'excluded') OR state = 'conflict'"
    )
    return dict(rows.fetchall())


def overlap(connection: sqlite3.Connection, task: Task) -> dict[int, int]:
    rows = connection.execute(
        "SELECT subject, count(*) FROM assignments WHERE task = ? AND purpose = 'quota' AND state <> 'past' "
        "GROUP BY subject",
        (task,),
    )
    return dict(rows.fetchall())


class Second(NamedTuple):
    """A person's label, the label or answer it is compared with, and the row id of the question."""

    annotator: int
    said: str
    expected: str
    question: int


def repeats(connection: sqlite3.Connection, task: Task) -> list[Second]:
    value = _VALUE[task]
    rows = connection.execute(
        f"SELECT e.annotator_id, e.{value}, (SELECT l.{value} FROM label_events AS l WHERE l.task = e.task AND "
        "l.subject = e.subject AND l.annotator_id = e.annotator_id AND l.kind = 'label' AND l.created_at < "
        "e.created_at AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.task = l.task AND x.subject = l.subject "
        "AND x.annotator_id = l.annotator_id AND x.supersedes = l.uuid AND x.created_at < e.created_at) ORDER BY "
        f"l.created_at DESC, l.uuid DESC LIMIT 1) AS before, {_QUESTION[task]} FROM label_events AS e WHERE e.task = ? "
        f"AND e.kind = 'repeat' AND e.unblinded = 0 AND e.{value} IS NOT NULL AND {IN_FORCE} AND before IS NOT NULL "
        "ORDER BY e.id",
        (task,),
    )
    return [Second(*row) for row in rows]


def checks(connection: sqlite3.Connection) -> list[Second]:
    rows = connection.execute(
        "SELECT e.annotator_id, e.verdict, k.verdict, c.question_id FROM label_events AS e JOIN check_items AS k ON "
        "k.completion_id = e.subject JOIN completions AS c ON c.id = e.subject WHERE e.task = 'correctness' AND e.kind "
        f"= 'check' AND e.unblinded = 0 AND e.verdict IS NOT NULL AND {IN_FORCE} ORDER BY e.id"
    )
    return [Second(*row) for row in rows]
