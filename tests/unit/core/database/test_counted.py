"""Rows written are held against rows sent, whatever the schema says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, numbered
from tests.unit.core.database.test_schema_check import TABLES, TWELVE, columns_of, trigger
from workbench.core.database import migrations
from workbench.core.database.connection import Database
from workbench.core.database.counted import CountedConnection
from workbench.core.errors import WrittenError

VALUES: dict[str, Any] = {"INTEGER": 1, "TEXT": "x", "REAL": 1.0, "BLOB": b"x"}
OWN = "append-only|frozen"
"""What the program's own triggers say."""


@pytest.fixture(scope="module")
def tables() -> Iterator[CountedConnection]:
    """All tables with two rows each."""
    with closing(sqlite3.connect(":memory:", isolation_level=None, factory=CountedConnection)) as connection:
        made = migrations.made(migrations.latest_version())
        for row in sorted(made, key=lambda row: ["table", "index", "view", "trigger"].index(row.kind)):
            if row.sql is not None and not row.name.startswith("sqlite_"):
                connection.execute(row.sql)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for table in TABLES:
            for number in (1, 2):
                connection.execute(*insert(connection, table, number))
        yield connection


def insert(connection: sqlite3.Connection, table: str, number: int) -> tuple[str, list[Any]]:
    """A statement with a row that breaks no key."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    values = [VALUES[column[2]] * number if column[2] in VALUES else number for column in columns]
    names = ", ".join(column[1] for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})", values


@pytest.fixture
def filled(tables: CountedConnection) -> Iterator[CountedConnection]:
    """Those tables, in a transaction that is not kept."""
    tables.execute("BEGIN")
    yield tables
    tables.execute("ROLLBACK")
    forget(tables)


@pytest.mark.parametrize("kind", TWELVE)
def test_a_trigger_of_any_kind_on_any_table_is_refused_when_it_would_run(filled: CountedConnection, kind: str) -> None:
    verb = next(word for word in TWELVE[kind].split() if word in ("INSERT", "UPDATE", "DELETE"))
    for table in TABLES:
        columns = columns_of(filled, table)
        filled.execute(trigger(kind, table, columns[-1], columns))
        forget(filled)
        statement: tuple[str, list[Any]] = {
            "INSERT": insert(filled, table, 1001),
            "UPDATE": (f"UPDATE {table} SET {columns[-1]} = {columns[-1]}", []),
            "DELETE": (f"DELETE FROM {table}", []),
        }[verb]
        with pytest.raises(WrittenError, match="stranger"):
            filled.execute(*statement)
        filled.execute("DROP TRIGGER stranger")


INSERTED = [kind for kind, text in TWELVE.items() if "INSERT ON" in text]


@pytest.mark.parametrize("kind", INSERTED)
def test_rows_are_counted_also_where_a_trigger_is_not_seen(
    filled: CountedConnection, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    blind_to_strangers(monkeypatch)
    for table in TABLES:
        columns = columns_of(filled, table)
        filled.execute("SAVEPOINT one")
        filled.execute(trigger(kind, table, columns[-1], columns))
        forget(filled)
        sql, values = insert(filled, table, 1001)
        with pytest.raises((WrittenError, sqlite3.IntegrityError), match=f"rows were|{OWN}"):
            filled.executemany(sql, [values, insert(filled, table, 1002)[1]])
        filled.execute("ROLLBACK TO one")


@pytest.mark.parametrize(
    ("trigger", "statement", "said"),
    [
        (
            "BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END",
            "INSERT INTO models VALUES (?, ?)",
            "0 were written",
        ),
        (
            "BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END",
            "REPLACE INTO models VALUES (?, ?)",
            "0 were written",
        ),
        (
            "BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END",
            "INSERT OR IGNORE INTO models VALUES (?, ?)",
            "not there",
        ),
        (
            "BEFORE INSERT ON models WHEN NEW.id % 2 BEGIN SELECT raise(IGNORE); END",
            "insert into models VALUES (?, ?)",
            "1 were",
        ),
        (
            "AFTER INSERT ON models BEGIN DELETE FROM models WHERE id = NEW.id; END",
            "INSERT INTO models VALUES (?, ?)",
            "beside",
        ),
        ("AFTER INSERT ON models BEGIN DELETE FROM skips; END", "INSERT OR IGNORE INTO models VALUES (?, ?)", "beside"),
    ],
)
def test_what_was_swallowed_or_changed_beside_is_said(
    filled: CountedConnection, monkeypatch: pytest.MonkeyPatch, trigger: str, statement: str, said: str
) -> None:
    blind_to_strangers(monkeypatch)
    filled.execute(f"CREATE TRIGGER stranger {trigger}")
    forget(filled)
    with pytest.raises(WrittenError, match=said):
        filled.executemany(statement, [(8, "eight"), (9, "nine")])


def test_what_is_there_already_may_be_left_out(filled: CountedConnection) -> None:
    for _ in range(2):
        filled.executemany("INSERT OR IGNORE INTO models VALUES (?, ?)", [(8, "eight"), (9, "nine"), (9, "nine")])
        filled.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", (8, "eight"))
    assert filled.execute("SELECT count(*) FROM models WHERE id > 7").fetchone() == (2,)


def test_what_a_rule_of_the_table_would_drop_is_said(filled: CountedConnection) -> None:
    filled.execute("PRAGMA ignore_check_constraints = OFF")
    with pytest.raises(WrittenError, match="not there"):
        filled.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", (8, None))
    filled.execute("PRAGMA ignore_check_constraints = ON")


def test_a_table_that_ignores_what_it_has_is_found_out(filled: CountedConnection) -> None:
    filled.execute("DROP TABLE models")
    filled.execute("CREATE TABLE models (id, name UNIQUE ON CONFLICT IGNORE)")
    with pytest.raises(WrittenError, match="models: 3 rows were sent, 2 were written"):
        filled.executemany("INSERT INTO models VALUES (?, ?)", iter([(8, "x"), (9, "x"), (10, "z")]))


def test_a_view_in_a_tables_place_is_found_out(filled: CountedConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    blind_to_strangers(monkeypatch)
    filled.execute("DROP TABLE skips")
    filled.execute("CREATE VIEW skips AS SELECT 1 AS annotator_id, 1 AS completion_id, 1.0 AS skipped_at")
    filled.execute("CREATE TRIGGER stranger INSTEAD OF INSERT ON skips BEGIN SELECT 1; END")
    forget(filled)
    with pytest.raises(WrittenError, match="skips: 1 rows were sent, 0 were written"):
        filled.execute("INSERT OR REPLACE INTO skips VALUES (?, ?, ?)", (1, 1, 1.0))


def test_a_trigger_of_ours_that_says_something_else_is_refused(filled: CountedConnection) -> None:
    filled.execute("DROP TRIGGER item_states_changed")
    filled.execute("CREATE TRIGGER item_states_changed BEFORE UPDATE ON item_states BEGIN SELECT raise(IGNORE); END")
    forget(filled)
    with pytest.raises(WrittenError, match="item_states_changed"):
        filled.execute("UPDATE item_states SET gold = 1")


def test_notes_that_are_forgotten_are_no_rows_changed_beside(filled: CountedConnection) -> None:
    filled.execute("UPDATE sqlite_sequence SET seq = 29998 WHERE name = 'changes'")
    for number in range(10, 16):
        filled.execute("INSERT INTO item_states (completion_id, state) VALUES (?, 'final')", (number,))
    assert filled.execute("SELECT count(*) FROM changes").fetchone() < (8,)


def test_nothing_of_a_transaction_is_kept_in_which_rows_were_lost(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(
            "CREATE TRIGGER stranger BEFORE INSERT ON models WHEN NEW.name = 'b' BEGIN SELECT raise(IGNORE); END"
        )
    with closing(Database(path, unchecked=True)) as database:
        with pytest.raises(WrittenError, match="stranger") as caught:
            add_names(database)
        assert "Nothing of it was saved" in caught.value.hint
        for table in ("models", "sources"):
            assert database.reader().execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def add_names(database: Database) -> None:
    with database.write() as connection:
        for table in ("sources", "models"):
            connection.execute(f"INSERT INTO {table} (name) VALUES ('a')")


def forget(connection: CountedConnection) -> None:
    """Let it ask for triggers anew."""
    for counter in (-2, -1):
        connection.schema_is(counter)


def blind_to_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    triggers = CountedConnection.triggers

    def ours(self: CountedConnection, sql: str, parameters: object) -> list[tuple[str, str]]:
        return [found for found in triggers(self, sql, parameters) if found[0] != "stranger"]

    monkeypatch.setattr(CountedConnection, "triggers", ours)
