"""Derived states in the words of files: what two databases with the same items and events have in common."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

_TASKS = """SELECT t.task, d.name, q.key, c.key, t.state, t.verdict, t.subtype, t.reason, t.decided_by, t.round
    FROM task_states AS t LEFT JOIN completions AS c ON t.task = 'correctness' AND c.id = t.subject
    JOIN questions AS q ON q.id = coalesce(c.question_id, t.subject) JOIN datasets AS d ON d.id = q.dataset_id
    ORDER BY 1, 2, 3, 4"""
_ITEMS = """SELECT 'item', d.name, q.key, c.key, i.state, i.gold, i.gold_from, i.subtype, i.reason
    FROM item_states AS i JOIN completions AS c ON c.id = i.completion_id
    JOIN questions AS q ON q.id = c.question_id JOIN datasets AS d ON d.id = q.dataset_id ORDER BY 2, 3, 4"""


def states(connection: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Every derived state, by task and by item: data set, question, completion, then what it is."""
    yield from connection.execute(_TASKS)
    yield from connection.execute(_ITEMS)
