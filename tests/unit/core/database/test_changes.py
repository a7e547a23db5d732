"""The change log: changes since a mark, and marks of other histories."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands import run
from tests.helpers import make_project, numbered
from workbench.core.database import changes
from workbench.core.project import Project, open_project
from workbench.core.verdict import Outcome, Verdict
from workbench.labelling import coordinating
from workbench.runs.store import runs, verdicts


def _run(project: Project) -> int:
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name="v", kind="v", options={}, config={}, config_hash="0")
        return runs.add(connection, verifier, "1")


def test_verdicts_and_decisions_are_logged_with_their_rows(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    run = _run(project)
    reader = project.database.reader()
    before = changes.mark(reader)
    assert changes.changes_since(reader, before) == []
    with project.database.write() as connection:
        verdicts.put(connection, run, [(5, Verdict(outcome=Outcome.ERROR)), (2, Verdict(outcome=Outcome.CORRECT))])
    coordinating.exclude(project, [3], reason="truncated")
    with project.database.write() as connection:
        verdicts.delete_errors(connection, run)
    found = changes.changes_since(reader, before)
    assert found is not None
    assert [change for change in found if change.run is not None] == [(run, 2, 5), (run, 5, 5)]
    assert {change for change in found if change.run is None} == {(None, 3, 3)}
    assert changes.changes_since(reader, changes.mark(reader)) == []


def test_a_mark_of_another_history_is_invalid(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    project.database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = Path(shutil.copy(project.path, tmp_path / "copy.db"))
    coordinating.exclude(project, [1], reason="truncated")
    mark = changes.mark(project.database.reader())
    other = open_project(copy)
    coordinating.exclude(other, [2], reason="truncated")
    assert changes.mark(other.database.reader()).version == mark.version
    assert changes.changes_since(other.database.reader(), mark) is None


def test_old_changes_expire_and_invalidate_their_marks(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    reader = project.database.reader()
    first = changes.mark(reader)
    with project.database.write() as connection:
        for _ in range(30_000):
            changes.note_verdicts(connection, 1, [1])
    assert changes.changes_since(reader, first) is None
    (kept,) = reader.execute("SELECT count(*) FROM changes").fetchone()
    assert kept < 30_000


def test_distant_items_are_separate_ranges(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    reader = project.database.reader()
    before = changes.mark(reader)
    with project.database.write() as connection:
        changes.note_verdicts(connection, 1, [1_000_000, 7, 3, 1_000_400, 2_000_000])
        changes.note_verdicts(connection, 1, [])
    found = changes.changes_since(reader, before)
    assert found is not None
    assert [change.span for change in found] == [(3, 7), (1_000_000, 1_000_400), (2_000_000, 2_000_000)]


def test_adjacent_and_overlapping_ranges_are_merged() -> None:
    assert changes.ranges([(10, 20), (15, 17), (0, 3), (5_000, 5_001), (20, 30)]) == [(0, 30), (5_000, 5_001)]
    assert changes.ranges([(10, 2_000), (11, 12), (2_100, 2_200)]) == [(10, 2_200)]
    assert changes.ranges([]) == []


@pytest.mark.soak
def test_an_emptied_change_log_is_harmless(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4, gold=True))
    before = changes.mark(project.database.reader())
    with project.database.write() as connection:
        connection.execute("DELETE FROM changes")
    project.close()
    for words in (["status"], ["accuracy"], ["doctor"]):
        done = run(*words, project.path)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == 0 or words != ["status"]
    project = open_project(project.path)
    reader = project.database.reader()
    for mark in (before, changes.mark(reader)):
        assert changes.changes_since(reader, mark) is None
    coordinating.exclude(project, [1], reason="truncated")
    assert changes.changes_since(reader, changes.mark(reader)) == []
    project.close()
