"""Many who wait to write leave the processor to the one who writes, and none waits for a lock that SQLite has not."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError

_LOOKS = 100


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "p.db"
    Database(found, create=True).close()
    return found


def _write(database: Database, asked: list[str]) -> None:
    """Write as any thread does; ``asked`` gets the statements that SQLite is sent."""
    database._connection("normal").set_trace_callback(asked.append)
    with database.write() as connection:
        connection.execute("SELECT 1")
    database.close()


def test_whoever_waits_looks_for_the_turn_and_hardly_ever_asks_sqlite(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, enough, asked = [0], threading.Event(), list[str]()
    flock = fcntl.flock

    def counted(file: int, operation: int) -> None:
        if threading.current_thread() is not threading.main_thread() and operation & fcntl.LOCK_NB:
            looked[0] += 1
            if looked[0] >= _LOOKS:
                enough.set()
        flock(file, operation)

    monkeypatch.setattr(fcntl, "flock", counted)
    writer, waiter = Database(path), Database(path)
    with writer.write():
        thread = threading.Thread(target=_write, args=(waiter, asked))
        thread.start()
        assert enough.wait(PATIENCE_S)
        refused = asked.count("BEGIN IMMEDIATE")
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert asked.count("BEGIN IMMEDIATE") - refused <= 2
    assert refused * 3 <= looked[0]
    writer.close()


def test_threads_of_one_database_take_turns_too(path: Path) -> None:
    database = Database(path)
    written = list[int]()

    def work(number: int) -> None:
        for _ in range(10):
            with database.write():
                written.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert len(written) == 40
    database.close()


def test_who_has_the_turn_and_does_not_write_keeps_nobody_waiting(path: Path) -> None:
    """A process that was stopped in its turn, say."""
    database, asked = Database(path), list[str]()
    with database.write():
        pass
    log = os.open(f"{path}-wal", os.O_RDONLY)
    fcntl.flock(log, fcntl.LOCK_EX)
    _write(database, asked)
    os.close(log)
    assert asked[-1] == "COMMIT"
    assert asked.count("BEGIN IMMEDIATE") == 1


def test_the_turn_of_a_killed_process_is_free(path: Path) -> None:
    program = (
        "import sys, time; from workbench.core.database.connection import Database\n"
        "with Database(sys.argv[1]).write():\n    print('in', flush=True)\n    time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in\n"
        process.kill()
    asked: list[str] = []
    _write(Database(path), asked)
    assert asked.count("BEGIN IMMEDIATE") == 1


def test_without_such_locks_it_is_written_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", refused)
    asked: list[str] = []
    _write(Database(path), asked)
    assert asked[-1] == "COMMIT"


def test_ctrl_c_as_the_turn_is_taken_gives_it_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock

    def interrupted(file: int, operation: int) -> None:
        flock(file, operation)
        if operation & fcntl.LOCK_NB:
            raise KeyboardInterrupt

    database, asked = Database(path), list[str]()
    monkeypatch.setattr(fcntl, "flock", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _write(database, asked)
    log = os.open(f"{path}-wal", os.O_RDONLY)
    flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(log)
    assert "BEGIN IMMEDIATE" not in asked
    database.close()


def test_a_closed_database_holds_its_log_no_more_when_another_thread_was_writing(path: Path) -> None:
    database, inside, closed = Database(path), threading.Event(), threading.Event()

    def work() -> None:
        with suppress(RuntimeError, sqlite3.Error, StoreError), database.write() as connection:
            inside.set()
            closed.wait(PATIENCE_S)
            connection.execute("SELECT 1")
            raise RuntimeError

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(PATIENCE_S)
    database.close()
    closed.set()
    thread.join(PATIENCE_S)
    log = Path(f"{path}-wal")
    held = [file for file in Path("/proc/self/fd").iterdir() if file.exists() and log.exists() and file.samefile(log)]
    assert len(held) <= 1, "SQLite's own, of the connection that was at work"
