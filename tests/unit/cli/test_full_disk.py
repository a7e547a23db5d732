"""A full disk: nothing half done, nothing lost, a copy elsewhere; tests/soak/test_full_disk.py tries every command."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.full_disk import SmallDisk, small_disk
from tests.full_disk_commands import COMMANDS, ELSEWHERE, Given, every_command, prepare, try_command
from workbench.cli import root

SHORT = ("import", "import new", "export", "labels import", "guidelines", "bundle", "publish", "restore")
CRASH = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("INSERT INTO models (name) VALUES ('in the log')")
print("written", flush=True)
sys.stdin.read()
os._exit(9)
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


def test_every_command_is_tried_or_it_is_said_why_not() -> None:
    names = set(every_command(root))
    tried = {name for name in names if any(f"{words} ".startswith(f"{name} ") for words in _words())}
    assert names == tried | ELSEWHERE.keys()
    assert set(SHORT) <= COMMANDS.keys()


def _words() -> list[str]:
    """Words without the database, which stands within the names of groups."""
    return [words.replace(" DB", "", 1).replace(" NEW", "", 1) for words in COMMANDS.values()]


@pytest.mark.parametrize("command", SHORT)
def test_a_command_does_all_or_says_that_it_did_not(given: Given, disk: SmallDisk, command: str) -> None:
    found = try_command(given, disk, command, (0, 60_000, 600_000) if command == "import new" else (0, 60_000))
    assert found["said"] >= 1


@pytest.mark.parametrize("state", ["closed", "crashed", "open"])
def test_a_backup_goes_to_another_disk(given: Given, disk: SmallDisk, tmp_path: Path, state: str) -> None:
    disk.empty()
    place = disk.path / "p.db"
    shutil.copy(given.folder / "p.db", place)
    with subprocess.Popen(
        [sys.executable, "-c", CRASH, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        if state == "closed":
            with closing(sqlite3.connect(place)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if state != "open":
            process.kill()
            process.wait()
            (place.with_name("p.db-shm")).unlink()
        disk.fill()
        done = run("backup", place, tmp_path / "copy.db")
        assert done.returncode == 0, done.stderr
        process.kill()
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("SELECT count(*) FROM models WHERE name = 'in the log'").fetchone() == (1,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert os.listdir(tmp_path) == ["copy.db"]
    disk.fill()
    again = run("backup", place, disk.path / "here.db")
    assert again.returncode == 1
    assert not (disk.path / "here.db").exists()
    disk.empty()
    for path in disk.path.glob("p.db*"):
        path.unlink()
