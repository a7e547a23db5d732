"""Files left by a crash are recovered: no acknowledged transaction is lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crashing import HALF, crash, models
from tests.helpers import make_project, numbered
from tests.newer_schema import newer_events
from workbench.core.database.connection import Database


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with ``p.db``, which has one model."""
    project = make_project(tmp_path, numbered(6))
    with project.database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('since')")
    project.close()
    return tmp_path


def test_a_crashed_database_loses_nothing(home: Path) -> None:
    crash(home / "p.db")
    shutil.copytree(home, home / "moved")
    assert models(home / "p.db") == models(home / "moved" / "p.db") == 4


def test_a_crashed_migration_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, numbered(4)).close()
    newer_events(monkeypatch)
    held = sqlite3.connect(tmp_path / "p.db")
    held.execute("BEGIN")
    held.execute("SELECT count(*) FROM models").fetchone()
    Database(tmp_path / "p.db").close()
    for end in ("", "-wal"):
        shutil.copy(tmp_path / f"p.db{end}", tmp_path / f"crashed.db{end}")
    assert models(tmp_path / "crashed.db") == 0
    held.close()


def test_a_first_import_that_was_killed_is_undone(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.close()
    assert subprocess.run([sys.executable, "-c", HALF, str(project.path)], check=False).returncode == 9
    assert Path(f"{project.path}-journal").stat().st_size > 0
    assert models(project.path) == 0


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 100_000, os.urandom(100_000)])
def test_an_invalid_log_is_left_to_sqlite(home: Path, content: bytes) -> None:
    (home / "p.db-wal").write_bytes(content)
    assert models(home / "p.db") == 1


@pytest.mark.parametrize("cut", [32, 33, 4_000, 4_151, 4_152, 4_153, 9_000, -1, -4_000])
def test_complete_transactions_of_a_truncated_log_are_read(home: Path, cut: int) -> None:
    crash(home / "p.db")
    whole = (home / "p.db-wal").read_bytes()
    (home / "p.db-wal").write_bytes(whole[:cut])
    assert 1 <= models(home / "p.db") <= 4
