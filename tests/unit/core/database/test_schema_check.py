"""A database with unexpected tables, views or triggers is rejected, and each is named."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.care.backups import diagnosis
from workbench.care.doctor import repair
from workbench.care.store import anatomy
from workbench.care.store.rescuing import prepare_backup
from workbench.core.database import migrations, schema
from workbench.core.database.connection import Database
from workbench.core.database.looking import opened_read_only
from workbench.core.database.schema import differences
from workbench.core.errors import SchemaError

TABLES = sorted(part.name for part in schema.parts() if part.kind == "table")
TWELVE = {
    "swallowed": "BEFORE INSERT ON {t} BEGIN SELECT raise(IGNORE); END",
    "half swallowed": "BEFORE INSERT ON {t} WHEN (SELECT count(*) FROM {t}) % 2 BEGIN SELECT raise(IGNORE); END",
    "no update": "BEFORE UPDATE ON {t} BEGIN SELECT raise(IGNORE); END",
    "no removal": "BEFORE DELETE ON {t} BEGIN SELECT raise(IGNORE); END",
    "removed at once": "AFTER INSERT ON {t} BEGIN DELETE FROM {t}; END",
    "others removed": "BEFORE INSERT ON {t} BEGIN DELETE FROM {t}; END",
    "changed at once": "AFTER INSERT ON {t} BEGIN UPDATE {t} SET {c} = {c}; END",
    "changed when changed": "AFTER UPDATE ON {t} BEGIN DELETE FROM {t}; END",
    "one column": "BEFORE UPDATE OF {c} ON {t} BEGIN SELECT raise(IGNORE); END",
    "brought back": "AFTER DELETE ON {t} BEGIN INSERT INTO {t} SELECT OLD.*; END",
    "removed elsewhere": "AFTER INSERT ON {t} BEGIN DELETE FROM skips; END",
    "elsewhere when removed": "BEFORE DELETE ON {t} BEGIN DELETE FROM drafts; DELETE FROM skips; END",
}


def trigger(kind: str, table: str, column: str, columns: list[str]) -> str:
    old = ", ".join(f"OLD.{name}" for name in columns)
    return f"CREATE TRIGGER stranger {TWELVE[kind].format(t=table, c=column)}".replace("OLD.*", old)


def columns_of(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("made"), numbered(4))
    project.close()
    return project.path


@pytest.fixture
def path(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(made, tmp_path / "p.db"))


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")
        yield connection


def test_a_new_database_passes_the_check(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    migrations.make(path)
    with closing(sqlite3.connect(path)) as raw:
        assert differences(raw) == []
        raw.execute("CREATE TRIGGER stranger AFTER INSERT ON models BEGIN DELETE FROM models; END")
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="trigger stranger"):
        Database(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["old.db"]


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", TWELVE)
def test_a_trigger_of_any_kind_on_any_table_is_named(raw: sqlite3.Connection, kind: str) -> None:
    for table in TABLES:
        columns = columns_of(raw, table)
        raw.execute("BEGIN")
        raw.execute(trigger(kind, table, columns[-1], columns))
        (found,) = differences(raw)
        raw.execute("ROLLBACK")
        assert (found.kind, found.name, found.harmless) == ("trigger", "stranger", False)
        assert found.sql is not None
        assert table in found.sql


@pytest.mark.few(6)
@pytest.mark.parametrize("table", TABLES)
def test_a_view_in_a_tables_place_is_named(raw: sqlite3.Connection, table: str) -> None:
    raw.execute(f"ALTER TABLE {table} RENAME TO real")
    raw.execute(f"CREATE VIEW {table} AS SELECT * FROM real")
    raw.execute(f"CREATE TRIGGER stranger INSTEAD OF INSERT ON {table} BEGIN SELECT 1; END")
    found = {(one.kind, one.name) for one in differences(raw) if not one.harmless}
    assert found >= {("table", table), ("trigger", "stranger")}


REFUSED = {
    "a trigger of ours that lets pass": (
        "DROP TRIGGER label_events_no_update",
        "CREATE TRIGGER label_events_no_update BEFORE UPDATE ON label_events BEGIN SELECT 1; END",
    ),
    "one that acts on another table": (
        "DROP TRIGGER reviews_no_delete",
        "CREATE TRIGGER reviews_no_delete BEFORE DELETE ON skips "
        "BEGIN SELECT raise(ABORT, 'reviews is append-only'); END",
    ),
    "one that is gone": ("DROP TRIGGER curation_no_delete",),
    "one in another case": (
        "DROP TRIGGER label_events_no_delete",
        "CREATE TRIGGER LABEL_EVENTS_NO_DELETE BEFORE DELETE ON label_events BEGIN SELECT raise(IGNORE); END",
    ),
    "a view of ours that tells otherwise": (
        "DROP VIEW horizon",
        "CREATE VIEW horizon AS SELECT 3 AS completion_id, 3 AS question_id",
    ),
    "a view that is gone": ("DROP VIEW gold",),
    "a column more": ("ALTER TABLE models ADD COLUMN colour TEXT",),
    "a column less": ("ALTER TABLE runs DROP COLUMN message",),
    "a generated column": ("ALTER TABLE drafts ADD COLUMN more TEXT AS (upper(note)) VIRTUAL",),
    "a table that is gone": ("DROP TABLE drafts",),
    "a table without its rules": (
        "ALTER TABLE drafts RENAME TO real",
        "CREATE TABLE drafts (annotator_id, completion_id, note, updated_at)",
    ),
    "a unique index that is gone": ("DROP INDEX questions_key",),
    "an index that refuses rows": ("CREATE UNIQUE INDEX mine ON label_events (task, subject)",),
    "a virtual table for one of ours": ("DROP TABLE drafts", "CREATE VIRTUAL TABLE drafts USING fts5(note)"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_objects_that_can_change_data_are_rejected(path: Path, raw: sqlite3.Connection, kind: str) -> None:
    for statement in REFUSED[kind]:
        raw.execute(statement)
    raw.close()
    before = path.read_bytes()
    with pytest.raises(SchemaError, match="it was changed by another program"):
        Database(path)
    assert path.read_bytes() == before


def test_white_space_is_ignored(raw: sqlite3.Connection) -> None:
    (text,) = raw.execute("SELECT sql FROM sqlite_master WHERE name = 'horizon'").fetchone()
    raw.execute("DROP VIEW horizon")
    raw.execute(" ".join(text.split()))
    assert differences(raw) == []


HARMLESS = {
    "a table of one's own": (
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, item REFERENCES completions (id), says TEXT UNIQUE)",
    ),
    "a view of one's own": ("CREATE VIEW mine AS SELECT * FROM items",),
    "a plain index": ("CREATE INDEX mine ON verdicts (outcome)",),
    "an index by an expression": ("CREATE INDEX mine ON label_events (lower(note))",),
    "a unique index of a table of one's own": ("CREATE TABLE notes (x)", "CREATE UNIQUE INDEX mine ON notes (x)"),
}


@pytest.mark.parametrize("kind", HARMLESS)
def test_harmless_objects_are_accepted_and_named_by_doctor(path: Path, raw: sqlite3.Connection, kind: str) -> None:
    for statement in HARMLESS[kind]:
        raw.execute(statement)
    with closing(Database(path)) as database:
        found = anatomy.schema_findings(database.reader())
    assert found
    assert all(finding.ok and "no harm" in finding.message for finding in found)


def test_a_missing_performance_index_is_reported_by_doctor(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("DROP INDEX questions_subtype")
    with closing(Database(path)) as database:
        found = anatomy.schema_findings(database.reader())
        assert [(f.ok, f.message) for f in found] == [(False, "index questions_subtype is missing")]


def test_a_trigger_added_while_open_is_rejected_at_the_next_write(path: Path, raw: sqlite3.Connection) -> None:
    with closing(Database(path)) as database:
        with database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('before')")
        raw.execute("CREATE TRIGGER stranger BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END")
        with pytest.raises(SchemaError, match="trigger stranger"), database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('after')")
        raw.execute("DROP TRIGGER stranger")
        with database.write() as connection:
            connection.execute("INSERT INTO models (name) VALUES ('after')")
        assert database.reader().execute("SELECT name FROM models").fetchall() == [("before",), ("after",)]


def test_a_view_changed_while_open_is_not_read(path: Path, raw: sqlite3.Connection) -> None:
    with closing(Database(path)) as database:
        with database.reading() as connection:
            connection.execute("SELECT * FROM horizon").fetchall()
        raw.execute("DROP VIEW horizon")
        raw.execute("CREATE VIEW horizon AS SELECT 3 AS completion_id, 3 AS question_id")
        with pytest.raises(SchemaError, match="view horizon is not as"), database.reading():
            pass


def test_a_modified_backup_is_not_restored(path: Path, raw: sqlite3.Connection, tmp_path: Path) -> None:
    raw.execute("CREATE TRIGGER stranger BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END")
    raw.close()
    with pytest.raises(SchemaError, match=r"backup\.db: it was changed by another program: trigger stranger"):
        prepare_backup(path, tmp_path / "backup.db", path)


def test_doctor_repairs_a_database_that_cannot_be_opened(path: Path, raw: sqlite3.Connection) -> None:
    text = "CREATE TRIGGER stranger BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END"
    raw.execute(text)
    found = {finding.message for finding in diagnosis(path) if not finding.ok and finding.name == "schema"}
    assert found == {f"trigger stranger is not workbench's: {text}"}
    raw.execute("CREATE UNIQUE INDEX mine ON label_events (task, subject)")
    raw.close()
    assert repair(path).done == ["index mine: removed", "trigger stranger: removed"]
    assert repair(path).done == []
    Database(path).close()


def test_names_and_texts_are_shown_escaped(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("""CREATE TRIGGER "[red]\x1b[31m\u202ex'" BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END""")
    with pytest.raises(SchemaError) as caught:
        Database(path)
    assert r"\x1b[31m\u202ex" in caught.value.message
    with opened_read_only(path) as database:
        (found,) = anatomy.schema_findings(database.reader())
    assert found.message.endswith("SELECT raise(IGNORE); END")


def test_repairs_never_lose_a_row(path: Path, raw: sqlite3.Connection) -> None:
    raw.executescript(
        """DROP TRIGGER label_events_no_update; DROP VIEW gold; DROP INDEX questions_key; DROP INDEX questions_subtype;
        CREATE VIEW gold AS SELECT 1 AS completion_id;
        CREATE TRIGGER "a "" b" BEFORE INSERT ON models BEGIN SELECT raise(IGNORE); END;
        CREATE INDEX mine ON verdicts (outcome); CREATE TABLE notes (x);"""
    )
    assert len(anatomy.repair_schema(path)) == 5
    assert anatomy.repair_schema(path) == []
    assert [one.name for one in differences(raw)] == ["mine", "notes"]
    Database(path).close()
