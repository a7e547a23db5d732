"""Archives and tables: every table is in an archive or known not to be, and every column of it comes back."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from workbench.care.backups import restore
from workbench.core.database import events, hashes
from workbench.core.project import Project, open_project
from workbench.interchange.archive import write_archive
from workbench.interchange.store.archiving import CALLS, EVENTS, NEVER, PARTS

TABLES = tuple(dict.fromkeys(table for part in PARTS for table in part.tables))

_VALUES: dict[str, Any] = {"INTEGER": 1, "REAL": 0.1 + 0.2, "TEXT": 'x\n"é\u2028\x01', "BLOB": b"\x00\xff{}" * 4}
_REPORT: dict[str, Any] = {"name": "hard", "version": None, "kind": "hard", "questions": 1, "tuples": 1, "seed": 1} | {
    "strata": [],
    "shortfall": [],
    "excluded": {},
}
_WORDS: dict[Any, Any] = {
    "types": "labelled",
    "role": "coordinator",
    "task": "correctness",
    "purpose": "quota",
    "verdict": "correct",
    "gold_from": "adjudicated",
    "form": "program",
    "origin": "evolved",
    "request": "pause",
    "seen": f'["{UUID(int=7)}"]',
    "tags": '["guessed"]',
    "because": "chance",
    ("audited", "chance"): 0.5,
    ("trainings", "share"): 0.5,
    ("imports", "state"): "complete",
    ("assignments", "state"): "done",
    ("runs", "state"): "complete",
    ("attempts", "state"): "done",
    ("call_batches", "state"): "ended",
    ("label_events", "supersedes"): str(UUID(int=7)),
    ("label_events", "created_at"): "2025-01-31T12:00:00Z",
    ("reviews", "kind"): "confirmed",
    ("reviews", "gold"): "none",
    ("curation", "kind"): "exclude",
    ("test_exclusions", "kind"): "exclude",
    ("batches", "sample"): "drawn",
    ("code_problems", "reference_by"): "model",
    ("sets", "kind"): "hard",
    ("sets", "gold"): "final",
    ("sets", "name"): "hard",
    ("sets", "config"): '{"x\u2028": "é"}',
    ("sets", "report"): json.dumps(_REPORT),
    "extra": '{"x\u2028": "é"}',
}
"""What columns take whose values are words, in any table or in one."""
_SAID: tuple[dict[str, Any], ...] = (
    {"kind": "label", "subtype": None, "exclusion_reason": None},
    {"kind": "adjudication", "task": "type", "verdict": None, "subtype": "A1", "exclusion_reason": None},
    {"kind": "exclusion", "verdict": "unsuitable", "subtype": None, "exclusion_reason": "proof"},
)
"""Label events that have together a value in every column."""


@pytest.fixture
def full(tmp_path: Path) -> Project:
    """A database with a row in every table of an archive, and a value in every column."""
    project = open_project(tmp_path / "full.db", create=True)
    with project.database.write() as connection:
        connection.execute("PRAGMA defer_foreign_keys = ON")
        for table in TABLES:
            if table != "label_events":
                fill(connection, table)
        for number, said in enumerate(_SAID, 1):
            fill(connection, "label_events", id=number, uuid=str(UUID(int=number)), annotator_id=number, **said)
    return project


def fill(connection: sqlite3.Connection, table: str, **given: Any) -> None:
    row = {}
    for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})"):
        word = _WORDS.get((table, name), _WORDS.get(name, _VALUES["TEXT"]))
        row[name] = given.get(name, word if kind == "TEXT" else _VALUES[kind])
    if table == "label_events":
        row["digest"] = hashes.digest([row[name] for name in events.COLUMNS.split(", ")])
    names = ", ".join(f'"{name}"' for name in row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
    if table == "annotators":
        for number in (2, 3):
            connection.execute(
                "INSERT INTO annotators (id, name, created_at) VALUES (?, ?, '')", (number, f"p{number}")
            )


def rows(project: Project, table: str) -> list[tuple[object, ...]]:
    return project.database.reader().execute(f"SELECT * FROM {table}").fetchall()


def test_every_table_is_in_an_archive_or_known_not_to_be(full: Project) -> None:
    reader = full.database.reader()
    there = {name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {*TABLES, *NEVER} == there - {"sqlite_sequence"}
    assert not set(TABLES) & set(NEVER)


def test_a_value_of_every_column_of_every_table_comes_back(full: Project, tmp_path: Path) -> None:
    report = write_archive(full, tmp_path / "a.zip", checks=True)
    assert all(report.rows.values()), report.rows

    restore(tmp_path / "a.zip", tmp_path / "back.db")

    back = open_project(tmp_path / "back.db")
    for table in TABLES:
        assert rows(back, table) == rows(full, table), table
    for part in EVENTS:
        assert report.rows[part] == 1
    write_archive(back, tmp_path / "again.zip", checks=True)
    assert (tmp_path / "again.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()


def test_calls_to_model_servers_may_stay_behind(full: Project, tmp_path: Path) -> None:
    report = write_archive(full, tmp_path / "a.zip", checks=True, calls=False)
    restored = restore(tmp_path / "a.zip", tmp_path / "back.db")

    assert not set(CALLS) & report.rows.keys()
    assert restored.left_out == {"responses": 1}
    back = open_project(tmp_path / "back.db")
    assert [table for table in TABLES if not rows(back, table)] == list(CALLS)


def test_without_checks_nothing_about_one_is_left_and_the_rest_is_whole(full: Project, tmp_path: Path) -> None:
    with full.database.write() as connection:
        for table, key in (("requests", "hash"), ("responses", "key"), ("attempts", "key")):
            fill(connection, table, id=2, **{key: b"2"}, **({"completion_id": None} if table == "attempts" else {}))
        fill(connection, "batched_calls", attempt_id=2, request_id=2)
        connection.execute("UPDATE responses SET request_id = 2 WHERE id = 2")
        connection.execute("UPDATE requests SET body = x'2a' WHERE id = 1")

    report = write_archive(full, tmp_path / "a.zip")
    restore(tmp_path / "a.zip", tmp_path / "back.db")

    back = open_project(tmp_path / "back.db")
    reader = back.database.reader()
    for table in TABLES:
        names = {row[1] for row in reader.execute(f"PRAGMA table_info({table})")}
        # An attempt may be about no item.
        about = {"completion_id", "question_id", "subject"} & names if table != "attempts" else set()
        assert not about or not rows(back, table), table
    assert [report.rows[name] for name in ("checks", "items", "questions", "labels")] == [0, 0, 0, 0]
    assert [report.rows[name] for name in CALLS] == [1, 1, 1, 1, 1, 0]
    assert reader.execute("SELECT id, body FROM requests").fetchall() == [(2, _VALUES["BLOB"])]


@pytest.mark.parametrize("score", [float("inf"), float("-inf"), 1e308, 5e-324, -0.0, None])
def test_any_number_comes_back(full: Project, tmp_path: Path, score: float | None) -> None:
    with full.database.write() as connection:
        connection.execute("UPDATE verdicts SET score = ?", (score,))
    write_archive(full, tmp_path / "a.zip", checks=True)
    restore(tmp_path / "a.zip", tmp_path / "back.db")

    assert repr(rows(open_project(tmp_path / "back.db"), "verdicts")) == repr(rows(full, "verdicts"))


def test_rows_of_an_import_under_way_stay_behind(full: Project, tmp_path: Path) -> None:
    with full.database.write() as connection:
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, started_at)"
            " VALUES (1, 'x', 'jsonl', 'running', 2, 2, '')"
        )
        connection.execute("INSERT INTO questions (id, dataset_id, key, hash) VALUES (2, 1, 'q2', x'')")
        connection.execute("INSERT INTO question_text (id, text, reference) VALUES (2, '', '')")
        connection.execute("INSERT INTO completions (id, question_id, key, hash) VALUES (2, 2, 'c2', x'')")
        connection.execute("INSERT INTO completion_text (id, text) VALUES (2, '')")
        connection.execute("INSERT INTO quarantine (import_id, line, code, message, raw) VALUES (2, 1, '', '', x'')")

    report = write_archive(full, tmp_path / "a.zip", checks=True)

    assert report.left_out == {"unfinished imports": 1}
    assert {report.rows[name] for name in ("imports", "questions", "items", "quarantine")} == {1}
    restore(tmp_path / "a.zip", tmp_path / "back.db")
