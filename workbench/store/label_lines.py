"""Label events in the words of label files: ids of items and names of people."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from workbench.model.label import LabelEvent
from workbench.store import events


def find_completions(
    connection: sqlite3.Connection, completion: str, question: str | None, dataset: str | None
) -> list[tuple[int, int, str, str]]:
    """Completions of that id, as (completion row, question row, dataset, question id); two are enough to refuse."""
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id "
        "WHERE c.key = ?1 AND (?2 IS NULL OR q.key = ?2) AND (?3 IS NULL OR d.name = ?3) "
        "AND c.id < (SELECT completion_id FROM horizon) LIMIT 2",
        (completion, question, dataset),
    )
    return rows.fetchall()


def all_events(connection: sqlite3.Connection) -> Iterator[tuple[LabelEvent, str, str, str, str]]:
    """Every event with its annotator's name, dataset, question id and completion id.

    An event of the type task carries the id of its question's first completion.
    """
    names = dict(connection.execute("SELECT id, name FROM annotators").fetchall())
    for event in events.every(connection):
        if event.task == "correctness":
            row = connection.execute(
                "SELECT d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
                "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
                (event.subject,),
            ).fetchone()
        else:
            row = connection.execute(
                "SELECT d.name, q.key, (SELECT c.key FROM completions AS c WHERE c.question_id = q.id ORDER BY c.id "
                "LIMIT 1) FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id WHERE q.id = ?",
                (event.subject,),
            ).fetchone()
        yield event, names[event.annotator], *row
