"""Column files next to the database: written when worth it, used when they match, never a source of failure."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.helpers import make_project, numbered
from tests.unit.measuring.plain_columns import agree
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.care.backups import diagnosis
from workbench.core.database import changes
from workbench.core.database.backup import backup
from workbench.core.errors import StoreError
from workbench.core.files import cache_folder
from workbench.core.project import Project, open_project, opened_project
from workbench.core.verdict import Outcome, OutcomeCode, Verdict
from workbench.data.store import columns as stored
from workbench.labelling import coordinating
from workbench.measuring import column_memory
from workbench.measuring.accuracy import accuracy
from workbench.measuring.column_memory import ColumnMemory, put_in
from workbench.measuring.columns import Columns, columns
from workbench.runs.store import verdicts
from workbench.statistics import permutations
from workbench.statistics.records.report import AccuracyRow

ITEMS = 60


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_memory, "WORTH", 50)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path, numbered(ITEMS, subtype="A1", model="m"))
    said = [(item, Verdict(outcome=OutcomeCode(item % 4).outcome, score=item / 7)) for item in range(1, ITEMS - 5)]
    add_complete_run(project, "v", said)
    return project


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the number of rows of each read from the database."""
    found: list[int] = []
    for name in ("read_items", "read_verdicts"):
        original = getattr(stored, name)

        def counted(*asked: object, original: object = original) -> stored.ColumnTable:
            table: stored.ColumnTable = original(*asked)  # type: ignore[operator]
            found.append(table.rows)
            return table

        monkeypatch.setattr(stored, name, counted)
    return found


def later(project: Project) -> Columns:
    """The columns as the next process has them."""
    memory = ColumnMemory(project.database)
    return Columns(project.database, memory, memory.items())


def cached_files(project: Project) -> list[str]:
    return sorted(path.name for path in cache_folder(project.path).glob("*"))


def state(project: Project) -> tuple[bool, str]:
    (found,) = (finding for finding in diagnosis(project.path) if finding.name == "columns")
    return found.ok, found.message


def test_the_next_process_reads_nothing_from_the_database(project: Project, reads: list[int]) -> None:
    assert state(project) == (True, "none kept")
    agree(columns(project), project, (1,))
    assert cached_files(project) == ["items.npz", "run-1.npz"]
    reads.clear()
    agree(later(project), project, (1,))
    assert reads == []
    ok, message = state(project)
    assert (ok, message.partition(" in ")[0]) == (True, "ok, 2 parts")


def test_a_file_named_after_another_run_is_ignored(project: Project) -> None:
    add_complete_run(project, "w", [(item, Verdict(outcome=Outcome.CORRECT)) for item in range(1, ITEMS)])
    agree(columns(project), project, (1, 2))
    first, second = (cache_folder(project.path) / name for name in ("run-1.npz", "run-2.npz"))
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    assert state(project)[0]
    agree(later(project), project, (1, 2))


def test_small_columns_are_not_cached(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_memory, "WORTH", ITEMS + 1)
    agree(columns(project), project, (1,))
    assert not cache_folder(project.path).exists()


def test_only_changed_rows_are_read_again(project: Project, reads: list[int]) -> None:
    agree(columns(project), project, (1,))
    reads.clear()
    with project.database.write() as connection:
        verdicts.put(
            connection, 1, [(ITEMS - 2, Verdict(outcome=Outcome.ERROR)), (ITEMS, Verdict(outcome=Outcome.ERROR))]
        )
    agree(columns(project), project, (1,))
    coordinating.exclude(project, [7], reason="truncated")
    agree(columns(project), project, (1,))
    assert reads == [3, 1]
    reads.clear()
    agree(later(project), project, (1,))
    assert sorted(reads) == [1, 3]


def test_unchanged_columns_keep_their_array(project: Project) -> None:
    before = columns(project)
    clusters = before.clusters("subtype")
    before.outcome(1)
    coordinating.exclude(project, [7], reason="truncated")
    after = columns(project)
    assert after is not before
    assert columns(project) is after
    assert after.item is before.item
    assert after.outcome(1) is before.outcome(1)
    assert after.clusters("subtype") is clusters
    assert after.gold("final") is not before.gold("final")
    assert before.gold("final")[6] == 1
    assert after.gold("final")[6] == -1


def test_only_changed_metrics_are_recounted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.statistics import accuracy as table

    add_complete_run(project, "w", [(item, Verdict(outcome=Outcome.CORRECT)) for item in range(1, ITEMS)])
    counted: list[str] = []
    original = table.accuracy_rows

    def watched(name: str, *given: Any) -> list[AccuracyRow]:
        counted.append(name)
        return original(name, *given)

    monkeypatch.setattr(table, "accuracy_rows", watched)
    first = accuracy(project, by="subtype")
    assert {"v", "w"} < set(counted)
    counted.clear()
    assert accuracy(project, by="subtype") == first
    assert counted == []
    with project.database.write() as connection:
        verdicts.put(connection, 2, [(ITEMS, Verdict(outcome=Outcome.CORRECT))])
    accuracy(project, by="subtype")
    assert counted == ["w"]


def test_the_next_process_reuses_the_test_results(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with project.database.write() as connection:
        connection.execute("UPDATE questions SET subtype = 'A2' WHERE id % 2")
    first = accuracy(project, by="subtype")
    assert first.tests is not None
    with monkeypatch.context() as patch, opened_project(project.path) as other:
        patch.setattr(permutations, "cell_tests", lambda *_: pytest.fail("tested"))
        assert accuracy(other, by="subtype") == first
    (cache_folder(project.path) / "tests.json").write_text("{")
    with opened_project(project.path) as other:
        assert accuracy(other, by="subtype") == first


@pytest.mark.parametrize("run", [None, 1])
def test_a_damaged_file_is_ignored(project: Project, run: int | None) -> None:
    agree(columns(project), project, (1,))
    path = cache_folder(project.path) / ("items.npz" if run is None else "run-1.npz")
    whole = path.read_bytes()
    memory = ColumnMemory(project.database)
    said = memory._load(run)
    assert said is not None
    draw = random.Random(run)
    broken = [whole[:length] for length in (0, 3, 8, 40, len(whole) // 2, len(whole) - 1)]
    for _ in range(60):
        place = draw.choice((draw.randrange(60), draw.randrange(len(whole))))
        broken.append(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
    broken += [b"", b"{}", whole[:4] * 100]
    for content in broken:
        path.write_bytes(content)
        found = memory._load(run)
        # Dates in the archive, for example, don't matter.
        if found is not None:
            assert found.table.names == said.table.names
            assert put_in(said.table, [(slice(0, said.table.rows), found.table)]).columns == said.table.columns
    path.write_bytes(broken[4])
    assert state(project)[1].endswith("1 damaged or of another history, passed over")
    agree(later(project), project, (1,))
    assert path.read_bytes() == whole


def test_a_file_of_another_schema_or_version_is_ignored(project: Project) -> None:
    agree(columns(project), project, (1,))
    path = cache_folder(project.path) / "items.npz"
    with np.load(path) as archive:
        found = dict(archive)
    about = json.loads(found.pop("about").tobytes())
    found["final"] = np.zeros_like(found["final"])
    for change in ({"schema": 4}, {"names": 1}, {"mark": [about["mark"][0], "AA=="]}, {"mark": [77, "AA=="]}):
        np.savez(path, about=np.frombuffer(json.dumps(about | change).encode(), dtype=np.uint8), **found)
        agree(later(project), project, (1,))


def test_a_restored_backup_invalidates_the_files(project: Project, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    backup(project.database, copy)
    agree(columns(project), project, (1,))
    coordinating.exclude(project, [3, 4], reason="truncated")
    cache_folder(project.path).rename(cache_folder(copy))
    agree(columns(project), project, (1,))
    shutil.copytree(cache_folder(copy), cache_folder(project.path), dirs_exist_ok=True)
    restored = open_project(copy)
    shutil.rmtree(cache_folder(copy))
    shutil.move(cache_folder(project.path), cache_folder(copy))
    coordinating.exclude(restored, [5, 6], reason="truncated")
    assert changes.mark(restored.database.reader()).version == changes.mark(project.database.reader()).version
    agree(columns(restored), restored, (1,))


def test_a_run_is_not_laid_over_other_items(project: Project) -> None:
    agree(columns(project), project, (1,))
    folder = cache_folder(project.path)
    aside = (folder / "run-1.npz").read_bytes()
    with project.database.write() as connection:
        connection.execute("DELETE FROM verdict_evidence")
        connection.execute("DELETE FROM verdicts WHERE completion_id = 2")
        changes.note_verdicts(connection, 1, [2])
        connection.execute("DELETE FROM completion_text WHERE id = 2")
        connection.execute("DELETE FROM completions WHERE id = 2")
    agree(columns(project), project, (1,))
    (folder / "run-1.npz").write_bytes(aside)
    agree(later(project), project, (1,))


@pytest.mark.parametrize("trouble", ["a file stands there", "full disk", "gone while writing"])
def test_a_failed_write_is_harmless(project: Project, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    folder = cache_folder(project.path)
    if trouble == "a file stands there":
        folder.write_text("mine")
    elif trouble == "full disk":
        monkeypatch.setattr(os, "fdopen", _raise_full)
    else:
        monkeypatch.setattr(os, "replace", _raise_full)
    agree(columns(project), project, (1,))
    monkeypatch.undo()
    if trouble == "a file stands there":
        assert folder.read_text() == "mine"
    else:
        assert list(folder.iterdir()) == []


def _raise_full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_doctor_finds_external_changes(project: Project) -> None:
    agree(columns(project), project, (1,))
    coordinating.exclude(project, [9], reason="truncated")
    assert state(project)[0]
    with project.database.write() as connection:
        connection.execute("UPDATE verdicts SET outcome = 1 - outcome WHERE completion_id = 4")
    ok, message = state(project)
    assert not ok
    assert "run-1" in message
    assert "items" not in message
    shutil.rmtree(cache_folder(project.path))
    assert state(project) == (True, "none kept")


def test_cached_columns_are_read_only(project: Project) -> None:
    columns(project)
    for target in (cache_folder(project.path) / "items.npz", cache_folder(project.path)):
        with pytest.raises(StoreError):
            backup(project.database, target, force=True)
    agree(later(project), project, (1,))


def test_concurrent_readers_see_no_partial_writes(project: Project) -> None:
    """Ten equal verdicts are written at a time while other threads read, one of them from the file."""
    with project.database.write() as connection:
        connection.execute("DELETE FROM verdict_evidence")
        connection.execute("DELETE FROM verdicts")
        changes.note_verdicts(connection, 1, range(1, ITEMS + 1))
    done, wrong = threading.Event(), list[str]()

    def look(new_process: bool) -> None:
        try:
            while True:
                last = done.is_set()
                found = later(project) if new_process else columns(project)
                outcome = found.outcome(1)
                before = outcome.tolist()
                wrong.extend(str(part) for part in outcome.reshape(-1, 10).tolist() if len(set(part)) > 1)
                if outcome.tolist() != before:
                    wrong.append("changed")
                if last:
                    break
        except Exception as error:
            wrong.append(repr(error))

    threads = [threading.Thread(target=look, args=(number == 0,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for round_ in range(4):
        for start in range(1, ITEMS, 10):
            ten = [(item, Verdict(outcome=OutcomeCode(round_).outcome)) for item in range(start, start + 10)]
            with project.database.write() as connection:
                connection.execute("DELETE FROM verdicts WHERE completion_id BETWEEN ? AND ?", (start, start + 9))
                verdicts.put(connection, 1, ten)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    agree(columns(project), project, (1,))
