"""restore, backup and archives are killed at any moment: the old or the new file is intact, and no leftovers remain."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.crashing import crash
from tests.helpers import make_project, numbered
from workbench.care.backups import restore_backup
from workbench.core.database.backup import backup
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError
from workbench.core.project import open_project
from workbench.interchange.exporting import write_archive

COMMANDS = {
    "restore": ("restore", "p.db", "copy.db"),
    "restore over a crash": ("restore", "p.db", "copy.db"),
    "restore an archive": ("restore", "new.db", "a.db"),
    "backup": ("backup", "p.db", "copy.db", "--force"),
    "archive": ("export", "p.db", "a.db", "--format", "workbench", "--force"),
}
LABELLED, COPIED = 5, 2


def models(path: Path) -> int:
    """Return the number of models in an intact database."""
    with closing(Database(path)) as database:
        assert database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found: int = database.reader().execute("SELECT count(*) FROM models").fetchone()[0]
        return found


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create ``p.db``, an earlier copy, an archive, and ``crashed.db`` whose last transactions are only in its log."""
    folder = tmp_path_factory.mktemp("scene")
    project = make_project(folder, numbered(600))
    with project.database.write() as connection:
        connection.executemany("INSERT INTO models (name) VALUES (?)", [("a",), ("b",)])
    backup(project.database, folder / "copy.db")
    write_archive(project, folder / "a.db")
    with project.database.write() as connection:
        connection.executemany("INSERT INTO models (name) VALUES (?)", [("c",), ("d",)])
    project.close()
    with closing(Database(folder / "p.db")) as database, database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('e')")
    return folder


def set_up(scene: Path, folder: Path, name: str) -> None:
    shutil.copytree(scene, folder, dirs_exist_ok=True)
    if name == "restore over a crash":
        crash(folder / "p.db", 2)


def took(command: Sequence[str], folder: Path) -> float:
    began = time.monotonic()
    subprocess.run(start(command), cwd=folder, check=True, capture_output=True)
    return time.monotonic() - began


def start(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "workbench", *command]


def kill(command: Sequence[str], folder: Path, aim: float, draw: random.Random) -> bool:
    """Kill a command: sometimes at a random moment, mostly right after one of its files appeared or changed."""
    before = listing(folder)
    with subprocess.Popen(
        start(command), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        if draw.random() < 0.8:
            changes = draw.randint(1, 14)
            seen = before
            while process.poll() is None and changes:
                now = listing(folder)
                changes -= now != seen
                seen = now
        else:
            time.sleep(draw.uniform(0.5, 1) * aim)
        killed = process.poll() is None
        if killed:
            os.killpg(process.pid, signal.SIGKILL)
    return killed


def listing(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(place, name))
            except FileNotFoundError:
                continue
            found.append((os.path.join(place, name), status.st_ino, status.st_size))
    return sorted(found)


def outcome(folder: Path, name: str) -> str:
    """Return whether the old or the new file is there; it must be intact."""
    if name == "restore an archive":
        return "new" if (folder / "new.db").exists() and models(folder / "new.db") == COPIED else "old"
    if name == "backup":
        return {LABELLED: "new", COPIED: "old"}[models(folder / "copy.db")]
    if name == "archive":
        read = folder / f"read-{len(list(folder.glob('read-*.db')))}.db"
        restore_backup(folder / "a.db", read)
        return {LABELLED: "new", COPIED: "old"}[models(read)]
    whole = LABELLED + 2 if name == "restore over a crash" else LABELLED
    found = models(folder / "p.db")
    if found == COPIED:
        assert models(folder / "p.db.before-restore-1") == whole
        return "new"
    assert found == whole
    return "old"


def no_leftovers(folder: Path, name: str) -> None:
    """Check that the next command of the kind removes the leftovers."""
    if name == "restore an archive" and (folder / "new.db").exists():
        (folder / "new.db").unlink()
    subprocess.run(start(COMMANDS[name]), cwd=folder, check=True, capture_output=True)
    assert not [file.name for file in folder.iterdir() if file.name.startswith(".")]


def kills(scene: Path, folder: Path, name: str, number: int, seed: int) -> Counter[str]:
    draw, found, aim = random.Random(f"{name} {seed}"), Counter[str](), 0.0
    while sum(found.values()) - found["too late"] < number:
        place = folder / f"{name}-{sum(found.values())}"
        set_up(scene, place, name)
        if not aim:
            aim = took(COMMANDS[name], place)
            shutil.rmtree(place)
            continue
        if not kill(COMMANDS[name], place, aim, draw):
            found["too late"] += 1
        else:
            found[outcome(place, name)] += 1
            no_leftovers(place, name)
        shutil.rmtree(place)
        assert found["too late"] <= 5 * number
    return found


@pytest.mark.soak
@pytest.mark.parametrize("name", COMMANDS)
def test_killed_command_leaves_an_intact_file_or_none(scene: Path, tmp_path: Path, name: str) -> None:
    found = kills(scene, tmp_path, name, 15, 1)
    print(name, dict(found))
    assert found["old"] or found["new"]


WRITER = """
import itertools, os, sys, time
from workbench.core.errors import WorkbenchError
from workbench.core.database.connection import Database
_, path, stop, stays = sys.argv
for n in itertools.count():
    if os.path.exists(stop):
        break
    try:
        database = Database(path)
        try:
            for k in range(3):
                with database.write("full") as connection:
                    connection.execute("INSERT INTO models (name) VALUES (?)", (f"{n}-{k}",))
                print(f"{n}-{k}", flush=True)
            if stays:
                sys.stdin.readline()
        finally:
            database.close()
    except WorkbenchError as error:
        print("refused:", error.message, file=sys.stderr, flush=True)
    time.sleep(0.05)
"""


@pytest.mark.soak
def test_restores_during_writes_lose_no_acknowledged_label(tmp_path: Path) -> None:
    """Every acknowledged label is in the database or in a preserved copy, and each of them is intact."""
    path = tmp_path / "p.db"
    project = make_project(tmp_path, numbered(4))
    backup(project.database, tmp_path / "copy.db")
    project.close()
    found = Counter[str]()
    with (tmp_path / "acknowledged").open("wb") as acknowledged:
        command = [sys.executable, "-c", WRITER, str(path), str(tmp_path / "stop"), ""]
        with subprocess.Popen(command, stdout=acknowledged, stderr=subprocess.DEVNULL) as writer:
            while writer.poll() is None and found.total() < 60:
                try:
                    restore_backup(tmp_path / "copy.db", path)
                    found["restored"] += 1
                except StoreError:
                    found["refused"] += 1
            (tmp_path / "stop").touch()
    assert writer.returncode == 0
    there = set[str]()
    for file in [path, *tmp_path.glob("p.db.before-restore-*")]:
        if file.name.endswith(("-wal", "-journal")):
            continue
        with closing(Database(file)) as database:
            assert database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
            there |= {name for (name,) in database.reader().execute("SELECT name FROM models")}
    reported = set((tmp_path / "acknowledged").read_text(encoding="ascii").split())
    print("writers that come and go", dict(found), len(reported), "acknowledged", len(reported - there), "lost")
    assert reported <= there
    assert reported


@pytest.mark.soak
def test_restore_never_replaces_a_database_in_use(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    project = make_project(tmp_path, numbered(4))
    backup(project.database, tmp_path / "copy.db")
    project.close()
    command = [sys.executable, "-c", WRITER, str(path), str(tmp_path / "stop"), "stays"]
    acknowledged = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdin
        assert writer.stdout
        while writer.stdout.readline():
            acknowledged += 1
            with pytest.raises(StoreError, match="is in use"):
                restore_backup(tmp_path / "copy.db", path)
            if acknowledged == 60:
                (tmp_path / "stop").touch()
            if acknowledged % 3 == 0:
                writer.stdin.write(b"\n")
                writer.stdin.flush()
    assert (writer.returncode, acknowledged) == (0, 60)
    with closing(open_project(path)) as again:
        assert again.database.reader().execute("SELECT count(*) FROM models").fetchone() == (60,)
    assert not list(tmp_path.glob("p.db.before-restore-*"))
