"""Renames, excludes and readmits whole data sets."""

from __future__ import annotations

import sqlite3
from typing import Final, NamedTuple

from workbench.core.database.selection import SHOWN_DATASET, VISIBLE, VISIBLE_QUESTION
from workbench.core.errors import UsageError, opt

TAKEN_OUT: Final = "dataset"
"""The reason of questions excluded with their data set; other reasons are `EXCLUSION_REASONS`."""
NOTE: Final = "data set taken out: "
"""Prefix of the note on each of its items; the person's reason follows."""

_DECIDED: Final = "(SELECT k.{} FROM curation AS k WHERE k.question_id = q.id ORDER BY k.id DESC LIMIT 1)"
OUT_WITH_ALL: Final = f"{_DECIDED.format('reason')} IS '{TAKEN_OUT}'"
"""Condition on a question ``q``: it was excluded with its data set."""
_BY_COORDINATOR: Final = (
    "EXISTS (SELECT 1 FROM task_states AS t WHERE t.task = 'correctness' AND t.subject = c.id "
    "AND t.state = 'excluded' AND t.decided_by = 'coordinator')"
)


_MAX_NAME: Final = 200


class Use(NamedTuple):
    run: int
    state: str
    selection: str


def require_name(name: str) -> None:
    """Check the name of a data set.

    Raises:
        UsageError: The name is empty, too long or not printable.
    """
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise UsageError(
            f"{name[:_MAX_NAME]!r} is not a valid data set name.",
            f"Use 1 to {_MAX_NAME} printable characters (import: {opt.dataset:NAME}).",
        )


def dataset_row_id(connection: sqlite3.Connection, name: str) -> int | None:
    row = connection.execute(f"SELECT d.id FROM datasets AS d WHERE d.name = ? AND {SHOWN_DATASET}", (name,)).fetchone()
    return None if row is None else int(row[0])


def excluded_notes(connection: sqlite3.Connection) -> dict[str, str]:
    if connection.execute("SELECT 1 FROM curation WHERE reason = ? LIMIT 1", (TAKEN_OUT,)).fetchone() is None:
        return {}
    rows = connection.execute(
        f"SELECT d.name, coalesce({_DECIDED.format('note')}, '') FROM datasets AS d JOIN questions AS q ON q.id = "
        f"(SELECT q.id FROM questions AS q WHERE q.dataset_id = d.id AND {OUT_WITH_ALL} LIMIT 1)"
    )
    return dict(rows.fetchall())


def included_items(connection: sqlite3.Connection, dataset: int) -> list[int]:
    rows = connection.execute(
        "SELECT c.id FROM questions AS q JOIN completions AS c ON c.question_id = q.id "
        f"WHERE q.dataset_id = ? AND {VISIBLE} AND NOT {_BY_COORDINATOR} ORDER BY c.id",
        (dataset,),
    )
    return [item for (item,) in rows]


def excluded_items(connection: sqlite3.Connection, dataset: int) -> list[int]:
    rows = connection.execute(
        "SELECT c.id FROM questions AS q JOIN completions AS c ON c.question_id = q.id WHERE q.dataset_id = ? AND "
        "EXISTS (SELECT 1 FROM label_events AS e WHERE e.task = 'correctness' AND e.subject = c.id AND e.kind = "
        "'exclusion' AND substr(e.note, 1, ?) = ? AND NOT EXISTS (SELECT 1 FROM label_events AS l WHERE l.task = "
        f"e.task AND l.subject = e.subject AND l.supersedes = e.uuid)) AND {_BY_COORDINATOR} ORDER BY c.id",
        (dataset, len(NOTE), NOTE),
    )
    return [item for (item,) in rows]


def questions(connection: sqlite3.Connection, dataset: int, *, out: bool) -> list[int]:
    asked = OUT_WITH_ALL if out else f"{_DECIDED.format('kind')} IS NOT 'exclude'"
    rows = connection.execute(
        f"SELECT q.id FROM questions AS q WHERE q.dataset_id = ? AND {VISIBLE_QUESTION} AND {asked} ORDER BY q.id",
        (dataset,),
    )
    return [question for (question,) in rows]


def rename(connection: sqlite3.Connection, dataset: int, name: str) -> bool:
    if connection.execute("SELECT 1 FROM datasets WHERE name = ?", (name,)).fetchone():
        return False
    connection.execute("UPDATE datasets SET name = ? WHERE id = ?", (name, dataset))
    return True


def active_runs(connection: sqlite3.Connection) -> list[Use]:
    rows = connection.execute(
        "SELECT id, state, selection FROM runs WHERE state IN ('queued', 'running', 'paused') ORDER BY id"
    )
    return list(map(Use._make, rows))


def in_bundles(connection: sqlite3.Connection, dataset: int) -> int:
    row: tuple[int] = connection.execute(
        "SELECT count(DISTINCT a.subject) FROM assignments AS a JOIN completions AS c ON c.id = a.subject JOIN "
        "questions AS q ON q.id = c.question_id WHERE a.state = 'away' AND a.task = 'correctness' AND q.dataset_id = ?",
        (dataset,),
    ).fetchone()
    return row[0]
