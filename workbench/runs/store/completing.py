"""Read the questions that models write completions for, and store the new completions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from workbench.core.database import changes
from workbench.core.database.selection import dataset_names, shown_question
from workbench.core.errors import StoreError, UsageError
from workbench.core.item import ItemRecord
from workbench.data.store.item_rows import ItemInserter
from workbench.llm.dialects import reread
from workbench.llm.records import CallFailed, FailureCode, Reply
from workbench.runs.store import calls

_IDS: Final = "(SELECT value FROM json_each(?))"


class QuestionText(Struct, frozen=True):
    id: int
    key: str
    text: str


class WrittenCompletion(Struct, frozen=True, kw_only=True):
    """A completion that a model wrote.

    Attributes:
        question: Row id.
        key: The completion's id, unique within the question.
        extra: JSON object of additional data.
    """

    question: int
    key: str
    text: str
    model: str
    extra: str


class FailedKey(Struct, frozen=True):
    """The number of a request's failed attempts in a run, with code and HTTP status of the last one."""

    attempts: int
    code: FailureCode
    status: int | None


def dataset_questions(connection: sqlite3.Connection, name: str) -> list[int]:
    """Return row ids of all questions of a dataset, in the order of import.

    Raises:
        UsageError: There is no such dataset.
    """
    row = connection.execute("SELECT id FROM datasets WHERE name = ?", (name,)).fetchone()
    if row is None:
        known = dataset_names(connection)
        raise UsageError(f"There is no data set {name!r}.", f"There are: {', '.join(known) or 'none yet'}.")
    rows = connection.execute(
        f"SELECT id FROM questions WHERE dataset_id = ? AND {shown_question('id')} ORDER BY id", row
    )
    return [question for (question,) in rows]


def hold_code(connection: sqlite3.Connection, questions: Sequence[int]) -> bool:
    """Return whether some of the questions are code problems, whose solutions are more than texts."""
    row = connection.execute(
        f"SELECT 1 FROM code_problems WHERE question_id IN {_IDS} LIMIT 1", (json.dumps(questions),)
    )
    return row.fetchone() is not None


def texts(connection: sqlite3.Connection, questions: Sequence[int]) -> list[QuestionText]:
    rows = connection.execute(
        "SELECT q.id, q.key, t.text FROM questions AS q JOIN question_text AS t ON t.id = q.id "
        f"WHERE q.id IN {_IDS} ORDER BY q.id",
        (json.dumps(questions),),
    )
    return [QuestionText(*row) for row in rows]


def keys_of(connection: sqlite3.Connection, questions: Sequence[int], model: str) -> set[tuple[int, str]]:
    rows = connection.execute(
        "SELECT question_id, key FROM completions "
        f"WHERE question_id IN {_IDS} AND model_id = (SELECT id FROM models WHERE name = ?)",
        (json.dumps(questions), model),
    )
    return set(rows.fetchall())


def truncated(connection: sqlite3.Connection, questions: Sequence[int], model: str) -> int:
    """Return how many completions of a model for these questions were truncated at their maximum length."""
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM completions AS c JOIN completion_text AS t ON t.id = c.id JOIN questions AS q ON q.id = "
        f"c.question_id WHERE c.question_id IN {_IDS} AND c.model_id = (SELECT id FROM models WHERE name = ?) AND "
        "instr(c.key, q.key || '/' || ? || '/') = 1 AND json_extract(t.extra, '$.finish_reason') = 'length'",
        (json.dumps(questions), model, model),
    ).fetchone()
    return row[0]


def add(connection: sqlite3.Connection, completions: Sequence[WrittenCompletion]) -> int:
    """Store completions in their order, in the caller's transaction; return how many are new.

    Raises:
        StoreError: An import is running, whose rows would become visible, or an id exists with another text.
    """
    if connection.execute("SELECT 1 FROM imports WHERE state = 'running'").fetchone():
        raise StoreError("An import is running.", "Received replies are stored; continue when the import has finished.")
    rows = ItemInserter(connection, None)
    new = 0
    for one in completions:
        record = ItemRecord(
            line=0,
            raw=b"",
            question_key="",
            completion_key=one.key,
            question="",
            reference="",
            completion=one.text,
            model=one.model,
            extra=one.extra,
        )
        contradiction = rows.take_completion(one.question, record)
        if contradiction:
            raise StoreError(
                f"The completion {one.key!r} already exists with another text.",
                "Give the model another name in the plan.",
            )
        new += contradiction is None
    rows.flush()
    if new:
        changes.note_items(connection, rows.first_completion_id, rows.last_completion_id)
    return new


def failed_keys(connection: sqlite3.Connection, run: int) -> dict[bytes, FailedKey]:
    """Return the requests that failed in a run and never got a response, by the request's key."""
    rows = connection.execute(
        # SQLite takes the plain columns from the row with the greatest id.
        "SELECT key, count(*), code, status, max(id) FROM attempts AS a WHERE run_id = ? AND state = 'failed' "
        "AND NOT EXISTS (SELECT 1 FROM responses AS r WHERE r.key = a.key) GROUP BY key",
        (run,),
    )
    return {key: FailedKey(count, code, status) for key, count, code, status, _ in rows}


def has_responses(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM responses LIMIT 1").fetchone() is not None


def answered(connection: sqlite3.Connection, keys: Sequence[bytes]) -> set[bytes]:
    rows = connection.execute(f"SELECT key FROM responses WHERE key IN ({', '.join('?' * len(keys))})", tuple(keys))
    return {key for (key,) in rows}


def reply(connection: sqlite3.Connection, key: bytes) -> Reply | None:
    """Return the stored reply to a request; None if none is stored, or it can't be parsed."""
    found = calls.response(connection, key)
    try:
        return None if found is None else reread(found)
    except CallFailed:
        return None
