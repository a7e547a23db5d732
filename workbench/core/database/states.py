"""States of tasks and items, derived from label events. They are updated after every event, and can be recomputed."""

from __future__ import annotations

import sqlite3

from workbench.core.database.connection import Database
from workbench.core.database.events import IN_FORCE, OF_THIS_ROUND
from workbench.core.database.selection import hidden_item, shown_item
from workbench.core.database.values import as_record
from workbench.core.label import ItemState, Task, TaskState

_BEARS = "kind IN ('label', 'adjudication', 'retraction', 'reopen', 'exclusion') OR supersedes IS NOT NULL"
"""SQL condition: events that may change a state."""


def put_task(connection: sqlite3.Connection, task: Task, subject: int, state: TaskState) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO task_states (task, subject, state, verdict, subtype, reason, decided_by, round) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (task, subject, state.state, state.verdict, state.subtype, state.reason, state.decided_by, state.round),
    )


def get_task(connection: sqlite3.Connection, task: Task, subject: int) -> TaskState:
    row = connection.execute(
        "SELECT state, verdict, subtype, reason, decided_by, round FROM task_states WHERE task = ? AND subject = ?",
        (task, subject),
    ).fetchone()
    if row is None:
        return TaskState(state="unlabelled")
    return as_record(TaskState, row)


def put_item(connection: sqlite3.Connection, completion: int, state: ItemState) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO item_states (completion_id, state, gold, gold_from, subtype, reason) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (completion, state.state, state.gold, state.gold_from, state.subtype, state.reason),
    )


def assigned_count(connection: sqlite3.Connection, task: Task, subject: int) -> int:
    """Return how many annotators a completion or question was assigned to in the current round."""
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM assignments WHERE task = ? AND subject = ? AND purpose = 'quota' AND state <> 'past'",
        (task, subject),
    ).fetchone()
    return row[0]


def question_of(connection: sqlite3.Connection, completion: int) -> tuple[int, bool]:
    """Return the row id of a completion's question, and whether annotators label the answer types of its data set."""
    row = connection.execute(
        "SELECT q.id, d.types = 'labelled' FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
        (completion,),
    ).fetchone()
    return int(row[0]), bool(row[1])


def completions_of(connection: sqlite3.Connection, question: int) -> list[int]:
    return [row[0] for row in connection.execute("SELECT id FROM completions WHERE question_id = ?", (question,))]


def subjects_with_events(connection: sqlite3.Connection) -> list[tuple[Task, int]]:
    every = f"SELECT DISTINCT task, subject FROM label_events WHERE {_BEARS} ORDER BY task, subject"
    return connection.execute(every).fetchall()


def count_without_events(connection: sqlite3.Connection) -> int:
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM task_states AS s WHERE s.state <> 'unlabelled' AND NOT EXISTS ("
        f"SELECT 1 FROM label_events AS e WHERE e.task = s.task AND e.subject = s.subject AND ({_BEARS}))"
    ).fetchone()
    return row[0]


def items(connection: sqlite3.Connection) -> set[int]:
    return {row[0] for row in connection.execute("SELECT completion_id FROM item_states")}


def get_item(connection: sqlite3.Connection, completion: int) -> ItemState:
    row = connection.execute(
        "SELECT state, gold, gold_from, subtype, reason FROM item_states WHERE completion_id = ?", (completion,)
    ).fetchone()
    if row is None:
        return ItemState(state="unlabelled")
    return as_record(ItemState, row)


def current_labellers(connection: sqlite3.Connection, task: Task, subject: int) -> list[int]:
    rows = connection.execute(
        "SELECT DISTINCT e.annotator_id FROM label_events AS e WHERE e.task = ? AND e.subject = ? "
        f"AND e.kind = 'label' AND {IN_FORCE} AND {OF_THIS_ROUND}",
        (task, subject),
    )
    return [row[0] for row in rows]


def clear_states(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM task_states")
    connection.execute("DELETE FROM item_states")


def count_visible_items(connection: sqlite3.Connection) -> int:
    # SQLite counts all rows of a table page by page; with a condition on each row it takes ten times as long.
    row: tuple[int] = connection.execute(
        f"SELECT (SELECT count(*) FROM completions) - (SELECT count(*) FROM completions WHERE {hidden_item('id')})"
    ).fetchone()
    return row[0]


def count_by_state(database: Database) -> dict[str, int]:
    reader = database.reader()
    found = dict(
        reader.execute(
            f"SELECT state, count(*) FROM item_states WHERE {shown_item('completion_id')} GROUP BY state"
        ).fetchall()
    )
    states = {name: int(found.get(name, 0)) for name in ("labelled", "conflict", "final", "excluded")}
    return {"unlabelled": count_visible_items(reader) - sum(states.values()), **states}
