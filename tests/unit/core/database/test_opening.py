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

from tests.helpers import make_project, numbered
from tests.older import make_older, newer, written_by_version_7
from workbench.care.doctor import examine
from workbench.care.store import anatomy
from workbench.care.store.rescuing import version_of
from workbench.core.database import events, migrations, place, schema
from workbench.core.database.connection import Database
from workbench.core.database.looking import open_to_read
from workbench.core.errors import StoreError
from workbench.core.project import open_project
from workbench.labelling import ledger
from workbench.labelling.merging import merge
from workbench.runs.store import runs

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


def test_a_transaction_that_fails_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)

    def fail() -> None:
        with database.write("full") as connection:
            connection.execute("INSERT INTO models (name) VALUES ('m')")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert database.reader().execute("SELECT count(*) FROM models").fetchone() == (0,)


def test_a_commit_that_fails_leaves_no_open_transaction(tmp_path: Path) -> None:
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


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path) -> None:
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


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path, fifo, Path("/dev/null")):
        with pytest.raises(StoreError, match="no file"):
            Database(path, create=True)
    with pytest.raises(StoreError, match="too long"):
        Database(tmp_path / ("x" * 300), create=True)


def test_a_file_that_was_removed_is_not_made_anew(tmp_path: Path) -> None:
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


def test_files_that_are_not_ours_are_refused_untouched(tmp_path: Path) -> None:
    text = tmp_path / "notes.db"
    text.write_text("not a database, but long enough to look at" * 10)
    foreign = tmp_path / "foreign.db"
    sqlite3.connect(foreign).execute("CREATE TABLE t (x)").connection.close()
    for path in (text, foreign):
        before = path.read_bytes()
        with pytest.raises(StoreError):
            Database(path)
        assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    path = make_project(tmp_path).path
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(StoreError, match="99") as caught:
        Database(path)
    assert caught.value.exit_code == 1
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (99,)


def test_an_unknown_migration_counts_as_newer(tmp_path: Path) -> None:
    path = make_project(tmp_path).path
    raw = sqlite3.connect(path)
    raw.execute("UPDATE _sqlite_migrations SET name = 'm999_from_the_future' WHERE name = '_m001_initial'")
    raw.commit()
    raw.close()
    with pytest.raises(StoreError, match="newer"):
        Database(path)


MODELS = "CREATE TABLE models (\n    id INTEGER PRIMARY KEY,\n    name TEXT NOT NULL UNIQUE\n"


def test_an_older_database_is_copied_then_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_project(tmp_path, numbered(2, model="m")).path
    newer(monkeypatch, MODELS, f"{MODELS}    , colour TEXT  {{}}\n")
    database = Database(path)
    assert database.reader().execute("SELECT name, colour FROM models").fetchall() == [("m", None)]
    latest = len(migrations.MIGRATIONS)
    with closing(sqlite3.connect(path.with_name(f"p.db.before-version-{latest}"))) as copy:
        assert copy.execute("PRAGMA user_version").fetchone() == (latest - 1,)
        assert copy.execute("SELECT count(*) FROM completions").fetchone() == (2,)


def test_what_the_program_of_version_7_wrote_is_copied_and_brought_up_to_date(tmp_path: Path) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    before = _rows(path)
    with closing(open_project(path)) as migrated, closing(Database(tmp_path / "new.db", create=True)) as made:
        assert _tables(migrated.database) == _tables(made)
        assert _objects(migrated.database) == _objects(made)
        reader = migrated.database.reader()
        assert migrations.differences(reader, migrations.latest_version()) == []
        assert all(finding.ok for finding in anatomy.about_rows(reader))
        assert events.finding(reader).ok
        assert ledger.states_differ(migrated) == 0
        assert reader.execute("SELECT annotator, state FROM flags").fetchall() == [("amira", "open"), ("ben", "open")]
        assert reader.execute("SELECT id, sealed FROM bundles").fetchall() == [("unsealed-4", 0)]
        assert reader.execute("SELECT DISTINCT server FROM responses").fetchall() == [("http://127.0.0.1:33073",)]
        kept = {
            table: reader.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
            for table, (columns, _) in before.items()
        }
    assert {table for table, rows in kept.items() if rows != before[table][1]} == {
        "_sqlite_migrations",
        "attempts",
        "responses",
    }, "keys of replies belong to their servers now"
    assert _rows(tmp_path / "p.db.before-version-16") == before


def _rows(path: Path) -> dict[str, tuple[list[str], list[Any]]]:
    """Each table's columns and rows."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        found = {name: connection.execute(f"SELECT * FROM {name}") for (name,) in tables}
        return {name: ([column[0] for column in rows.description], rows.fetchall()) for name, rows in found.items()}


NEVER_RELEASED = "it was never released; the workbench that wrote it can export what is in it"


@pytest.mark.parametrize("version", range(1, migrations.OLDEST))
def test_versions_that_were_never_released_are_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "old.db"
    migrations.make(path, migrations.OLDEST)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM _sqlite_migrations WHERE id > ?", (version,))
        raw.execute(f"PRAGMA user_version = {version}")
        raw.commit()
    content, home = path.read_bytes(), make_project(tmp_path)
    message = f"has schema version {version}; this program knows 7 to 16"
    for open_it in (Database, partial(merge, home), partial(open_to_read, why="")):
        with pytest.raises(StoreError, match=message) as caught:
            open_it(path)
        assert "never released" in caught.value.hint
    with pytest.raises(StoreError, match=message), closing(sqlite3.connect(path)) as raw:
        version_of(raw)
    assert examine(path)[0].message == f"version {version}, this program knows 7 to 16: {NEVER_RELEASED}"
    assert path.read_bytes() == content


def test_a_view_of_somebodys_own_outlives_a_table_that_is_made_anew(tmp_path: Path) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE VIEW mine AS SELECT count(*) AS events FROM label_events")
    with closing(Database(path)) as database:
        assert database.reader().execute("SELECT events FROM mine").fetchone() == (7,)


def test_an_index_of_somebodys_own_outlives_a_table_that_is_made_anew(tmp_path: Path) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    mine = 'CREATE INDEX "my ""own""" ON label_events (created_at DESC)'
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(mine)
    with closing(Database(path)) as database:
        stored = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'label_events' AND name LIKE 'my%'"
        assert database.reader().execute(stored).fetchall() == [(mine,)]


def test_what_a_table_of_somebodys_own_refers_to_stops_no_migration(tmp_path: Path) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE mine (item INTEGER REFERENCES completions (id))")
        raw.execute("INSERT INTO mine VALUES (77)")
    with closing(Database(path)) as database:
        assert database.reader().execute("SELECT item FROM mine").fetchall() == [(77,)]


def test_a_reference_that_led_nowhere_before_is_not_blamed_on_the_migration(tmp_path: Path) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE completions SET question_id = 77 WHERE id = 1")
    content = path.read_bytes()
    with pytest.raises(StoreError, match="a row of completions refers to one of questions that is missing") as caught:
        Database(path)
    assert "workbench doctor" in caught.value.hint
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("CREATE VIEW bundles AS SELECT 1 AS x", "view bundles"),
        ("CREATE TABLE flags (x)", "table flags"),
        ("CREATE TABLE label_events_flags (x)", "table label_events_flags"),
        ("CREATE INDEX generation ON models (name)", "index generation"),
        ("CREATE TABLE Event_Seals (x)", "table Event_Seals"),
        ("CREATE TABLE old_label_events (x)", "table old_label_events"),
    ],
)
def test_what_has_a_name_that_a_migration_needs_is_named_and_nothing_changes(
    tmp_path: Path, statement: str, what: str
) -> None:
    path = written_by_version_7(tmp_path / "p.db")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(statement)
    content = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        Database(path)
    assert caught.value.message == f"{path}: the foreign {what} has a name that version 16 needs."
    assert caught.value.hint == "Drop it or give it another name first. Nothing was changed."
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_database_of_version_7_keeps_its_events_and_takes_answers(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    project.close()
    make_older(project.path, 7)
    with closing(sqlite3.connect(project.path)) as connection, connection:
        connection.execute("INSERT INTO annotators (id, name, role, created_at) VALUES (1, 'amira', 'annotator', '')")
        for number, kind in enumerate(("label", "flag"), 1):
            connection.execute(
                "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, verdict, flagged, note, "
                "schema, created_at) VALUES (?, ?, 'correctness', 1, 1, ?, ?, 'why?', 2, '2025-01-01T00:00:00Z')",
                (f"u{number}", kind, "correct" if kind == "label" else None, kind == "flag"),
            )
        connection.execute("INSERT INTO code_problems (question_id, extra) VALUES (1, '{\"proposed_tests\": 9}')")
    with closing(open_project(project.path)) as migrated:
        reader = migrated.database.reader()
        assert reader.execute("SELECT reference_by FROM code_problems").fetchall() == [("model",)]
        assert [event.uuid for event in events.every(reader)] == ["u1", "u2"]
        assert reader.execute("SELECT annotator, verdict FROM current_labels").fetchall() == [("amira", "correct")]
        flags = "SELECT annotator, question, state, answer FROM flags"
        assert reader.execute(flags).fetchall() == [("amira", "why?", "open", None)]
        with migrated.database.write("full") as connection:
            connection.execute(
                "INSERT INTO label_events (uuid, kind, task, subject, annotator_id, seen, note, schema, created_at) "
                "VALUES ('u3', 'answer', 'correctness', 1, 1, '[\"u2\"]', 'so', 2, '2025-01-02T00:00:00Z')"
            )
        assert reader.execute(flags).fetchall() == [("amira", "why?", "answered", "so")]
        assert all(finding.ok for finding in anatomy.about_rows(migrated.database.reader()))
        made = Database(tmp_path / "new.db", create=True)
        assert _tables(migrated.database) == _tables(made)
        assert _objects(migrated.database) == _objects(made)


def test_a_database_of_version_8_keeps_its_runner_and_its_runs(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    project.close()
    make_older(project.path, 8)
    with closing(sqlite3.connect(project.path)) as connection, connection:
        connection.execute("INSERT INTO runner VALUES (1, 77, 1000.5, 2000.5)")
        verifier = runs.add_verifier(connection, name="v", kind="v", options={}, config={}, config_hash="0")
        connection.execute(
            "INSERT INTO runs (verifier_id, version, selection, workers, state, items, created_at) "
            "VALUES (?, '1', '{}', 1, 'running', 2, '')",
            (verifier,),
        )
    with closing(open_project(project.path)) as migrated:
        reader = migrated.database.reader()
        assert reader.execute("PRAGMA user_version").fetchone() == (migrations.latest_version(),)
        # It still runs, and goes on to show life.
        assert reader.execute("SELECT pid, heartbeat, process, beat FROM runner").fetchall() == [
            (77, 2000.5, None, None)
        ]
        with migrated.database.write() as connection:
            shown = connection.execute("UPDATE runner SET heartbeat = 1 WHERE pid = 77 AND pid_started = 1000.5")
            assert shown.rowcount == 1
        assert [(run.state, run.trouble) for run in runs.every(reader)] == [("running", None)]
        made = Database(tmp_path / "new.db", create=True)
        assert _tables(migrated.database) == _tables(made)
        assert _objects(migrated.database) == _objects(made)


def _objects(database: Database) -> set[tuple[str, str]]:
    return set(database.reader().execute("SELECT type, name FROM sqlite_master").fetchall())


def _tables(database: Database) -> dict[str, list[Any]]:
    tables = [row[0] for row in database.reader().execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: database.reader().execute(f"PRAGMA table_info({name})").fetchall() for name in tables}


def test_a_migration_that_fails_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_project(tmp_path, numbered(2)).path
    with monkeypatch.context() as patch:
        nowhere = "INSERT INTO nowhere VALUES (1)"
        newer(patch, MODELS, f"{MODELS}    , half TEXT  {{}}\n", lambda connection: connection.execute(nowhere))
        with pytest.raises(StoreError, match="nowhere"):
            Database(path)
    columns = [row[1] for row in Database(path).reader().execute("PRAGMA table_info(models)")]
    assert columns == ["id", "name"]


def test_network_file_systems_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    # Only what doesn't write, to see one state throughout.
    assert sorted(begins) == [
        *(f'{name}.py: connection.execute("BEGIN DEFERRED")' for name in ("connection", "migrations", "text_index")),
        'text_index.py: reader.execute("BEGIN DEFERRED")',
    ]


def test_a_database_of_version_8_knows_which_bundles_are_away(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    project.close()
    make_older(project.path, 8)
    with closing(sqlite3.connect(project.path)) as connection, connection:
        connection.execute("INSERT INTO annotators (id, name, role, created_at) VALUES (7, 'amira', 'annotator', '')")
        connection.execute("INSERT INTO batches (id, per_item, selection, created_at) VALUES (1, 2, '', '')")
        for subject, state in ((1, "away"), (2, "away"), (3, "done"), (4, "open")):
            person = None if state == "open" else 7
            connection.execute(
                "INSERT INTO assignments (batch_id, task, subject, slot, position, annotator_id, state, "
                "claimed_at, expires_at) VALUES (1, 'correctness', ?, 1, 5, ?, ?, 1e9, 2e9)",
                (subject, person, state),
            )
    database = Database(project.path)
    reader = database.reader()
    assert reader.execute("SELECT id, annotator_id, made_at, expires_at, sealed FROM bundles").fetchall() == [
        ("unsealed-7", 7, "2001-09-09T01:46:40.000Z", 2e9, 0)
    ]
    assert reader.execute("SELECT bundle_id, task, subject FROM bundle_items").fetchall() == [
        ("unsealed-7", "correctness", 1),
        ("unsealed-7", "correctness", 2),
    ]
    assert _tables(database) == _tables(Database(tmp_path / "new.db", create=True))
