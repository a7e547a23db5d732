"""A database that stays open has few file descriptors, however long it is used, and keeps its locks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.helpers import make_project, numbered
from workbench.care.backups import diagnosis
from workbench.core.database.backup import backup
from workbench.core.database.connection import Database
from workbench.core.project import Project


def held(path: Path) -> Counter[str]:
    """Count the descriptors this process has for each file of a database."""
    found = Counter[str]()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
        if target.startswith(str(path)):
            found[target] += 1
    return found


def worked(project: Project) -> None:
    with project.database.write() as connection:
        connection.execute("INSERT INTO models (name) SELECT 'm' || count(*) FROM models")
    project.database.reader().execute("SELECT count(*) FROM models").fetchone()
    project.database.write_back()
    project.database.data_version()
    Database(project.path).close()


def test_reads_writes_and_checkpoints_leak_no_descriptors(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    for _ in range(3):
        worked(project)
    before = held(project.path)
    for _ in range(100):
        worked(project)
    assert held(project.path) == before
    project.close()
    assert not held(project.path)


def test_inspecting_the_database_releases_no_lock(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    with project.database.write():
        # Reading its own database, this process closes no file that holds its locks.
        Database(project.path).close()
        diagnosis(project.path)
        script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('DELETE FROM models')"
        done = subprocess.run([sys.executable, "-c", script, str(project.path)], capture_output=True, check=False)
        assert b"database is locked" in done.stderr
    backup(project.database, tmp_path / "copy.db")
    project.close()
