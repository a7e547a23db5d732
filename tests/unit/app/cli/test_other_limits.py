"""Other disk limits: no more files, file size limits, no space at all; and an output that accepts nothing."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands import run
from tests.full_disk import FewFiles, SmallDisk, SmallFiles, small_disk
from tests.full_disk_commands import COMMANDS, DATABASES, READS
from tests.full_disk_input import CommandInput, prepare
from tests.full_disk_trial import SENTENCES, Trial

IN_PARTS = {"import new", "verdicts import"}
"""What a part of may be stored: an empty database, some verdicts of a run that isn't complete; the same goes on."""

SHORT = {"export", "labels import", "backup", "assign"}


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> CommandInput:
    return prepare(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module", params=[FewFiles, SmallFiles], ids=["few files", "small files"])
def disk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("small"), request.param) as found:
        yield found


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "command",
    [
        name if name in SHORT else pytest.param(name, marks=pytest.mark.soak)
        for name, words in COMMANDS.items()
        # The judged database needs a model server; test_full_disk has one.
        if name not in IN_PARTS and "JUDGED" not in words
    ],
)
def test_a_command_succeeds_completely_or_reports_failure(
    given: CommandInput, disk: SmallDisk, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.care.backups.MIN_FREE_BYTES", 0)
    monkeypatch.setattr("workbench.care.backups.check_sandbox", list)
    lefts = (0, 1, 2, 3, 5) if isinstance(disk, FewFiles) else (0, 40_000, 200_000, 620_000)
    found = Trial(given, disk, command).run(lefts if command not in SHORT else lefts[::2])
    assert found.total() == len(lefts if command not in SHORT else lefts[::2])


@pytest.fixture
def read_only(given: CommandInput, tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path) as disk:
        for name in ("p.db", "pool.db", "worn.db"):
            shutil.copy(given.folder / name, disk.path / name)
        subprocess.run(["mount", "-o", "remount,ro", str(disk.path)], check=True)
        yield disk.path
        subprocess.run(["mount", "-o", "remount,rw", str(disk.path)], check=True)


def test_a_read_only_disk_is_reported_and_can_be_copied(
    given: CommandInput, read_only: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.care.backups.check_sandbox", list)
    texts = {"IN/": f"{given.folder}/", "FILE": f"{read_only}/new", "FOLDER": f"{read_only}/folder"}
    texts |= {"ITEM": given.item, "FLAGGED": given.flagged}
    for name, text in {**READS, **COMMANDS}.items():
        if " ; " in text:
            continue
        words = [str(read_only / DATABASES[word]) if word in DATABASES else word for word in text.split()]
        for short, whole in texts.items():
            words = [word.replace(short, whole) for word in words]
        done = run(*words)
        assert "Traceback" not in done.stderr, (name, done.stderr)
        told = [line for line in done.stderr.splitlines() if line.startswith(SENTENCES)]
        assert done.returncode == 0 or len(told) == 1 or name == "doctor", (name, done.returncode, done.stderr)
    assert run("backup", read_only / "p.db", tmp_path / "copy.db").returncode == 0
    assert run("status", tmp_path / "copy.db").returncode == 0
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.mark.few(3)
@pytest.mark.parametrize("words", ["status DB", "export DB - --format verifybench", "labels DB export -"])
def test_a_full_output_device_is_reported_in_a_sentence(given: CommandInput, words: str) -> None:
    command = [str(given.folder / "p.db") if word == "DB" else word for word in words.split()]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "Error: The output: No space left on device."
    assert "Traceback" not in done.stderr
    assert "written" not in done.stderr


@pytest.mark.few(2)
@pytest.mark.parametrize("words", ["export DB - --format verifybench", "labels DB export -"])
def test_a_closed_output_is_reported_and_nothing_called_written(given: CommandInput, words: str) -> None:
    command = [str(given.folder / "p.db") if word == "DB" else word for word in words.split()]
    shell = f"exec {shlex.join([sys.executable, '-m', 'workbench', *command])} >&-"
    done = subprocess.run(["sh", "-c", shell], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "Standard output is closed." in done.stderr
    assert "written" not in done.stderr


def test_a_disk_on_which_files_run_out_is_called_full_and_not_forbidden(given: CommandInput, tmp_path: Path) -> None:
    with small_disk(tmp_path, FewFiles) as disk:
        place = disk.path / "p.db"
        shutil.copy(given.folder / "p.db", place)
        for left in (0, 1):
            disk.fill(left)
            for words in (["status", place], ["annotators", place, "add", "zoe"]):
                done = run(*words)
                assert done.returncode == 1
                assert "no room for another file" in done.stderr
                assert "Check that you may read" not in done.stderr
            for log in disk.path.glob("p.db-*"):
                log.unlink()
        disk.empty()
        assert run("annotators", place, "add", "zoe").returncode == 0


SORTING = """
import sqlite3, sys
from pathlib import Path
from workbench.core.errors import StoreError
from workbench.core.database.failures import explained

numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)"
try:
    with explained(Path(sys.argv[1])):
        sqlite3.connect(sys.argv[1]).execute(
            f"CREATE TEMP TABLE held AS {numbers} SELECT hex(randomblob(500)) FROM n"
        )
except StoreError as error:
    sys.exit(str(error))
"""


def test_a_full_disk_of_temporary_files_is_named(given: CommandInput, tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        disk.fill()
        done = subprocess.run(
            [sys.executable, "-c", SORTING, str(given.folder / "p.db")],
            env={**os.environ, "SQLITE_TMPDIR": str(disk.path), "TMPDIR": str(disk.path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert f"Make room in {disk.path}, or set SQLITE_TMPDIR to another folder" in done.stderr
