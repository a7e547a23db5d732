"""A database is closed while threads still use it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from tests.helpers import make_project, numbered
from workbench.core.database.connection import Database

READING = """
import random, sys, threading, time
from pathlib import Path
from workbench.core.database.connection import Database

def read(database, begun, done):
    try:
        while not done.is_set():
            reader = database.reader()
            begun.set()
            reader.execute("SELECT max(a.id + b.id) FROM completions AS a, completions AS b").fetchall()
    except Exception:
        return

for number in range(200):
    database, begun, done = Database(Path(sys.argv[1])), threading.Event(), threading.Event()
    thread = threading.Thread(target=read, args=(database, begun, done))
    thread.start()
    begun.wait()
    time.sleep(random.random() / 500)
    database.close()
    done.set()
    thread.join()
print("closed")
"""


def test_closing_during_a_read_does_not_crash(tmp_path: Path) -> None:
    make_project(tmp_path, numbered(60)).close()
    done = subprocess.run(
        [sys.executable, "-c", READING, str(tmp_path / "p.db")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "closed\n"), done.stderr


def test_connections_of_idle_threads_are_closed(tmp_path: Path) -> None:
    make_project(tmp_path, numbered(2)).close()
    database = Database(tmp_path / "p.db")
    go_on, has_read = threading.Event(), threading.Event()

    def read() -> None:
        assert database.reader().execute("SELECT count(*) FROM completions").fetchone() == (2,)
        has_read.set()
        go_on.wait()

    thread = threading.Thread(target=read)
    thread.start()
    has_read.wait()
    database.close()
    try:
        assert not (tmp_path / "p.db-wal").exists() or not (tmp_path / "p.db-wal").stat().st_size
    finally:
        go_on.set()
        thread.join()
