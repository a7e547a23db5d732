"""New databases are copies of a template that has only the schema; their unique values are drawn anew."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.newer_schema import newer
from workbench.core.database import migrations
from workbench.core.database.connection import Database
from workbench.core.database.schema import quoted

_TOO_LONG_FOR_CHANCE = 4
"""Bytes in a row that two random values do not share."""


def made(path: Path) -> Path:
    Database(path, create=True).close()
    return path


def rows(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """Return the rows of all tables that have any."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    held = {name: connection.execute(f"SELECT * FROM {quoted(name)}").fetchall() for (name,) in tables}
    return {name: found for name, found in held.items() if found}


def test_the_schema_is_made_once_for_all_new_databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A unique schema that no other test has created.
    newer(monkeypatch, "CREATE TABLE models (", "CREATE TABLE made_once (id INTEGER) STRICT;\nCREATE TABLE models (")
    ran: list[bytes] = []

    def counted(content: bytes) -> migrations.SchemaTemplate:
        ran.append(content)
        return template(content)

    template = migrations.SchemaTemplate
    monkeypatch.setattr(migrations, "SchemaTemplate", counted)
    for number in range(3):
        made(tmp_path / f"{number}.db")
    assert len(ran) == 1


def test_a_template_has_only_the_schema() -> None:
    with closing(migrations.template().in_memory()) as connection:
        assert rows(connection) == {}


def test_two_new_databases_share_no_random_value(tmp_path: Path) -> None:
    one, two = (made(tmp_path / name).read_bytes() for name in ("one.db", "two.db"))
    connection = "workbench.core.database.connection"
    script = f"import sys; from {connection} import Database; Database(sys.argv[1], create=True).close()"
    subprocess.run([sys.executable, "-c", script, tmp_path / "three.db"], check=True)
    elsewhere = (tmp_path / "three.db").read_bytes()
    assert len(one) == len(two) == len(elsewhere)
    # What two of one process share by more than chance, and one of another has not, was drawn once for both.
    common = bytes(a == b != c for a, b, c in zip(one, two, elsewhere, strict=True))
    assert bytes([1]) * _TOO_LONG_FOR_CHANCE not in common
    own = bytes(a != c for a, c in zip(one, elsewhere, strict=True))
    # Its secret and the token of its first change.
    assert sum(own) > 0.8 * (32 + 8)
