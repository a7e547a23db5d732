"""Partial files have unique names and are removed once their process is gone."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.core.files import (
    new_file_mark,
    part_folder,
    remove_leftovers,
    remove_marked,
    temporary_folder,
    whole_file,
)

DIES = """
import os, sys, tempfile
from pathlib import Path
from workbench.core.files import new_file_mark, part_folder, temporary_folder, whole_file
tempfile.tempdir = sys.argv[1]
place = Path(sys.argv[1]) / "out.csv"
with whole_file(place) as file, part_folder(place.with_name("new.db")) as part, temporary_folder("merge") as other:
    (part / "new.db").write_text("half"), (part / "new.db-wal").write_text("half"), (other / "a").write_text("half")
    os.symlink("/", place.with_name(f"symlink-race-{new_file_mark()}.new"))
    (place.with_name(f"fill-{new_file_mark()}")).mkdir()
    file.write(b"half"), file.flush()
    print("made", flush=True)
    sys.stdin.read() if len(sys.argv) > 2 else os._exit(9)
"""


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A folder with all that a killed process leaves."""
    subprocess.run([sys.executable, "-c", DIES, tmp_path], check=False, stdout=subprocess.DEVNULL)
    assert len(list(tmp_path.iterdir())) == 5
    age_marked(tmp_path)
    return tmp_path


def age_marked(folder: Path) -> None:
    """Files with a mark are leftovers after an hour."""
    for path in folder.iterdir():
        if "attack" in path.name:
            os.utime(path, (time.time() - 3601,) * 2, follow_symlinks=False)


def test_partial_files_of_a_killed_process_are_removed(left: Path) -> None:
    assert remove_leftovers(left) == 5
    assert list(left.iterdir()) == []


def test_the_next_writer_removes_partial_files(left: Path) -> None:
    with whole_file(left / "another") as file:
        file.write(b"1")
    assert [path.name for path in left.iterdir()] == ["another"]


def test_partial_files_of_a_live_process_stay(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", DIES, tmp_path, "lives"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"made\n"
        assert remove_leftovers(tmp_path) == 0
        assert len(list(tmp_path.iterdir())) == 5
        process.kill()
    assert remove_leftovers(tmp_path) == 3
    age_marked(tmp_path)
    assert remove_leftovers(tmp_path) == 2


def test_foreign_files_stay(left: Path) -> None:
    dead = next(path.name for path in left.iterdir() if path.name.startswith(".out"))
    theirs = [".part", "a.part", f"{dead[1:]}", f"{dead}.kept", ".x.12.34.part", ".x.-1.part", ".x..part", "workbench-"]
    theirs += ["workbench-bench", "workbench-attacks-ab12cd34", "attack12", "my-attack-notahex8"]
    for name in theirs:
        (left / name).touch()
    os.mkfifo(left / dead.replace("out", "pipe"))
    theirs.append(dead.replace("out", "pipe"))
    if os.geteuid() == 0:
        theirs.append(dead.replace("out", "another"))
        (left / theirs[-1]).touch()
        os.chown(left / theirs[-1], 65534, 65534)
    assert remove_leftovers(left) == 5
    assert {path.name for path in left.iterdir()} >= set(theirs)


def test_a_link_is_removed_and_its_target_stays(left: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    aside = tmp_path_factory.mktemp("aside")
    (aside / "mine").touch()
    dead = next(path for path in left.iterdir() if path.name.startswith(".new"))
    (left / dead.name.replace("new", "link")).symlink_to(aside)
    (dead / "inside").symlink_to(aside)
    assert remove_leftovers(left) == 6
    assert (aside / "mine").exists()


def test_a_locked_partial_file_stays(left: Path) -> None:
    held = next(path for path in left.iterdir() if path.name.startswith(".out"))
    with held.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert remove_leftovers(left) == 4
    assert [path.name for path in left.iterdir()] == [held.name]


def test_a_failed_write_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(ValueError, match="midway"), _all(tmp_path):
        raise ValueError("midway")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").write_text("old")
    with pytest.raises(FileExistsError), whole_file(tmp_path / "there", replace=False) as file:
        file.write(b"new")
    assert (tmp_path / "there").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    with whole_file(tmp_path / ("ü" * 127)) as file:
        file.write(b"a long name")
    remove_marked(tmp_path, new_file_mark())
    assert len(list(tmp_path.iterdir())) == 2


@contextmanager
def _all(folder: Path) -> Iterator[None]:
    with whole_file(folder / "a"), part_folder(folder / "b") as part, temporary_folder("merge"):
        (part / "c").mkdir()
        yield
