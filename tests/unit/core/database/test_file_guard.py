"""An open database whose file is moved, deleted or replaced: detected before any write."""

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


FAULTS: dict[str, Callable[[Path, Path], object]] = {
    "mv": lambda path, away: path.rename(away),
    "rm": lambda path, away: os.remove(path),
    "rm of all three": lambda path, away: [*map(os.remove, path.parent.glob("p.db*"))],
    "mv, then an empty file": _move_then(Path.touch),
    "mv, then a folder": _move_then(Path.mkdir),
    "mv, then a link to elsewhere": _move_then(lambda path: path.symlink_to(path.parent)),
    "mv, then a link to nowhere": _move_then(lambda path: path.symlink_to("nowhere")),
    "a copy renamed over it": _replace,
    "the folder renamed": lambda path, away: path.parent.rename(away),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_moved_file_is_not_written(project: Project, tmp_path: Path, what: str) -> None:
    FAULTS[what](project.path, tmp_path / "away")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    for around in (_here, _in_a_thread):
        with pytest.raises(StoreError) as caught:
            around(lambda: _write(project))
        assert caught.value.cause == "moved"
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


def test_a_restored_file_is_written_again(project: Project, tmp_path: Path) -> None:
    before = _models(project.path)
    project.path.rename(tmp_path / "away")
    with pytest.raises(StoreError, match="put back the file"):
        _write(project)
    (tmp_path / "away").rename(project.path)
    _write(project)
    project.close()
    assert _models(project.path) == before + 1


def test_a_file_moved_during_a_transaction_is_not_written(project: Project, tmp_path: Path) -> None:
    before = _models(project.path)

    def move_meanwhile() -> None:
        with project.database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('late')")
            project.path.rename(tmp_path / "away")

    with pytest.raises(StoreError, match="put back the file"):
        move_meanwhile()
    (tmp_path / "away").rename(project.path)
    _write(project)
    project.close()
    assert _models(project.path) == before + 1


def test_a_redirected_link_is_noticed(tmp_path: Path) -> None:
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
    assert caught.value.cause == "moved"
    # Nor does another thread read the other one as if it were this one.
    with pytest.raises(StoreError, match="moved, deleted or replaced"):
        _in_a_thread(project.database.reader)
    project.close()
    assert _models(tmp_path / "other" / "p.db") == 0


def test_every_path_to_the_file_is_guarded(project: Project, tmp_path: Path) -> None:
    project.path.rename(tmp_path / "away")
    for way in (project.database.open, project.database.write_back, lambda: backup(project.database, tmp_path / "b")):
        with pytest.raises(StoreError, match="put back the file"):
            way()
    assert not (tmp_path / "b").exists()
    assert not project.path.exists()


def test_a_database_reopened_by_others_is_the_same(project: Project) -> None:
    program = "import sys; from workbench.core.project import open_project; open_project(sys.argv[1]).close()"
    subprocess.run([sys.executable, "-c", program, project.path], check=True)
    _write(project)
    project.database.close()
    # Without connections, the WAL is checkpointed and recreated.
    _write(project)
