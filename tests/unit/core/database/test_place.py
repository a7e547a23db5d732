"""A database whose file is moved, deleted or replaced while it is open: noticed before anything is written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database import generation, logs, place
from workbench.core.database.backup import backup
from workbench.core.errors import StoreError
from workbench.core.project import Project, open_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "data").mkdir()
    made = make_project(tmp_path / "data", numbered(4))
    _write(made)
    yield made
    made.close()


def _write(project: Project) -> None:
    with project.database.write("full") as connection:
        connection.execute("INSERT INTO models (name) SELECT 'm' || count(*) FROM models")


def _models(path: Path) -> int:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM models").fetchone()[0])
    finally:
        connection.close()


def _replace(path: Path, away: Path) -> None:
    shutil.copy(path, away)
    away.replace(path)


def _move_then(then: Callable[[Path], object]) -> Callable[[Path, Path], object]:
    def fault(path: Path, away: Path) -> None:
        path.rename(away)
        then(path)

    return fault


FAULTS: dict[str, tuple[str, Callable[[Path, Path], object]]] = {
    "mv": ("moved", lambda path, away: path.rename(away)),
    "rm": ("moved", lambda path, away: os.remove(path)),
    "rm of all three": ("moved", lambda path, away: [*map(os.remove, path.parent.glob("p.db*"))]),
    "mv, then an empty file": ("replaced", _move_then(Path.touch)),
    "mv, then a folder": ("replaced", _move_then(Path.mkdir)),
    "mv, then a link to elsewhere": ("replaced", _move_then(lambda path: path.symlink_to(path.parent))),
    "mv, then a link to nowhere": ("moved", _move_then(lambda path: path.symlink_to("nowhere"))),
    "a copy renamed over it": ("replaced", _replace),
    "the folder renamed": ("moved", lambda path, away: path.parent.rename(away)),
    "the log removed": ("replaced", lambda path, away: Path(f"{path}-wal").rename(away)),
    "another log": ("replaced", lambda path, away: _replace(Path(f"{path}-wal"), away)),
}


@pytest.mark.parametrize("what", FAULTS)
def test_nothing_is_written_to_a_file_that_is_not_where_it_was(project: Project, tmp_path: Path, what: str) -> None:
    cause, fault = FAULTS[what]
    fault(project.path, tmp_path / "away")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for around in (_here, _in_a_thread):
        with pytest.raises(StoreError) as caught:
            around(lambda: _write(project))
        assert caught.value.cause == cause
        assert "p.db" in caught.value.message
        assert "back" in str(caught.value)
    after = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    # The shared index of the log is no part of what is stored.
    assert {file: text for file, text in after.items() if file.suffix != ".db-shm"} == {
        file: text for file, text in before.items() if file.suffix != ".db-shm"
    }


def _here(work: Callable[[], object]) -> None:
    work()


def _in_a_thread(work: Callable[[], object]) -> None:
    raised: list[StoreError] = []

    def run() -> None:
        try:
            work()
        except StoreError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@pytest.mark.parametrize("kept", [True, False])
def test_the_name_of_the_log_is_told(project: Project, tmp_path: Path, kept: bool) -> None:
    if not kept:
        project.database.write_back()
        project.database.reader().execute("SELECT 1").fetchone()
    project.path.rename(tmp_path / "away")
    log = Path(f"{project.path}-wal")
    if not kept:
        log.rename(tmp_path / "away-wal")
    with pytest.raises(StoreError) as caught:
        _write(project)
    said = f"{log} holds what is not in the file yet: leave it there." if kept else "belongs beside it"
    assert said in caught.value.hint


def test_a_file_that_is_put_back_is_written_again(project: Project, tmp_path: Path) -> None:
    before = _models(project.path)
    project.path.rename(tmp_path / "away")
    with pytest.raises(StoreError, match="put it back"):
        _write(project)
    (tmp_path / "away").rename(project.path)
    _write(project)
    project.close()
    assert _models(project.path) == before + 1


def test_what_is_moved_while_a_transaction_is_open_is_not_written(project: Project, tmp_path: Path) -> None:
    before = _models(project.path)

    def move_meanwhile() -> None:
        with project.database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('late')")
            project.path.rename(tmp_path / "away")

    with pytest.raises(StoreError, match="put it back"):
        move_meanwhile()
    (tmp_path / "away").rename(project.path)
    _write(project)
    project.close()
    assert _models(project.path) == before + 1


def test_a_link_that_is_turned_to_another_database_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    make_project(tmp_path, numbered(2)).close()
    make_project(tmp_path / "other", numbered(2)).close()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "p.db")
    project = open_project(link)
    _write(project)
    link.unlink()
    link.symlink_to(tmp_path / "other" / "p.db")
    with pytest.raises(StoreError) as caught:
        _write(project)
    assert caught.value.cause == "replaced"
    # Its log is beside the file, whatever the link is called.
    assert str(tmp_path / "p.db-wal") in caught.value.hint
    # Nor does another thread read the other one as if it were this one.
    with pytest.raises(StoreError, match="another file"):
        _in_a_thread(project.database.reader)
    project.close()
    assert _models(tmp_path / "other" / "p.db") == 0


def test_every_way_to_the_file_is_guarded(project: Project, tmp_path: Path) -> None:
    project.path.rename(tmp_path / "away")
    for way in (project.database.open, project.database.write_back, lambda: backup(project.database, tmp_path / "b")):
        with pytest.raises(StoreError, match="put it back"):
            way()
    assert not (tmp_path / "b").exists()
    assert not project.path.exists()


def test_a_database_that_others_close_and_open_is_no_other(project: Project) -> None:
    program = "import sys; from workbench.core.project import open_project; open_project(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", program, project.path], check=True)
    _write(project)
    project.database.close()
    # With nobody at it, the log is folded in and made anew.
    _write(project)


def test_a_write_asks_for_its_place_a_few_times(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []
    mark = place._mark

    def counted(path: Path) -> object:
        asked.append(path)
        return mark(path)

    monkeypatch.setattr(place, "_mark", counted)
    with project.database.write() as connection:
        connection.executemany("INSERT INTO models (name) VALUES (?)", ((f"x{n}",) for n in range(500)))
    assert len(asked) == 6


@pytest.mark.parametrize("kind", ["backup", "older copy", "another database"])
def test_a_copy_that_is_put_over_an_open_file_is_noticed_and_kept(project: Project, tmp_path: Path, kind: str) -> None:
    copy = tmp_path / "copy.db"
    if kind == "backup":
        backup(project.database, copy)
    elif kind == "older copy":
        project.database.write_back()
        shutil.copyfile(project.path, copy)
        _write(project)
        project.database.write_back()
        _write(project)
    else:
        (tmp_path / "other").mkdir()
        make_project(tmp_path / "other", numbered(3)).close()
        shutil.copyfile(tmp_path / "other" / "p.db", copy)
    _write(project)
    # As cp does it: the file stays the same, what is in it doesn't.
    shutil.copyfile(copy, project.path)
    for around in (_here, _in_a_thread):
        with pytest.raises(StoreError) as caught:
            around(lambda: _write(project))
        assert caught.value.cause == "overwritten"
    project.close()
    assert project.path.read_bytes() == copy.read_bytes(), "closing writes no page of the log over it"


def test_writing_the_log_back_is_no_replacement(project: Project) -> None:
    for _ in range(3):
        _write(project)
        project.database.write_back()
    _write(project)


@pytest.mark.parametrize("page", ["where it was", "elsewhere"])
def test_what_another_thread_has_seen_meanwhile_is_no_other_copy(
    project: Project, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    """One thread has read the file's state; before it compares, others write, and a second thread looks."""
    read, alone = generation.in_page, logs.alone
    pending = [1]

    def late(found: object) -> object:
        if pending and pending.pop():
            _write(project)
            project.database.write_back()
            project.database.require_contents()
        return found

    if page == "elsewhere":
        monkeypatch.setattr(generation, "in_page", lambda _: None)
        monkeypatch.setattr(logs, "alone", lambda path: late(alone(path)))
    else:
        monkeypatch.setattr(generation, "in_page", lambda held: late(read(held)))
    project.database.require_contents()
    assert not pending
