"""Rows that stand for lost ones, so that what refers to them is kept: labels first of all."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from workbench.care.store.pages import Value

Connection = sqlite3.Connection
Known = Mapping[int, Mapping[str, Value]]

LOST: Final = "(lost)"
"""What stands for a text that is lost."""

_WHEN: Final = "1970-01-01T00:00:00.000000Z"

_STAND_INS: Final[dict[str, dict[str, Value]]] = {
    "datasets": {"name": "lost-{id}", "created_at": _WHEN},
    "sources": {"name": "lost-{id}"},
    "models": {"name": "lost-{id}"},
    "annotators": {"name": "lost-{id}", "created_at": _WHEN},
    "questions": {"dataset_id": 1, "key": "lost-{id}", "hash": b""},
    "question_text": {"text": LOST, "reference": LOST},
    "completions": {"question_id": 0, "key": "lost-{id}", "hash": b""},
    "completion_text": {"text": LOST},
    "imports": {
        "dataset_id": 1,
        "path": "lost-{id}",
        "format": "lost",
        "state": "complete",
        "first_completion_id": 2**62,
        "first_question_id": 2**62,
        "started_at": _WHEN,
    },
    "batches": {"per_item": 1, "selection": "lost", "created_at": _WHEN},
    "verifiers": {
        "name": "lost-{id}",
        "kind": "lost",
        "config": "{}",
        "config_hash": "lost-{id}",
        "created_at": _WHEN,
    },
    "runs": {
        "verifier_id": 1,
        "version": "lost-{id}",
        "selection": "lost",
        "workers": 1,
        "state": "failed",
        "items": 0,
        "message": "What was asked for is lost.",
        "created_at": _WHEN,
    },
    "requests": {"hash": b"lost-{id}", "profile": "lost", "model": "lost", "body": b"{}"},
    "suites": {"dataset_id": 1, "name": "lost-{id}", "origin": "imported", "created_at": _WHEN},
}
"""Table -> what a row of it says that nobody can read any more; its own id is put in."""


def can_stand_in(table: str) -> bool:
    """Whether there are rows that can stand for lost ones of a table."""
    return table in _STAND_INS


def stand_in(connection: Connection, table: str, ids: Iterable[int], known: Known) -> int:
    """Put in rows for those that are lost, with what is known of them; returns how many.

    Args:
        known: What the table's indexes still tell, by row id.
    """
    count = 0
    beyond: int = connection.execute("SELECT coalesce(max(id), 0) FROM questions").fetchone()[0]
    for number in ids:
        row: dict[str, Value] = {name: _filled(value, number) for name, value in _STAND_INS[table].items()}
        row |= {**known.get(number, {}), "id": number}
        if row.get("question_id") == 0:
            # Nobody knows what it answered: a question of its own.
            row["question_id"] = beyond + number
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" * len(row))
        count += connection.execute(
            f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', list(row.values())
        ).rowcount
    return count


def _filled(value: Value, number: int) -> Value:
    if isinstance(value, str):
        return value.replace("{id}", str(number))
    return value.replace(b"{id}", str(number).encode()) if isinstance(value, bytes) else value
