"""Processes that hold a database open or are killed while they write to it, and the files they leave."""

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
"""A first import that is killed half-way: its rollback journal remains."""


def crash(path: Path, writes: int = 3) -> None:
    """Write to a database in a process that is then killed, so that the log remains."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(writes)], check=False)
    assert done.returncode == 9
    assert Path(f"{path}-wal").stat().st_size > 0


def hold(path: str) -> None:
    """Hold a database open, with a transaction in its log, until standard input ends."""
    database = Database(path)
    with database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('held')")
    print("open", flush=True)
    sys.stdin.read()
    os._exit(9)


def models(path: Path) -> int:
    """Return the number of models in a database."""
    with closing(Database(path)) as database:
        number: int = database.reader().execute("SELECT count(*) FROM models").fetchone()[0]
        return number


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
