"""Logs and files of one generation in the wrong place: told, or the whole of a state that was."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from tests.unit.core.database.test_logs import cp, files
from workbench.care.backups import backup
from workbench.core.database import logs, migrations
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError
from workbench.core.project import open_project

WRITER = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
database = Database(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    with database.write("full") as connection:
        connection.execute("INSERT INTO models (name) VALUES (?)", (f"{sys.argv[2]}{number}" + "x" * 2000,))
        connection.execute("UPDATE sources SET name = name || '.'")
        connection.execute("DELETE FROM models WHERE name LIKE 'old%' AND id % 7 = ?", (number,))
os._exit(9) if sys.argv[4] == "crash" else database.close()
"""

State = tuple[tuple[str, ...], ...]


def write(path: Path, name: str, times: int, *, crash: bool = True) -> None:
    """Another process writes some times, and is killed or ends."""
    command = [sys.executable, "-c", WRITER, str(path), name, str(times), "crash" if crash else "end"]
    assert subprocess.run(command, check=False).returncode == (9 if crash else 0)


def sqlite(path: Path, *statements: str) -> None:
    """SQLite alone, which looks at no mark."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def state(path: Path) -> State:
    """What a database holds; it must be whole."""
    with closing(Database(path)) as database:
        reader = database.reader()
        assert reader.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return tuple(
            tuple(row[0] for row in reader.execute(f"SELECT name FROM {table} ORDER BY 1"))
            for table in ("models", "sources")
        )


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``b.db`` has free pages in between; ``a.db`` is a copy of it over which something was written since."""
    folder = tmp_path_factory.mktemp("scene")
    project = make_project(folder, numbered(60))
    backup(project, folder / "b.db")
    project.close()
    with closing(open_project(folder / "b.db")) as home, home.database.write() as connection:
        connection.execute("INSERT INTO sources (name) VALUES ('s')")
        for number in range(60):
            connection.execute("INSERT INTO models (name) VALUES (?)", (f"old{number}" + "x" * 2000,))
    with closing(open_project(folder / "b.db")) as home, home.database.write() as connection:
        connection.execute("DELETE FROM models WHERE id % 3 = 0")
    shutil.copy(folder / "b.db", folder / "a.db")
    write(folder / "a.db", "a", 4)
    return folder


@pytest.fixture
def home(scene: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scene, tmp_path / "home"))


def true_states(folder: Path) -> set[State]:
    """Those of every pair of file and log that belongs together."""
    found = set()
    for name in ("a.db", "b.db", "c.db", "d.db"):
        if (folder / name).exists():
            place = folder / "true"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            for end in ("", "-wal"):
                if (folder / f"{name}{end}").exists():
                    shutil.copy(folder / f"{name}{end}", place / f"p.db{end}")
            found.add(state(place / "p.db"))
    return found


def vacuumed_over(home: Path) -> None:
    sqlite(home / "b.db", f"VACUUM INTO '{home}/v'")
    cp(home / "v", home / "a.db")


def vacuumed_live_over(home: Path) -> None:
    shutil.copytree(home, home / "live")
    sqlite(home / "live" / "a.db", f"VACUUM INTO '{home}/v'")
    cp(home / "v", home / "a.db")


def backed_up_by_sqlite_over(home: Path) -> None:
    with closing(sqlite3.connect(home / "b.db")) as source, closing(sqlite3.connect(home / "v")) as target:
        source.backup(target)
    cp(home / "v", home / "a.db")


def vacuumed_and_moved_on_over(home: Path) -> None:
    shutil.copy(home / "b.db", home / "c.db")
    sqlite(home / "c.db", "VACUUM")
    cp(home / "c.db", home / "a.db")


def half_over(home: Path) -> None:
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 2, crash=False)
    content = (home / "c.db").read_bytes()
    with (home / "a.db").open("r+b") as file:
        file.write(content[: len(content) // 2])


def half_of_older_over(home: Path) -> None:
    content = (home / "b.db").read_bytes()
    shutil.copy(home / "a.db", home / "kept")
    assert logs.foreign_log(home / "a.db") is None
    state(home / "a.db")
    write(home / "a.db", "n", 2)
    with (home / "a.db").open("r+b") as file:
        file.write(content[: len(content) // 2])


def others_log(home: Path) -> None:
    """Of a copy that was written to as often."""
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 2, crash=False)
    write(home / "c.db", "d", 3)
    (home / "a.db-wal").unlink()
    state(home / "a.db")
    write(home / "a.db", "n", 2, crash=False)
    shutil.copy(home / "c.db-wal", home / "a.db-wal")


def others_log_of_the_same_length(home: Path) -> None:
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 4, crash=False)
    write(home / "c.db", "d", 1)
    state(home / "a.db")
    shutil.copy(home / "c.db-wal", home / "a.db-wal")


def log_from_the_future(home: Path) -> None:
    shutil.copytree(home, home / "later")
    state(home / "later" / "a.db")
    write(home / "later" / "a.db", "f", 1)
    shutil.copy(home / "later" / "a.db-wal", home / "a.db-wal")


def own_old_log(home: Path) -> None:
    shutil.copy(home / "a.db-wal", home / "old")
    state(home / "a.db")
    write(home / "a.db", "n", 1, crash=False)
    shutil.copy(home / "old", home / "a.db-wal")


def own_old_log_from_before_a_branch(home: Path) -> None:
    """The file went on without its log, as often as there are transactions in it."""
    shutil.move(home / "a.db-wal", home / "old")
    write(home / "a.db", "n", 2, crash=False)
    shutil.copy(home / "old", home / "a.db-wal")


def copy_over_the_log(home: Path) -> None:
    cp(home / "b.db", home / "a.db-wal")


def file_of_another_moment(home: Path) -> None:
    shutil.copytree(home, home / "later")
    state(home / "later" / "a.db")
    write(home / "later" / "a.db", "f", 1)
    cp(home / "later" / "a.db", home / "a.db")
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 4)
    shutil.copy(home / "c.db-wal", home / "a.db-wal")


def second_name(home: Path) -> None:
    (home / "a.db").rename(home / "first.db")
    (home / "a.db-wal").rename(home / "first.db-wal")
    os.link(home / "first.db", home / "a.db")


TOLD = [
    vacuumed_over,
    vacuumed_live_over,
    vacuumed_and_moved_on_over,
    half_over,
    half_of_older_over,
    others_log,
    others_log_of_the_same_length,
    log_from_the_future,
    own_old_log,
    own_old_log_from_before_a_branch,
    copy_over_the_log,
    file_of_another_moment,
    second_name,
]


@pytest.mark.parametrize("done", TOLD, ids=lambda done: done.__name__)
def test_a_log_that_is_not_of_this_state_is_told(home: Path, done: Callable[[Path], None]) -> None:
    done(home)
    before = files(home)
    with pytest.raises(StoreError, match=r"is not the log of|has a second name"):
        Database(home / "a.db")
    assert files(home) == before


def same_again(home: Path) -> None:
    cp(home / "b.db", home / "a.db")


def half_of_the_same(home: Path) -> None:
    content = (home / "b.db").read_bytes()
    with (home / "a.db").open("r+b") as file:
        file.write(content[: len(content) // 2])


def log_of_a_copy_of_this_very_state(home: Path) -> None:
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 3)
    shutil.copy(home / "c.db-wal", home / "a.db-wal")


def own_log_after_it_was_written_back(home: Path) -> None:
    shutil.copy(home / "a.db-wal", home / "old")
    state(home / "a.db")
    shutil.copy(home / "old", home / "a.db-wal")


def cut_log(home: Path) -> None:
    whole = (home / "a.db-wal").read_bytes()
    shutil.copy(home / "a.db", home / "c.db")
    (home / "c.db-wal").write_bytes(whole[: len(whole) // 2])
    (home / "a.db-wal").write_bytes(whole[: len(whole) // 2])


def log_of_two_rounds(home: Path) -> None:
    """Frames of an earlier round stand behind those of this one."""
    with closing(Database(home / "a.db")) as database:
        database.write_back()
        write(home / "a.db", "n", 1)
        for end in ("", "-wal"):
            shutil.copy(home / f"a.db{end}", home / f"c.db{end}")
    for end in ("", "-wal"):
        shutil.copy(home / f"c.db{end}", home / f"a.db{end}")


def older_snapshot_of_both(home: Path) -> None:
    shutil.copytree(home, home / "older")
    state(home / "a.db")
    write(home / "a.db", "n", 2)
    for end in ("", "-wal"):
        shutil.copy(home / "older" / f"a.db{end}", home / f"a.db{end}")


def sqlite_vacuums_and_dies(home: Path) -> None:
    shutil.copytree(home, home / "copy")
    held = sqlite3.connect(home / "copy" / "a.db", isolation_level=None)
    held.execute("VACUUM")
    held.execute("DELETE FROM models WHERE name LIKE 'a0%'")
    for end in ("", "-wal"):
        shutil.copy(home / "copy" / f"a.db{end}", home / f"a.db{end}")
        shutil.copy(home / "copy" / f"a.db{end}", home / f"c.db{end}")
    held.close()


def sqlite_writes_between_and_dies(home: Path) -> None:
    state(home / "a.db")
    held = sqlite3.connect(home / "a.db", isolation_level=None)
    held.execute("INSERT INTO models (name) VALUES ('by hand')")
    write(home / "a.db", "n", 2)
    held.execute("INSERT INTO models (name) VALUES ('by hand too')")
    for end in ("", "-wal"):
        shutil.copy(home / f"a.db{end}", home / f"c.db{end}")
    held.close()
    for end in ("", "-wal"):
        shutil.copy(home / f"c.db{end}", home / f"a.db{end}")


def sqlite_restores_over_it(home: Path) -> None:
    with closing(sqlite3.connect(home / "b.db")) as source, closing(sqlite3.connect(home / "a.db")) as target:
        source.backup(target)


def sqlite_restores_another_over_it_and_dies(home: Path) -> None:
    with closing(open_project(home / "b.db")) as project:
        backup(project, home / "d.db")
    state(home / "a.db")
    held = sqlite3.connect(home / "a.db")
    with closing(sqlite3.connect(home / "d.db")) as source:
        source.backup(held)
    for end in ("", "-wal"):
        shutil.copy(home / f"a.db{end}", home / f"c.db{end}")
    held.close()
    for end in ("", "-wal"):
        shutil.copy(home / f"c.db{end}", home / f"a.db{end}")


def opened_by_a_link(home: Path) -> None:
    (home / "a.db").rename(home / "real.db")
    (home / "a.db-wal").rename(home / "real.db-wal")
    (home / "a.db").symlink_to("real.db")


SILENT = [
    same_again,
    half_of_the_same,
    log_of_a_copy_of_this_very_state,
    own_log_after_it_was_written_back,
    cut_log,
    log_of_two_rounds,
    older_snapshot_of_both,
    sqlite_vacuums_and_dies,
    sqlite_writes_between_and_dies,
    sqlite_restores_over_it,
    sqlite_restores_another_over_it_and_dies,
    opened_by_a_link,
]


@pytest.mark.parametrize("done", SILENT, ids=lambda done: done.__name__)
def test_what_is_a_state_that_was_is_opened_without_a_word(home: Path, done: Callable[[Path], None]) -> None:
    true = true_states(home)
    done(home)
    true |= true_states(home)
    assert state(home / "a.db") in true


@pytest.mark.parametrize("sector", [512, 4096])
@pytest.mark.parametrize("written", [1, 40, 81, 82, 100, 150])
def test_a_power_cut_while_the_log_is_written_back_loses_nothing(home: Path, written: int, sector: int) -> None:
    """Pages go back in their order, page 1 first; a disk writes sectors, not pages."""
    true = true_states(home)
    before, log = (home / "a.db").read_bytes(), (home / "a.db-wal").read_bytes()
    state(home / "a.db")
    after = (home / "a.db").read_bytes()
    end = written * 4096 + (sector if sector < 4096 else 0)
    (home / "a.db").write_bytes(after[:end] + before[end:])
    (home / "a.db-wal").write_bytes(log)
    assert state(home / "a.db") in true


@pytest.mark.parametrize("versions", [(8,), (9,), (8, 9), (9, 10), (8, 10), (9, 9)])
def test_a_crashed_database_of_an_older_version_loses_nothing(tmp_path: Path, versions: tuple[int, ...]) -> None:
    """A process of each version has written and died, the next one went on with its log."""
    path = tmp_path / "p.db"
    migrations.make(path, versions[0])
    with ExitStack() as held:
        for number, version in enumerate(versions):
            here = held.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            write: Callable[[], AbstractContextManager[sqlite3.Connection]] = partial(transaction_of, here, version)
            if version == migrations.latest_version():
                write = held.enter_context(closing(open_project(path))).database.write
            elif number and version > versions[number - 1]:
                migrations.migrate(here, path, version)
            # What reads keeps the log from being begun anew.
            reader = held.enter_context(closing(sqlite3.connect(path, isolation_level=None)))
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM models").fetchone()
            for time in range(2):
                with write() as connection:
                    connection.execute("INSERT INTO models (name) VALUES (?)", (f"{number} {time}",))
                here.execute("PRAGMA wal_checkpoint(PASSIVE)") if time else None
        (tmp_path / "crashed").mkdir()
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", tmp_path / "crashed" / f"p.db{end}")
        assert len(state(tmp_path / "crashed" / "p.db")[0]) == 2 * len(versions)


@contextmanager
def transaction_of(connection: sqlite3.Connection, version: int) -> Iterator[sqlite3.Connection]:
    """Write as the program of an older version did."""
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    if version == 9:
        connection.execute("UPDATE generation SET writes = writes + 1")
    connection.execute("COMMIT")


RESTLESS = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
for round in range(10**9):
    database = Database(Path(sys.argv[1]))
    for number in range(4):
        with database.write("full" if number else "normal") as connection:
            connection.execute("PRAGMA wal_autocheckpoint = 3")
            connection.execute("INSERT INTO models (name) VALUES (hex(randomblob(900)))")
            connection.execute("UPDATE sources SET name = name || '.'")
            connection.execute("DELETE FROM models WHERE id % 5 = ?", (number,))
        if number == 2:
            database.write_back()
    print(round, flush=True)
    database.close()
"""


def kills(home: Path, number: int) -> int:
    """Kill a process that writes and writes back; returns after how many kills a log was left."""
    chance, left = random.Random(number), 0
    for _ in range(number):
        with subprocess.Popen(
            [sys.executable, "-c", RESTLESS, str(home / "a.db")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout
            process.stdout.readline()
            time.sleep(chance.random() * 0.05)
            process.kill()
        log = home / "a.db-wal"
        left += log.exists() and log.stat().st_size > 0
        assert logs.foreign_log(home / "a.db") is None
        state(home / "a.db")
    return left


def test_a_kill_at_any_moment_is_no_other_log(home: Path) -> None:
    assert kills(home, 3) >= 0


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_kills_at_any_moment_are_no_other_log(home: Path, record_property: Callable[[str, object], None]) -> None:
    left = kills(home, 250)
    record_property("logs left", left)
    print("250 kills,", left, "logs left")
    assert left > 100


def test_a_copy_that_went_further_put_over_an_open_database_is_told(home: Path) -> None:
    shutil.copy(home / "b.db", home / "c.db")
    write(home / "c.db", "c", 4, crash=False)
    with closing(Database(home / "b.db")) as database:
        for number in range(2):
            with database.write() as connection:
                connection.execute("INSERT INTO models (name) VALUES (?)", (f"open{number}",))
        cp(home / "c.db", home / "b.db")
        content = (home / "b.db").read_bytes()
        with pytest.raises(StoreError, match="overwritten with another copy"), database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('never')")
    assert (home / "b.db").read_bytes() == content


def test_what_many_write_and_write_back_is_no_other_copy(home: Path) -> None:
    """Each sees the file change under it as another one writes the log back and begins it anew."""
    databases = [Database(home / "a.db") for _ in range(3)]
    for number in range(60):
        with databases[number % 3].write() as connection:
            connection.execute("INSERT INTO models (name) VALUES (?)", (f"many{number}",))
        if number % 4 == 0:
            databases[number % 2].write_back()
    for database in databases:
        database.close()
    assert len(state(home / "a.db")[0]) > 60
