"""Opening a database: versions, foreign files, network file systems, durability, append-only events."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import make_project, merge, numbered
from tests.newer_schema import newer, newer_events
from tests.unit.measuring.scored_runs import add_complete_run
from workbench.care.doctor import examine
from workbench.care.rescuing import rescue
from workbench.care.store import anatomy
from workbench.core.database import migrations, place, schema
from workbench.core.database.connection import Database
from workbench.core.database.looking import open_read_only
from workbench.core.database.schema import differences
from workbench.core.errors import StoreError
from workbench.core.project import open_project
from workbench.core.verdict import Outcome, Verdict

ROOT = Path(__file__).resolve().parents[4]


def test_a_new_database_is_in_wal_mode_with_foreign_keys(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    assert database.reader().execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert database.reader().execute("PRAGMA foreign_keys").fetchone() == (1,)


@pytest.mark.parametrize(("durability", "level"), [("full", 2), ("normal", 1)])
def test_labels_are_written_with_full_and_bulk_rows_with_normal_durability(
    tmp_path: Path, durability: Any, level: int
) -> None:
    database = Database(tmp_path / "p.db", create=True)
    with database.write(durability) as connection:
        assert connection.in_transaction
        assert connection.execute("PRAGMA synchronous").fetchone() == (level,)


def test_a_failed_transaction_is_rolled_back(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)

    def fail() -> None:
        with database.write("full") as connection:
            connection.execute("INSERT INTO models (name) VALUES ('m')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert database.reader().execute("SELECT count(*) FROM models").fetchone() == (0,)


def test_a_failed_commit_leaves_no_open_transaction(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)

    def refer_to_nothing() -> None:
        with database.write("full") as connection:
            connection.execute("PRAGMA defer_foreign_keys = ON")
            connection.execute("INSERT INTO batch_annotators (batch_id, annotator_id) VALUES (7, 7)")

    with pytest.raises(sqlite3.IntegrityError):
        refer_to_nothing()
    with database.write("full") as connection:
        connection.execute("INSERT INTO models (name) VALUES ('m')")
    assert database.reader().execute("SELECT name FROM models").fetchall() == [("m",)]


def test_a_full_disk_is_reported_and_rolled_back(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)

    def fill() -> None:
        with database.write("full") as connection:
            connection.execute("INSERT INTO models (name) VALUES ('m')")
            connection.execute("PRAGMA max_page_count = 1")
            connection.execute("INSERT INTO models (name) VALUES (?)", ("x" * 10**7,))

    with pytest.raises(StoreError, match="full") as caught:
        fill()
    assert "Make room" in caught.value.hint
    assert database.reader().execute("SELECT count(*) FROM models").fetchone() == (0,)


def test_special_files_are_rejected(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, fifo, Path("/dev/null")):
        with pytest.raises(StoreError, match="it is not a file"):
            Database(path, create=True)
    with pytest.raises(StoreError, match="too long"):
        Database(tmp_path / ("x" * 300), create=True)


def test_a_removed_file_is_not_recreated(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    database.path.unlink()
    with pytest.raises(StoreError, match="was moved"):
        database.reader()
    assert list(tmp_path.iterdir()) == []


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.reader().execute("INSERT INTO models (name) VALUES ('m')")


def test_a_missing_file_or_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=re.escape(str(tmp_path / "no.db"))):
        Database(tmp_path / "no.db")
    with pytest.raises(StoreError, match="folder"):
        Database(tmp_path / "nowhere" / "p.db", create=True)


def test_foreign_files_are_rejected_untouched(tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database, but long enough to look at" * 10)
    foreign = tmp_path / "foreign.db"
    sqlite3.connect(foreign).execute("CREATE TABLE t (x)").connection.close()
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(StoreError):
            Database(path)
        assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_rejected_untouched(tmp_path: Path) -> None:
    path = make_project(tmp_path).path
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match="99") as caught:
        Database(path)
    assert caught.value.exit_code == 1
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (99,)


MODELS = "CREATE TABLE models (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL UNIQUE\n"


def test_an_older_database_is_copied_then_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_project(tmp_path, numbered(2, model="m")).path
    newer(monkeypatch, MODELS, f"{MODELS}    , colour TEXT\n")
    database = Database(path)
    assert database.reader().execute("SELECT name, colour FROM models").fetchall() == [("m", None)]
    latest = migrations.latest_version()
    with closing(sqlite3.connect(path.with_name(f"p.db.before-version-{latest}"))) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (latest - 1,)
        assert copy.execute("SELECT count(*) FROM completions").fetchone() == (2,)


@pytest.mark.parametrize("version", range(1, migrations.OLDEST))
def test_unreleased_versions_are_rejected(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    migrations.make(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA user_version = {version}")
        raw.commit()
    content, home = path.read_bytes(), make_project(tmp_path)
    message = f"has schema version {version}; this program needs 16 or newer"
    for open_it in (Database, partial(merge, home), partial(open_read_only, why="")):
        with pytest.raises(StoreError, match=message) as caught:
            open_it(path)
        assert "never released" in caught.value.hint
    with pytest.raises(StoreError, match=message):
        rescue(path, tmp_path / "out.db")
    assert message in examine(path)[0].message
    assert path.read_bytes() == content


EVENT = (
    "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, schema, created_at) "
    "VALUES ('u', 'label', 'correctness', 1, 1, 'correct', 1, '')"
)


def with_an_event(folder: Path) -> Path:
    project = make_project(folder, numbered(2))
    with project.database.write("full") as connection:
        connection.execute("INSERT INTO annotators (id, name, role, created_at) VALUES (1, 'a', 'annotator', '')")
        connection.execute(EVENT)
    project.close()
    return project.path


def test_events_survive_a_table_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw:
        before = raw.execute("SELECT * FROM label_events").fetchall()
    newer_events(monkeypatch)
    with closing(open_project(path)) as migrated, closing(Database(tmp_path / "new.db", create=True)) as made:
        assert _tables(migrated.database) == _tables(made)
        assert _objects(migrated.database) == _objects(made)
        reader = migrated.database.reader()
        assert differences(reader) == []
        assert anatomy.references(reader).ok
        assert reader.execute("SELECT * FROM label_events").fetchall() == before
        with migrated.database.write("full") as connection:
            connection.execute(EVENT.replace("'u', 'label'", "'v', 'more'"))


def test_a_custom_view_survives_a_table_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE VIEW mine AS SELECT count(*) AS events FROM label_events")
    newer_events(monkeypatch)
    with closing(Database(path)) as database:
        assert database.reader().execute("SELECT events FROM mine").fetchone() == (1,)


def test_a_custom_index_survives_a_table_rebuild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    mine = 'CREATE INDEX "my ""own""" ON label_events (created_at DESC)'
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(mine)
    newer_events(monkeypatch)
    with closing(Database(path)) as database:
        stored = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'label_events' AND name LIKE 'my%'"
        assert database.reader().execute(stored).fetchall() == [(mine,)]


def test_references_of_a_custom_table_stop_no_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE mine (item INTEGER REFERENCES completions (id))")
        raw.execute("INSERT INTO mine VALUES (77)")
    newer_events(monkeypatch)
    with closing(Database(path)) as database:
        assert database.reader().execute("SELECT item FROM mine").fetchall() == [(77,)]


def test_an_existing_dangling_reference_stops_no_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE completions SET question_id = 77 WHERE id = 1")
    newer_events(monkeypatch)
    with pytest.raises(StoreError, match="a row of completions refers to one of questions that is missing") as caught:
        Database(path)
    assert "workbench doctor" in caught.value.hint
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (migrations.latest_version() - 1,)


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("CREATE VIEW more AS SELECT 1 AS x", "more"),
        ("CREATE TABLE more (x)", "more"),
        ("CREATE INDEX more ON models (name)", "more"),
        ("CREATE TABLE More (x)", "more"),
        ("CREATE TABLE old_label_events (x)", "old_label_events"),
    ],
)
def test_a_name_clash_stops_a_migration_without_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, name: str
) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(statement)
        before = list(raw.iterdump())
    newer_events(monkeypatch)
    newer(monkeypatch, MODELS, f"CREATE TABLE more (id INTEGER PRIMARY KEY) STRICT;\n{MODELS}")
    with pytest.raises(StoreError, match=name):
        Database(path)
    with closing(sqlite3.connect(path)) as raw:
        assert list(raw.iterdump()) == before


OF_VERSION_16 = (
    "ALTER TABLE bundles ADD COLUMN sealed INTEGER NOT NULL DEFAULT 1 CHECK (sealed IN (0, 1))",
    *(f"ALTER TABLE bundle_pass ADD COLUMN {name} BLOB NOT NULL DEFAULT x''" for name in ("items", "seal", "key")),
    "CREATE TABLE event_seals (uuid TEXT PRIMARY KEY, seal BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE generation (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",
    "INSERT INTO bundles VALUES ('b', 1, 'then', NULL, 1)",
    "INSERT INTO bundle_pass VALUES ('b', 'ann', 'then', x'', x'', x'')",
    "PRAGMA user_version = 16",
)


def test_a_database_of_version_16_keeps_its_rows(tmp_path: Path) -> None:
    path = with_an_event(tmp_path)
    with closing(sqlite3.connect(path)) as raw, raw:
        for statement in OF_VERSION_16:
            raw.execute(statement)
    with closing(Database(path)) as database:
        reader = database.reader()
        assert reader.execute("SELECT * FROM bundles").fetchall() == [("b", 1, "then", None)]
        assert reader.execute("SELECT * FROM bundle_pass").fetchall() == [("b", "ann", "then")]
        assert schema.differences(reader) == []


OF_VERSION_17 = (
    "CREATE TABLE trainings (id INTEGER PRIMARY KEY, dataset_id INTEGER NOT NULL REFERENCES datasets (id)) STRICT",
    "CREATE TABLE training_steps (training_id INTEGER PRIMARY KEY REFERENCES trainings (id)) STRICT",
    "CREATE TABLE audited (completion_id INTEGER PRIMARY KEY REFERENCES completions (id), "
    "training_id INTEGER NOT NULL REFERENCES trainings (id)) STRICT",
    "CREATE INDEX audited_step ON audited (training_id)",
    "CREATE TABLE training_alarms (id INTEGER PRIMARY KEY REFERENCES trainings (id)) STRICT",
    "INSERT INTO trainings VALUES (1, 1)",
    "INSERT INTO training_steps VALUES (1)",
    "INSERT INTO audited VALUES (1, 1)",
    "INSERT INTO training_alarms VALUES (1)",
    "PRAGMA user_version = 17",
)


def test_a_database_of_version_17_keeps_audited_items(tmp_path: Path) -> None:
    path = with_an_event(tmp_path)
    project = open_project(path)
    add_complete_run(project, "rules", [(1, Verdict(outcome=Outcome.CORRECT))])
    project.close()
    tables = ("datasets", "completions", "completion_text", "questions", "label_events", "verdicts")
    with closing(sqlite3.connect(path)) as raw, raw:
        before = [raw.execute(f"SELECT * FROM {table}").fetchall() for table in tables]
        for statement in OF_VERSION_17:
            raw.execute(statement)
    with closing(Database(path)) as database, closing(Database(tmp_path / "new.db", create=True)) as made:
        reader = database.reader()
        assert [reader.execute(f"SELECT * FROM {table}").fetchall() for table in tables] == before
        assert _objects(database) == _objects(made)


def test_a_read_only_older_database_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_an_event(tmp_path)
    newer_events(monkeypatch)
    message = f"schema version {migrations.latest_version() - 1} and can't be migrated, because it is read-only"
    with pytest.raises(StoreError, match=message) as caught:
        open_read_only(path, why="")
    assert "workbench backup" in caught.value.hint


def _objects(database: Database) -> set[tuple[str, str]]:
    return set(database.reader().execute("SELECT type, name FROM sqlite_master").fetchall())


def _tables(database: Database) -> dict[str, list[Any]]:
    tables = [row[0] for row in database.reader().execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: database.reader().execute(f"PRAGMA table_info({name})").fetchall() for name in tables}


def test_a_failed_migration_leaves_the_database_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_project(tmp_path, numbered(2)).path
    with monkeypatch.context() as patch:
        nowhere = "INSERT INTO nowhere VALUES (1)"
        newer(patch, MODELS, f"{MODELS}    , half TEXT\n", lambda connection: connection.execute(nowhere))
        with pytest.raises(StoreError, match="nowhere"):
            Database(path)
    columns = [row[1] for row in Database(path).reader().execute("PRAGMA table_info(models)")]
    assert columns == ["id", "name"]


def test_network_file_systems_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    local = tmp_path / "local"
    local.mkdir()
    mounts.write_text(f"/dev/root / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\ndev {local} fuse.s3fs rw 0 0\n")
    monkeypatch.setattr(place, "MOUNTS", mounts)
    for folder in (tmp_path, local):
        with pytest.raises(StoreError, match="network"):
            Database(folder / "p.db", create=True)
    assert place.file_system(Path("/")) == "ext4"
    assert not (tmp_path / "p.db").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE label_events SET verdict = 'incorrect'",
        "DELETE FROM label_events",
        "INSERT OR REPLACE INTO label_events (uuid, kind, task, subject, annotator_id, schema, created_at) "
        "VALUES ('u', 'label', 'correctness', 1, 1, 1, '')",
        "REPLACE INTO label_events (id, uuid, kind, task, subject, annotator_id, schema, created_at) "
        "VALUES (1, 'v', 'label', 'correctness', 1, 1, 1, '')",
    ],
)
def test_events_can_only_be_added(tmp_path: Path, statement: str) -> None:
    project = make_project(tmp_path, numbered(2))
    with project.database.write("full") as connection:
        connection.execute("INSERT INTO annotators (id, name, role, created_at) VALUES (1, 'a', 'annotator', '')")
        connection.execute(
            "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, schema, created_at) "
            "VALUES ('u', 'label', 'correctness', 1, 1, 'correct', 1, '')"
        )
    with pytest.raises(sqlite3.IntegrityError, match="append-only"), project.database.write("full") as connection:
        connection.execute(statement)


def test_no_changeable_table_is_named_after_labels() -> None:
    tables = {part.name for part in schema.parts() if part.kind == "table"}
    assert [name for name in tables if "label" in name or "adjudication" in name] == ["label_events"]


def test_every_transaction_begins_immediately() -> None:
    begins = [
        f"{path.name}: {line.strip()}"
        for path in (ROOT / "workbench").rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"""["']\s*BEGIN\b(?! IMMEDIATE|\s+SELECT)""", line)
    ]
    # Only what doesn't write, to see one state throughout, or keeps others out.
    assert sorted(begins) == [
        *(f'{name}.py: connection.execute("BEGIN DEFERRED")' for name in ("connection", "migrations")),
        'place.py: connection.execute("BEGIN EXCLUSIVE")',
        'text_index.py: connection.execute("BEGIN DEFERRED")',
        'text_index.py: reader.execute("BEGIN DEFERRED")',
    ]
