"""A killed import leaves nothing visible, and the next one finishes the work."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import add_items, numbered
from workbench.core.database import schema
from workbench.core.database.backup import backup
from workbench.core.database.connection import Database
from workbench.core.database.selection import dataset_names
from workbench.core.errors import StoreError
from workbench.core.files import take_lock
from workbench.core.item import ItemRecord
from workbench.data.store.importing import (
    CHUNK,
    OF_DATASETS,
    ImportKey,
    discard_dead_imports,
    import_session,
    lock_path,
)
from workbench.measuring.store import overview

ROWS = 40_000
VISIBLE = "SELECT count(*) FROM completions WHERE id < (SELECT completion_id FROM horizon)"


def _write(path: Path, rows: int, question: str) -> Path:
    text = "x" * 800
    with path.open("w") as file:
        for number in range(rows):
            row = {"question": f"{question} {number // 20}", "answer": "4", "completion": f"{number} {text}"}
            file.write(json.dumps(row) + "\n")
    return path


def _import(database: Path, file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "workbench", "import", str(database), str(file), "--dataset", "d"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def size(path: Path) -> int:
    """Bytes of a file that comes and goes; 0 where it isn't there."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _kill_when(process: subprocess.Popen[bytes], begun: Callable[[], bool]) -> None:
    """Kill it without warning as soon as it is seen writing; it must be at work then."""
    while not begun():
        assert process.poll() is None, "the import ended before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def _count(path: Path, sql: str) -> int:
    connection = sqlite3.connect(path)
    try:
        row: tuple[int] = connection.execute(sql).fetchone()
        return row[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def _finish(database: Path, file: Path) -> None:
    process = _import(database, file)
    assert process.wait() == 0


def test_a_killed_first_import_leaves_an_empty_database(tmp_path: Path) -> None:
    database, file = tmp_path / "p.db", _write(tmp_path / "f.jsonl", ROWS, "What is")
    journal = tmp_path / "p.db-journal"
    _kill_when(_import(database, file), lambda: size(journal) > 0)

    opened = Database(database)
    reader = opened.reader()
    for table in ("completions", "questions", "imports", "datasets", "models"):
        assert reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    names = {name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    assert {part.name for part in schema.parts() if part.kind == "index"} <= names
    opened.close()

    _finish(database, file)
    assert _count(database, VISIBLE) == ROWS


def test_earlier_reads_keep_the_rollback_journal_of_a_first_import(tmp_path: Path) -> None:
    opened = Database(tmp_path / "p.db", create=True)
    reader = opened.reader()
    assert dataset_names(reader) == []
    with import_session(opened, "d") as session, session.transaction() as connection:
        assert session.bulk
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert opened.reader().execute("PRAGMA journal_mode").fetchone() == ("wal",)
    opened.close()


def test_a_read_under_way_is_not_cut_by_an_import(tmp_path: Path) -> None:
    opened = Database(tmp_path / "p.db", create=True)
    with opened.reading() as reader:
        reader.execute("SELECT count(*) FROM completions").fetchone()
        opened.release_reader()
        assert reader.execute("SELECT count(*) FROM completions").fetchone() == (0,)
        assert opened.reader() is reader
    opened.close()


@pytest.mark.soak
def test_a_killed_later_import_shows_nothing_and_the_next_one_completes(tmp_path: Path) -> None:
    database = tmp_path / "p.db"
    small, big = _write(tmp_path / "small.jsonl", 100, "Before"), _write(tmp_path / "big.jsonl", ROWS, "After")
    _finish(database, small)
    _kill_when(_import(database, big), lambda: _count(database, "SELECT count(*) FROM completions") > 100 + 2 * CHUNK)

    assert _count(database, "SELECT count(*) FROM completions") > 100
    assert _count(database, VISIBLE) == 100

    _finish(database, big)
    assert _count(database, VISIBLE) == 100 + ROWS
    assert _count(database, "SELECT count(*) FROM imports") == 2
    assert _count(database, "SELECT count(*) FROM question_text") == 5 + ROWS // 20
    assert _count(database, "SELECT count(*) FROM completion_text") == 100 + ROWS


def _running(database: Database) -> None:
    with database.write() as connection:
        connection.execute("INSERT INTO datasets (id, name, created_at) VALUES (9, 'left', '2025')")
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, pid, "
            "started_at) VALUES (9, 'f', 'jsonl', 'running', 1, 1, 1, '2999-01-01T00:00:00Z')"
        )
        for number in range(1, 2 * CHUNK):
            connection.execute(
                "INSERT INTO questions (id, dataset_id, key, hash) VALUES (?, 9, ?, x'00')", (number, str(number))
            )
            connection.execute(
                "INSERT INTO completions (id, question_id, key, hash) VALUES (?, ?, 'c', x'00')", (number, number)
            )


def test_a_live_import_is_kept_but_not_its_copy(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    _running(database)
    lock = take_lock(lock_path(database.path))
    assert lock is not None
    with lock:
        with pytest.raises(StoreError, match="another import is running"):
            discard_dead_imports(database)
        backup(database, tmp_path / "copy.db")
        copied = Database(tmp_path / "copy.db")
        assert discard_dead_imports(copied) == 1
        copied.close()
    database.close()
    assert not lock_path(tmp_path / "p.db").exists()


def test_leftovers_of_a_dead_import_are_removed(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    _running(database)
    assert discard_dead_imports(database) == 1
    for table in ("completions", "questions", "imports", "datasets"):
        assert database.reader().execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    assert discard_dead_imports(database) == 0
    database.close()


def test_a_dataset_of_which_there_is_nothing_yet_is_not_named(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    _running(database)
    assert _count(tmp_path / "p.db", "SELECT count(*) FROM datasets") == 1
    assert overview.datasets(database.reader()) == []
    assert dataset_names(database.reader()) == []
    database.close()


@pytest.mark.parametrize("room", ["none", "once the log is written back"])
def test_an_import_that_cannot_be_undone_is_undone_by_the_next_one(
    tmp_path: Path, room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.db"
    database = Database(path, create=True)
    add_items(database, numbered(4))
    before = overview.datasets(database.reader())
    item = ItemRecord(
        line=1, raw=b"", question_key="q", completion_key="c", question="What?", reference="4", completion="Four."
    )
    full = False
    write, write_back = Database.write, Database.write_back

    @contextmanager
    def without_room(*arguments: Any, **given: Any) -> Iterator[sqlite3.Connection]:
        if full:
            raise StoreError("database or disk is full.", cause="space")
        with write(*arguments, **given) as connection:
            yield connection

    def freed(database: Database) -> None:
        nonlocal full
        full = room == "none"
        write_back(database)

    monkeypatch.setattr(Database, "write", without_room)
    monkeypatch.setattr(Database, "write_back", freed)

    def attempt() -> None:
        nonlocal full
        file = ImportKey(path="f", format="jsonl", mapping="{}")
        with import_session(database, "d") as session, session.file(file) as target:
            target.add([item], [])
            full = True
            target.complete(b"")

    with pytest.raises(StoreError, match="full"):
        attempt()
    assert _count(path, "SELECT count(*) FROM imports") == (room == "none")
    assert overview.datasets(database.reader()) == before
    full = False
    assert discard_dead_imports(database) == (room == "none")
    assert _count(path, "SELECT count(*) FROM datasets") == 1
    database.close()


@pytest.mark.parametrize("kept", ["questions", "selection_judges"])
def test_a_dataset_that_something_else_is_of_stays(tmp_path: Path, kept: str) -> None:
    database = Database(tmp_path / "p.db", create=True)
    _running(database)
    with database.write() as connection:
        if kept == "questions":
            # As those of a bundle are, of which no import is on record.
            connection.execute("UPDATE imports SET first_question_id = 5, first_completion_id = 5")
        else:
            connection.execute("INSERT INTO selection_judges (dataset_id, name) VALUES (9, 'judge')")
    assert discard_dead_imports(database) == 1
    assert dataset_names(database.reader()) == ["left"]
    database.close()


def test_every_table_that_refers_to_datasets_is_known(tmp_path: Path) -> None:
    database = Database(tmp_path / "p.db", create=True)
    reader = database.reader()
    tables = [name for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    refer = {
        table for table in tables for row in reader.execute(f"PRAGMA foreign_key_list({table})") if row[2] == "datasets"
    }
    assert refer == set(OF_DATASETS)
    database.close()
