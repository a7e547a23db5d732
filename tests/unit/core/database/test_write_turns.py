"""Processes that wait to write do not take the processor from the writer, nor wait for a lock that is free."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.background import PATIENCE_S
from workbench.core.database.connection import Database
from workbench.core.errors import StoreError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "p.db"
    Database(found, create=True).close()
    return found


def test_threads_of_one_database_write_one_after_the_other(path: Path) -> None:
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


def test_closing_during_a_write_releases_the_wal(path: Path) -> None:
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
