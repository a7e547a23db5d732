"""Finds the items that lines of label files name by their ids."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from workbench.core.database.journal import SubjectPlace
from workbench.core.database.selection import VISIBLE, VISIBLE_QUESTION


def find_completions(
    connection: sqlite3.Connection, completion: str, question: str | None, dataset: str | None
) -> list[tuple[int, int, str, str]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id JOIN "
        "datasets AS d ON d.id = q.dataset_id WHERE c.key = ?1 AND (?2 IS NULL OR q.key = ?2) AND (?3 IS NULL OR "
        f"d.name = ?3) AND {VISIBLE} LIMIT 2",
        (completion, question, dataset),
    )
    return rows.fetchall()


def find_questions(connection: sqlite3.Connection, question: str, dataset: str | None) -> list[tuple[int, str]]:
    rows = connection.execute(
        "SELECT q.id, d.name FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        f"WHERE q.key = ?1 AND (?2 IS NULL OR d.name = ?2) AND {VISIBLE_QUESTION} LIMIT 2",
        (question, dataset),
    )
    return rows.fetchall()


def completion_places(
    connection: sqlite3.Connection, completions: list[int]
) -> Iterator[tuple[int, int, SubjectPlace]]:
    rows = connection.execute(
        "SELECT c.id, q.id, d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
        "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id IN (SELECT value FROM json_each(?)) ORDER BY c.id",
        (json.dumps(completions),),
    )
    return ((row[0], row[1], SubjectPlace(*row[2:])) for row in rows)
