"""Every command on a disk that is full or fills up while it runs: a command fails with an error or does all its work.

The short form is tests/unit/app/cli/test_full_disk.py.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.full_disk import SmallDisk, small_disk
from tests.full_disk_commands import COMMANDS, READS, SERVED
from tests.full_disk_input import CommandInput, prepared
from tests.full_disk_trial import Trial

pytestmark = pytest.mark.soak

LEFT = (0, 4_096, 20_000, 45_000, 80_000, 150_000, 300_000, 600_000, 1_500_000, 4_000_000)
"""Bytes that are free as a command begins."""


@pytest.fixture(scope="module")
def command_input(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandInput]:
    with prepared(tmp_path_factory.mktemp("template"), with_server=True) as found:
        yield found


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small")) as found:
        yield found


@pytest.mark.parametrize("command", [*COMMANDS, *SERVED, *READS])
def test_command_does_all_its_work_or_reports_failure(
    command_input: CommandInput, disk: SmallDisk, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The doctor's other checks take seconds, and the disk is small anyway.
    monkeypatch.setattr("workbench.care.backups.MIN_FREE_BYTES", 0)
    monkeypatch.setattr("workbench.care.backups.check_sandbox", list)
    lefts = LEFT[::2] if command in SERVED else LEFT
    print(command, dict(Trial(command_input, disk, command).run(lefts)), flush=True)


def test_runner_waits_for_space_and_continues(command_input: CommandInput, disk: SmallDisk) -> None:
    disk.empty()
    place = disk.path / "run" / "p.db"
    place.parent.mkdir()
    shutil.copy(command_input.folder / "p.db", place)
    command = [sys.executable, "-m", "workbench", "verify", str(place), "exact", "--name", "fresh"]
    log = place.with_name("p.db.runner.log")
    for left in (60_000, 70_000, 80_000, 100_000, 4_000_000):
        disk.fill(left)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
            for _ in range(300):
                if running.poll() is not None or (log.exists() and "nothing can be stored" in log.read_text()):
                    break
                time.sleep(0.1)
            disk.empty()
            _, stderr = running.communicate(timeout=120)
        assert running.returncode == 0 or "full" in stderr or "disk" in stderr
        assert "Traceback" not in stderr
        if running.returncode == 0:
            break
    assert running.returncode == 0
    assert "Traceback" not in log.read_text()
    with closing(sqlite3.connect(place)) as connection:
        stored, items = connection.execute(
            "SELECT (SELECT count(*) FROM verdicts AS v JOIN runs AS r ON r.id = v.run_id JOIN verifiers AS f "
            "ON f.id = r.verifier_id WHERE f.name = 'fresh'), (SELECT count(*) FROM completions)"
        ).fetchone()
    assert stored == items
