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
    """Take back what later versions than this one, 8 or 9, have added."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for column in ("state", "before", "header"):
            connection.execute(f"ALTER TABLE generation DROP COLUMN {column}")
        connection.execute("ALTER TABLE label_events DROP COLUMN digest")
        connection.execute("DELETE FROM _sqlite_migrations WHERE name LIKE '_m010%'")
        if version == 8:
            _take_back_version_9(connection)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _take_back_version_9(connection: sqlite3.Connection) -> None:
    for table in ("bundle_items", "bundles", "bundle_pass", "event_seals", "generation"):
        connection.execute(f"DROP TABLE {table}")
    for table, column in (("runner", "process"), ("runner", "beat"), ("imports", "process"), ("runs", "trouble")):
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("DELETE FROM _sqlite_migrations WHERE name LIKE '_m009%'")
