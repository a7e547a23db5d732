"""Databases as earlier versions of the tables have them, made of new ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path


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
