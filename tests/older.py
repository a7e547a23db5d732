"""Databases as earlier versions of the tables have them, and programs that have one version more."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from workbench.core.database import migrations, schema

VERSION_7 = Path(__file__).parent / "data" / "version-7.sql"
"""What the program of that version wrote: imports, labels, a bundle, runs, calls to a model server, code."""


def written_by_version_7(path: Path) -> Path:
    """Make a database of `VERSION_7`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_7.read_text(encoding="utf-8"))
    return path


def newer(patch: pytest.MonkeyPatch, old: str, new: str, *fills: Callable[[sqlite3.Connection], object]) -> None:
    """Let the program have a version more, which differs in one place of ``schema.sql``.

    Args:
        new: What stands there then; ``{}`` is the mark of the version.
        fills: What fills it.
    """
    version, text = migrations.latest_version() + 1, schema.text()
    assert text.count(old) == 1
    whole = text.replace(old, new.replace("{}", f"-- since {version}"))
    patch.setattr(schema, "text", lambda: whole)
    patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, f"_m{version:03}_more"))
    patch.setattr(migrations, "FILLS", {**migrations.FILLS, version: fills})


def make_older(path: Path, version: int) -> None:
    """Put one of an older version in the place of a database that nobody has open, with its rows."""
    older = path.with_name("older.db")
    migrations.make(older, version)
    with closing(sqlite3.connect(older, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS newer", (str(path),))
        tables = "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE '%sqlite_%'"
        connection.execute("BEGIN IMMEDIATE")
        for (table,) in connection.execute(tables).fetchall():
            columns = ", ".join(row[1] for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(f"DELETE FROM main.{table}")
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
        connection.execute("COMMIT")
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    older.replace(path)
