"""Small projects for tests: items are inserted directly into the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from workbench.core.database.connection import Database
from workbench.core.database.hashes import shown_hash
from workbench.core.project import Project, open_project
from workbench.labelling.believing import Trusted
from workbench.labelling.merging import Merged, merge_all
from workbench.labelling.people import assign

CREATED = "2025-01-01T00:00:00.000000Z"


def make_project(folder: Path, rows: Iterable[Mapping[str, Any]] = ()) -> Project:
    """Create ``folder/p.db`` with these items; see `add_items`."""
    project = open_project(folder / "p.db", create=True)
    add_items(project.database, rows)
    return project


def numbered(count: int, **fields: Any) -> list[dict[str, Any]]:
    """Return rows of ``count`` items, ``c0`` to ``c<count - 1>``, two per question, every other one correct."""
    return [
        {
            "question_id": f"q{number // 2}",
            "completion_id": f"c{number}",
            "reference": r"\boxed{7}",
            "completion": r"So \boxed{7}." if number % 2 == 0 else r"So \boxed{8}.",
            "gold": number % 2 == 0,
            **fields,
        }
        for number in range(count)
    ]


def copy_database(path: Path, target: Path) -> Path:
    """Copy a database including its log; return the path of the copy."""
    with closing(sqlite3.connect(path)) as whole, closing(sqlite3.connect(target)) as copy:
        whole.backup(copy)
    return target


def open_slots_to_all(project: Project) -> None:
    """Let any annotator take any open slot."""
    with project.database.write() as connection:
        connection.execute("UPDATE assignments SET meant_for = NULL")


def make_shared(folder: Path, *names: str) -> Project:
    """Create four items of four questions with labelled answer types; any two annotators label each."""
    rows = [{**row, "question_id": f"q{number}"} for number, row in enumerate(numbered(4, types="labelled"))]
    project = make_project(folder, rows)
    assign(project, names, per_item=2)
    open_slots_to_all(project)
    return project


def add_items(database: Database, rows: Iterable[Mapping[str, Any]]) -> list[int]:
    """Insert items; every field has a default.

    Fields: ``dataset``, ``types``, ``question_id``, ``completion_id``, ``question``, ``reference``, ``completion``,
    ``gold`` (True, False, None), ``model``, ``source`` (a name), ``domain``, ``type``, ``subtype``, ``extra``.

    Returns:
        The completions' row ids.
    """
    with database.write() as connection:
        first = connection.execute("SELECT coalesce(max(id), 0) FROM completions").fetchone()[0]
        added = [_add(connection, number, row) for number, row in enumerate(rows, first)]
        if added and connection.execute("PRAGMA user_version").fetchone()[0] >= 5:
            length = "SELECT length(t.text) FROM completion_text AS t WHERE t.id = completions.id"
            connection.execute(f"UPDATE completions SET characters = ({length}) WHERE id >= ?", (added[0],))
            # No import records these rows.
            connection.execute("INSERT INTO changes (first_id, last_id) VALUES (?, ?)", (added[0], added[-1]))
        return added


def _add(connection: Any, number: int, row: Mapping[str, Any]) -> int:
    dataset = row.get("dataset", "sample")
    connection.execute(
        "INSERT OR IGNORE INTO datasets (name, types, created_at) VALUES (?, ?, ?)",
        (dataset, row.get("types", "trusted"), CREATED),
    )
    question = _question(connection, _id(connection, "datasets", dataset), number, row)
    text = row.get("completion", f"It is \\boxed{{{number}}}.")
    gold = row.get("gold")
    cursor = connection.execute(
        "INSERT INTO completions (question_id, key, model_id, imported_gold, hash) VALUES (?, ?, ?, ?, ?)",
        (
            question,
            row.get("completion_id", f"c{number}"),
            _interned(connection, "models", row.get("model")),
            None if gold is None else int(gold),
            shown_hash(text),
        ),
    )
    completion = int(cursor.lastrowid)
    connection.execute(
        "INSERT INTO completion_text (id, text, extra) VALUES (?, ?, ?)", (completion, text, row.get("extra"))
    )
    return completion


def _question(connection: Any, dataset: int, number: int, row: Mapping[str, Any]) -> int:
    key = row.get("question_id", f"q{number}")
    found = connection.execute("SELECT id FROM questions WHERE dataset_id = ? AND key = ?", (dataset, key)).fetchone()
    if found is not None:
        return int(found[0])
    source = _interned(connection, "sources", row.get("source"))
    if row.get("domain") is not None:
        connection.execute("UPDATE sources SET domain = ? WHERE id = ?", (row["domain"], source))
    subtype = row.get("subtype")
    kind = row.get("type", subtype[0] if subtype else None)
    text, reference = row.get("question", f"Question {key}?"), row.get("reference", r"\boxed{7}")
    cursor = connection.execute(
        "INSERT INTO questions (dataset_id, key, source_id, type, subtype, hash) VALUES (?, ?, ?, ?, ?, ?)",
        (dataset, key, source, kind, subtype, shown_hash(text, reference)),
    )
    question = int(cursor.lastrowid)
    connection.execute("INSERT INTO question_text (id, text, reference) VALUES (?, ?, ?)", (question, text, reference))
    return question


def _interned(connection: Any, table: str, name: str | None) -> int | None:
    if name is None:
        return None
    connection.execute(f"INSERT OR IGNORE INTO {table} (name) VALUES (?)", (name,))
    return _id(connection, table, name)


def _id(connection: Any, table: str, name: str) -> int:
    return int(connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()[0])


def merge(
    project: Project, other: Path, *, whole: bool = False, tell: Callable[[Path, Trusted], None] | None = None
) -> Merged:
    """Import the label events of one file."""
    return merge_all(project, [other], whole=whole, tell=tell)[0]
