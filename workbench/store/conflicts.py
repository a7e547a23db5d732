"""The conflict queue: subjects on which people disagree, for someone who is none of them."""

from __future__ import annotations

import sqlite3

from workbench.model.label import Task


def waiting(
    connection: sqlite3.Connection, person: int, skipped: frozenset[tuple[str, int]]
) -> tuple[Task, int] | None:
    """The first conflict this person may settle, in order of arrival of its last label; None when there is none.

    A batch that names an adjudicator leaves its items to that person. The type of a question whose items are all
    excluded needs no decision.
    """
    for task, subject in _open(connection, person):
        if (task, subject) not in skipped:
            return task, subject
    return None


def is_open_to(connection: sqlite3.Connection, person: int, task: Task, subject: int) -> bool:
    """Whether it is a conflict that this person may settle."""
    return (task, subject) in _open(connection, person)


def count(connection: sqlite3.Connection, person: int) -> int:
    """How many conflicts this person may settle."""
    return len(_open(connection, person))


def _open(connection: sqlite3.Connection, person: int) -> list[tuple[Task, int]]:
    return connection.execute(
        "SELECT t.task, t.subject FROM task_states AS t WHERE t.state = 'conflict' "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = t.task AND e.subject = t.subject "
        "AND e.annotator_id = ?1 AND e.kind = 'label') "
        "AND NOT EXISTS (SELECT 1 FROM assignments AS a JOIN batches AS b ON b.id = a.batch_id "
        "WHERE a.task = t.task AND a.subject = t.subject AND b.adjudicator_id IS NOT NULL "
        "AND b.adjudicator_id <> ?1) "
        "AND (t.task = 'correctness' OR EXISTS (SELECT 1 FROM completions AS c JOIN item_states AS i "
        "ON i.completion_id = c.id WHERE c.question_id = t.subject AND i.state <> 'excluded')) "
        "ORDER BY (SELECT max(id) FROM label_events AS e WHERE e.task = t.task AND e.subject = t.subject "
        "AND e.kind = 'label')",
        (person,),
    ).fetchall()


def a_completion(connection: sqlite3.Connection, task: Task, subject: int) -> int:
    """A completion that shows the subject: itself, or the first one of the question."""
    if task == "correctness":
        return subject
    row: tuple[int] = connection.execute("SELECT min(id) FROM completions WHERE question_id = ?", (subject,)).fetchone()
    return row[0]
