"""A full disk: nothing half done or lost, a backup elsewhere; tests/soak/test_full_disk.py runs every command."""

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
from tests.full_disk_commands import ELSEWHERE, every_command, untried
from tests.full_disk_input import CommandInput, prepared
from tests.full_disk_trial import Trial
from workbench.app.cli import root

SHORT = ("import", "import new", "export", "labels import", "guidelines set", "bundle", "publish", "restore")
CRASH = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("INSERT INTO models (name) VALUES ('in the log')")
print("written", flush=True)
sys.stdin.read()
os._exit(9)
"""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandInput]:
    with prepared(tmp_path_factory.mktemp("template")) as found:
        yield found


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


def test_every_form_of_every_command_is_covered_or_exempt() -> None:
    assert untried() == []
    assert ELSEWHERE.keys() <= {name for name, _ in every_command(root)}


@pytest.mark.few(4)
@pytest.mark.parametrize("command", SHORT)
def test_a_command_succeeds_completely_or_reports_failure(given: CommandInput, disk: SmallDisk, command: str) -> None:
    found = Trial(given, disk, command).run((0, 60_000, 600_000) if command == "import new" else (0, 60_000))
    assert found.total() - found["done"] >= 1


@pytest.mark.parametrize("state", ["closed", "crashed", "linked", "open"])
def test_a_backup_goes_to_another_disk(given: CommandInput, disk: SmallDisk, tmp_path: Path, state: str) -> None:
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
        if state == "linked":
            links = tmp_path.with_name("links")
            links.mkdir()
            (links / "link.db").symlink_to(place)
            assert run("backup", links / "link.db", place, "--force").returncode == 1
            place = links / "link.db"
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
