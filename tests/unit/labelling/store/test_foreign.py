"""Foreign databases: their tables can be read, and every other operation is denied."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.database.looking import opened_untrusted
from workbench.core.errors import StoreError
from workbench.labelling.store import foreign


@pytest.fixture
def path(tmp_path: Path) -> Path:
    project = make_project(tmp_path, numbered(2))
    with project.database.write() as connection:
        connection.execute("CREATE VIEW spy AS SELECT secret FROM secrets")
    project.close()
    return project.path


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM label_events",
        "UPDATE annotators SET name = 'eve'",
        "CREATE TABLE more (id INTEGER)",
        "ATTACH DATABASE 'another.db' AS another",
        "PRAGMA query_only = OFF",
        "PRAGMA trusted_schema = ON",
        "VACUUM INTO 'copy.db'",
        "SELECT load_extension('library')",
        "SELECT randomblob(9)",
        "SELECT secret FROM secrets",
        "SELECT * FROM spy",
        "SELECT * FROM verdicts",
    ],
)
def test_everything_except_reading_is_denied(path: Path, statement: str) -> None:
    with opened_untrusted(path, foreign.TABLES) as connection:
        with pytest.raises(sqlite3.DatabaseError, match=r"authoriz|prohibited"):
            connection.execute(statement)
        assert connection.execute("SELECT key FROM completions ORDER BY id").fetchall() == [("c0",), ("c1",)]


def test_a_denied_operation_is_reported(path: Path) -> None:
    with pytest.raises(StoreError, match="not authorized"), opened_untrusted(path, foreign.TABLES) as connection:
        connection.execute("DROP TABLE completions")


def test_no_file_is_left_next_to_the_database(path: Path) -> None:
    with opened_untrusted(path, foreign.TABLES) as connection:
        assert foreign.people(connection) == {}
        assert sorted(file.name for file in path.parent.iterdir()) == ["p.db"]
