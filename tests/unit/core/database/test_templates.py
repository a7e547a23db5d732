"""New databases begin as copies of one that holds the schema alone; whatever is a database's own is drawn for it."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.older import newer
from workbench.core.database import generation, migrations
from workbench.core.database.connection import Database
from workbench.core.database.schema_check import NAMES, differences, quoted

OLDEST, LATEST = migrations.OLDEST, migrations.latest_version()
_TIME = re.compile(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}\+00:00")
_TOO_LONG_FOR_CHANCE = 4
"""Bytes in a row that two random values do not share."""


def made(path: Path) -> Path:
    Database(path, create=True).close()
    return path


def rows(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    """Whatever stands in the tables."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    held = {name: connection.execute(f"SELECT * FROM {quoted(name)}").fetchall() for (name,) in tables}
    return {name: found for name, found in held.items() if found}


def shape(found: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The same without what is drawn at random or told by a clock."""
    return {table: [tuple(map(_plain, row)) for row in some] for table, some in found.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return len(value), any(value)
    text = re.sub(r"[0-9A-F]{32}$", "<name>", value) if isinstance(value, str) else value
    return re.sub(r"^\d{4}-\d\d-\d\d .*", "<time>", text) if isinstance(text, str) else text


def test_the_schema_is_made_once_for_all_new_databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A schema of its own, which no other test has made.
    newer(
        monkeypatch, "CREATE TABLE models (", "{}\nCREATE TABLE made_once (id INTEGER) STRICT;\nCREATE TABLE models ("
    )
    ran: list[bytes] = []

    def counted(content: bytes) -> migrations.SchemaTemplate:
        ran.append(content)
        return template(content)

    template = migrations.SchemaTemplate
    monkeypatch.setattr(migrations, "SchemaTemplate", counted)
    for number in range(3):
        made(tmp_path / f"{number}.db")
    assert len(ran) == 1


@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_a_new_database_is_what_becomes_of_an_older_one(tmp_path: Path, version: int) -> None:
    migrations.make(tmp_path / "new.db", version)
    migrations.make(tmp_path / "old.db", OLDEST)
    with (
        closing(sqlite3.connect(tmp_path / "new.db")) as new,
        closing(sqlite3.connect(tmp_path / "old.db")) as migrated,
    ):
        migrated.isolation_level = None
        migrations.migrate(migrated, tmp_path / "old.db", version)
        assert differences(new, version) == differences(migrated, version) == []
        assert shape(rows(new)) == shape(rows(migrated))
        for pragma in ("application_id", "user_version", "page_size", "encoding", "auto_vacuum"):
            asked = f"PRAGMA {pragma}"
            assert new.execute(asked).fetchone() == migrated.execute(asked).fetchone(), pragma
        assert new.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert new.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new.db", "old.db"]


@pytest.mark.parametrize("version", range(OLDEST, LATEST + 1))
def test_a_template_holds_the_schema_alone(version: int) -> None:
    with closing(migrations.template(version).in_memory()) as connection:
        held = rows(connection)
        names = migrations.MIGRATIONS[:version]
        assert [(name, time) for _, _, name, time in held.pop(NAMES)] == [(name, None) for name in names]
        assert held == {}
        assert generation.name(connection) == ""


def test_two_new_databases_share_no_random_value(tmp_path: Path) -> None:
    one, two = (made(tmp_path / name).read_bytes() for name in ("one.db", "two.db"))
    connection = "workbench.core.database.connection"
    script = f"import sys; from {connection} import Database; Database(sys.argv[1], create=True).close()"
    subprocess.run([sys.executable, "-c", script, tmp_path / "three.db"], check=True)
    elsewhere = (tmp_path / "three.db").read_bytes()
    one, two, elsewhere = (_TIME.sub(b"", content) for content in (one, two, elsewhere))
    assert len(one) == len(two) == len(elsewhere)
    # What two of one process share by more than chance, and one of another has not, was drawn once for both.
    common = bytes(a == b != c for a, b, c in zip(one, two, elsewhere, strict=True))
    assert bytes([1]) * _TOO_LONG_FOR_CHANCE not in common
    own = bytes(a != c for a, c in zip(one, elsewhere, strict=True))
    # Its secret, its name and the token of its first change.
    assert sum(own) > 0.8 * (32 + 32 + 8)
    for content in (one, two, elsewhere):
        assert content.count(b"workbench-generation ") == 1, "names of others are left over in it"


def test_every_database_says_when_it_was_made(tmp_path: Path) -> None:
    times = []
    for name in ("one.db", "two.db"):
        with closing(sqlite3.connect(made(tmp_path / name))) as connection:
            times.append([time for (time,) in connection.execute(f"SELECT applied_at FROM {NAMES}")])
    assert all(_TIME.fullmatch(time.encode()) for found in times for time in found)
    assert max(times[0]) < min(times[1])


def test_the_table_of_names_is_the_one_that_sqlite_utils_makes(tmp_path: Path) -> None:
    from sqlite_utils import Database as Utils
    from sqlite_utils import Migrations

    with closing(sqlite3.connect(":memory:")) as theirs, closing(sqlite3.connect(made(tmp_path / "p.db"))) as ours:
        Migrations("workbench").apply(Utils(theirs))
        asked = f"SELECT type, name, sql FROM sqlite_master WHERE tbl_name = '{NAMES}' ORDER BY name"
        assert ours.execute(asked).fetchall() == theirs.execute(asked).fetchall()
