"""Backup and doctor."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.care.backups import check_sandbox, diagnosis
from workbench.care.doctor import repair
from workbench.core.database.backup import backup
from workbench.core.errors import StoreError
from workbench.core.project import open_project
from workbench.interchange.exporting import ExportOptions, export
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.label_export import export_labels
from workbench.labelling.people import assign
from workbench.verifiers.execution import levels, runners
from workbench.verifiers.execution.attacks.attack import AttackResult
from workbench.verifiers.execution.levels import LevelStatus


def test_a_backup_during_writes_is_a_consistent_database(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(10))
    target = tmp_path / "copy.db"
    other = sqlite3.connect(project.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("UPDATE datasets SET name = 'half'")
    assert backup(project.database, target) == target.stat().st_size
    other.execute("ROLLBACK")
    other.close()
    copy = open_project(target)
    assert copy.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (10,)
    assert copy.database.reader().execute("SELECT name FROM datasets").fetchall() == [("sample",)]
    assert not list(tmp_path.glob(".*.part"))


def test_a_backup_replaces_nothing_unless_forced_and_never_itself(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    target = tmp_path / "copy.db"
    target.write_text("mine")
    with pytest.raises(StoreError, match="exists"):
        backup(project.database, target)
    assert target.read_text() == "mine"
    backup(project.database, target, force=True)
    with pytest.raises(StoreError, match="itself"):
        backup(project.database, project.path, force=True)


@pytest.mark.parametrize("name", ["p.db", "p.db-wal", "p.db-shm", "p.db-journal", "soft.db", "hard.db", "x/../p.db"])
def test_nothing_is_written_over_the_database(tmp_path: Path, name: str) -> None:
    project = make_project(tmp_path, numbered(2))
    (tmp_path / "x").mkdir()
    (tmp_path / "soft.db").symlink_to(project.path)
    (tmp_path / "hard.db").hardlink_to(project.path)
    target = tmp_path / name
    with pytest.raises(StoreError, match="database itself"):
        backup(project.database, target, force=True)
    with pytest.raises(StoreError, match="database itself"):
        export(project, ExportOptions(file=target, format="csv", force=True))
    with pytest.raises(StoreError, match="database itself"):
        export_labels(project, target, force=True)
    assert open_project(project.path).database.reader().execute("SELECT count(*) FROM completions").fetchone() == (2,)


def test_special_files_are_not_replaced(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for target in (fifo, tmp_path, Path()):
        with pytest.raises(StoreError, match="not a regular file"):
            backup(project.database, target, force=True)
        with pytest.raises(StoreError, match="not a regular file"):
            export(project, ExportOptions(file=target, format="csv", force=True))
        with pytest.raises(StoreError, match="not a regular file"):
            export_labels(project, target, force=True)
    assert fifo.is_fifo()


def test_a_backup_ignores_a_leftover_wal_at_its_target(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(3))
    target = tmp_path / "copy.db"
    backup(project.database, target)
    # A process that is killed leaves its write-ahead log behind.
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('PRAGMA journal_mode = WAL'); c.execute(\"INSERT INTO models (name) VALUES ('stale')\"); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert target.with_name("copy.db-wal").stat().st_size > 0
    with pytest.raises(StoreError, match="its log has not been written back"):
        backup(project.database, target, force=True)
    backup(project.database, target, force=True, discard=True)
    copy = open_project(target)
    assert copy.database.reader().execute("SELECT name FROM models").fetchall() == []


def failures(path: Path) -> set[str]:
    return {finding.name for finding in diagnosis(path) if not finding.ok}


def test_doctor_finds_a_healthy_database_healthy(tmp_path: Path) -> None:
    assert failures(make_project(tmp_path, numbered(3)).path) == set()


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        ("DROP TRIGGER label_events_no_delete", "schema"),
        ("DROP INDEX questions_subtype", "schema"),
        (
            "INSERT INTO task_states (task, subject, state) VALUES ('correctness', 1, 'final');"
            "INSERT INTO annotators (id, name, role, created_at) VALUES (1, 'a', 'annotator', '');"
            "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, schema, created_at) "
            "VALUES ('u', 'label', 'correctness', 1, 1, 'correct', 1, '')",
            "item states",
        ),
        ("UPDATE completions SET question_id = 999", "foreign keys"),
        (
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, started_at) "
            "VALUES (1, 'f', 'jsonl', 'running', 9, 9, '')",
            "imports",
        ),
    ],
)
def test_doctor_names_the_problem(tmp_path: Path, damage: str, check: str) -> None:
    project = make_project(tmp_path, numbered(3))
    project.close()
    raw = sqlite3.connect(project.path)
    raw.executescript(damage)
    raw.close()
    assert check in failures(project.path)


def test_manually_changed_states_are_recomputed(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    assign(project, ["amira", "ben"], per_item=2)
    with closing(AnnotationSession(project, "amira")) as amira:
        item = amira.next()
        assert item is not None
        amira.submit(item, Answer(verdict="correct"))
    project.close()
    with closing(sqlite3.connect(project.path)) as raw:
        raw.execute("UPDATE task_states SET state = 'final'")
        raw.commit()
    assert "item states" in failures(project.path)
    assert repair(project.path).done == ["States of 1 tasks were derived from their events."]
    assert (tmp_path / "p.db.before-repair-1").exists()
    assert failures(project.path) == set()
    with closing(open_project(project.path)) as mended:
        assert mended.database.reader().execute("SELECT DISTINCT state FROM item_states").fetchall() == [("labelled",)]


HELD = AttackResult(name="sleep", level="L2", outcomes="t")
THROUGH = AttackResult(name="connect", level="L2", outcomes="p", wrong=("passed: f", "got through"))


@pytest.mark.parametrize(
    ("best", "second", "told"),
    [
        (
            LevelStatus("L3", (HELD, HELD)),
            LevelStatus("L2", (HELD,)),
            ["L3: 2 of 2 attacks held", "L2: 1 of 1 attacks held", "solutions are run at L3"],
        ),
        (
            LevelStatus("L3", unusable="There is no bubblewrap here."),
            LevelStatus("L2", (HELD,)),
            [
                "L3: can't be used here: There is no bubblewrap here.",
                "L2: 1 of 1 attacks held",
                "solutions are run at L2",
            ],
        ),
        (
            LevelStatus("L3", unusable="no"),
            LevelStatus("L2", (HELD, THROUGH)),
            [
                "L3: can't be used here: no",
                "BAD L2: 1 of 2 attacks held; through came connect: passed: f, got through",
                "solutions are not run without --allow-unsafe-execution",
            ],
        ),
    ],
)
def test_doctor_reports_each_level_of_the_sandbox(
    monkeypatch: pytest.MonkeyPatch, best: LevelStatus, second: LevelStatus, told: list[str]
) -> None:
    monkeypatch.setattr(levels, "survey", lambda: [best, second])
    monkeypatch.setattr(levels, "survey_scratch", lambda: LevelStatus("L3", (HELD, THROUGH)))
    (folder,) = (finding for finding in check_sandbox() if finding.name == "scratch folder")
    assert (folder.ok, folder.message.partition(";")[0]) == (False, "1 of 2 attacks held")
    found = [finding for finding in check_sandbox() if finding.name.startswith("sandbox")]
    said = [("" if one.ok else "BAD ") + f"{one.name.removeprefix('sandbox ')}: {one.message}" for one in found]
    assert said == [*told[:2], f"sandbox: {told[2]}"]


def test_doctor_lists_the_available_languages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(levels, "survey", list)
    monkeypatch.setattr(levels, "survey_scratch", lambda: LevelStatus("L3"))
    monkeypatch.setenv("PATH", str(tmp_path))
    runners.version_of.cache_clear()
    (found,) = (finding for finding in check_sandbox() if finding.name == "runner javascript")
    assert found.ok
    assert "'node', which is not installed here" in found.message
