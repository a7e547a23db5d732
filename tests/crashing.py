"""Processes that have a database open or die over it, and what they leave."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from workbench.core.database.connection import Database

KILLED = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
database = Database(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    with database.write("full") as connection:
        connection.execute("INSERT INTO models (name) VALUES (?)", (f"killed {os.getpid()} {number}" + "x" * 3000,))
os._exit(9)
"""
HALF = """
import os, sys
from pathlib import Path
from workbench.core.database.connection import Database
from workbench.data.store.importing import import_session
database = Database(Path(sys.argv[1]))
with import_session(database, "d") as session:
    bulk = session._bulk
    bulk.execute("PRAGMA cache_size = 10")
    for number in range(2000):
        bulk.execute("INSERT INTO models (name) VALUES (?)", (f"m{number}" + "x" * 2000,))
    os._exit(9)
"""
"""A first import that is killed half-way: its rollback journal is left."""


def crash(path: Path, writes: int = 3) -> None:
    """A process has written and was killed, so that its log is still there."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(writes)], check=False)
    assert done.returncode == 9
    assert Path(f"{path}-wal").stat().st_size > 0


def hold(path: str) -> None:
    """Have a database open, with something in its log, until standard input ends."""
    database = Database(path)
    with database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('held')")
    print("open", flush=True)
    sys.stdin.read()
    os._exit(9)


def models(path: Path) -> int:
    """How many models a database has."""
    with closing(Database(path)) as database:
        number: int = database.reader().execute("SELECT count(*) FROM models").fetchone()[0]
        return number


def files(folder: Path) -> dict[str, bytes]:
    """Every file in a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
