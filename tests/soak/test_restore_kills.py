"""restore, backup and archives killed at any moment: whole or not there, what stood there findable, no left-overs."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.unit.store.test_logs import crash
from workbench.errors import StoreError
from workbench.services.care import backup
from workbench.services.items.archiving import write_archive
from workbench.services.items.restoring_backups import restore
from workbench.services.project import open_project
from workbench.store.connection import Database

COMMANDS = {
    "restore": ("restore", "p.db", "copy.db"),
    "restore over a crash": ("restore", "p.db", "copy.db"),
    "restore itself": ("restore", "p.db", "p.db"),
    "restore an archive": ("restore", "new.db", "a.zip"),
    "backup": ("backup", "p.db", "copy.db", "--force"),
    "archive": ("export", "p.db", "a.zip", "--format", "workbench", "--force"),
}
LABELLED, COPIED = 5, 2


def models(path: Path) -> int:
    """How many models a whole database has."""
    with closing(Database(path)) as database:
        assert database.reader().execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found: int = database.reader().execute("SELECT count(*) FROM models").fetchone()[0]
        return found


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``p.db``, its earlier copy, an archive, and ``crashed.db`` whose log holds what came last."""
    folder = tmp_path_factory.mktemp("scene")
    project = make_project(folder, numbered(600))
    with project.database.write() as connection:
        connection.executemany("INSERT INTO models (name) VALUES (?)", [("a",), ("b",)])
    backup(project, folder / "copy.db")
    write_archive(project, folder / "a.zip")
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
    if name == "restore itself":
        crash(folder / "p.db", 2)
        shutil.copyfile(folder / "copy.db", folder / "p.db")


def took(command: Sequence[str], folder: Path) -> float:
    began = time.monotonic()
    subprocess.run(start(command), cwd=folder, check=True, capture_output=True)
    return time.monotonic() - began


def start(command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "workbench", *command]


def kill(command: Sequence[str], folder: Path, aim: float, draw: random.Random) -> bool:
    """Kill a command: some at a moment of its time, most just after one of its files appeared or changed."""
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
    """What is there after a kill: the whole old, the whole new, or a log that has still to follow its file."""
    if name == "restore an archive":
        return "new" if (folder / "new.db").exists() and models(folder / "new.db") == COPIED else "old"
    if name == "backup":
        return {LABELLED: "new", COPIED: "old"}[models(folder / "copy.db")]
    if name == "archive":
        restore(folder / "a.zip", folder / "again.db")
        return {LABELLED: "new", COPIED: "old"}[models(folder / "again.db")]
    whole = LABELLED + 2 if name == "restore over a crash" else LABELLED
    try:
        found = models(folder / "p.db")
    except StoreError as error:
        if "is not the log of" not in error.message:
            raise
        if name == "restore itself":
            restore(folder / "p.db", folder / "p.db")
            assert models(folder / "p.db") == COPIED
            return "old"
        assert models(folder / "p.db.before-restore-1") == whole
        restore(folder / "p.db", folder / "p.db")
        assert models(folder / "p.db") == COPIED
        return "log to follow"
    if found == COPIED and name != "restore itself":
        assert models(folder / "p.db.before-restore-1") == whole
        return "new"
    assert found == (COPIED if name == "restore itself" else whole)
    return "old" if name != "restore itself" else "new"


def no_leftovers(folder: Path, name: str) -> None:
    """The next command of the kind sweeps what the killed one left."""
    if name == "restore an archive" and (folder / "new.db").exists():
        (folder / "new.db").unlink()
    if name == "restore itself":
        restore(folder / "copy.db", folder / "p.db")
    else:
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


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_killed_is_whole_or_not_there(scene: Path, tmp_path: Path, name: str) -> None:
    assert sum(kills(scene, tmp_path, name, 1, 0).values())


@pytest.mark.soak
@pytest.mark.parametrize("name", COMMANDS)
def test_whatever_is_killed_is_whole_or_not_there(scene: Path, tmp_path: Path, name: str) -> None:
    found = kills(scene, tmp_path, name, 15, 1)
    print(name, dict(found))
    assert found["old"] or found["new"]


@pytest.mark.soak
def test_no_acknowledged_label_is_lost_to_restores_under_a_writer(tmp_path: Path) -> None:
    """A restore never takes a database from under whoever writes to it."""
    project = make_project(tmp_path, numbered(4))
    backup(project, tmp_path / "copy.db")
    project.close()
    script = (
        "import sys; from tests.unit.store.test_logs import Database\n"
        "database = Database(sys.argv[1]); print('open', flush=True)\n"
        "for n in range(400):\n"
        "    with database.write('full') as c: c.execute('INSERT INTO models (name) VALUES (?)', (f'{n}',))\n"
        "sys.stdin.read(); database.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "p.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdin
        assert writer.stdout
        writer.stdout.readline()
        for _ in range(20):
            with pytest.raises(StoreError, match="is open in process"):
                restore(tmp_path / "copy.db", tmp_path / "p.db")
        writer.stdin.close()
    with closing(open_project(tmp_path / "p.db")) as again:
        assert again.database.reader().execute("SELECT count(*) FROM models").fetchone() == (400,)
    with closing(sqlite3.connect(tmp_path / "p.db")) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
