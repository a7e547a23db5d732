"""Restoring a backup: checked first, never during use, and the replaced file is kept."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.crashing import HALF, crash, files, models
from tests.helpers import make_project, numbered
from tests.newer_schema import newer_events
from tests.unit.core.database.test_journal import give
from workbench.care.backups import diagnosis, restore_backup
from workbench.care.doctor import repair
from workbench.core.database import backup as replacing
from workbench.core.database import journal, migrations
from workbench.core.database.backup import backup
from workbench.core.database.connection import Database
from workbench.core.errors import FormatError, StoreError
from workbench.core.health import Finding
from workbench.core.project import open_project
from workbench.interchange.exporting import write_archive


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with ``p.db``, its backup ``copy.db``, and a model more in ``p.db`` since."""
    project = make_project(tmp_path, numbered(6))
    backup(project.database, tmp_path / "copy.db")
    project.close()
    with closing(open_project(tmp_path / "p.db")) as again, again.database.write() as connection:
        connection.execute("INSERT INTO models (name) VALUES ('since')")
    return tmp_path


def test_a_restored_backup_keeps_the_replaced_database(home: Path) -> None:
    (home / "p.db").chmod(0o640)
    before = files(home)

    report = restore_backup(home / "copy.db", home / "p.db")

    assert report.kept == (str(home / "p.db.before-restore-1"),)
    assert report.rows["items"] == 6
    assert (models(home / "p.db"), models(home / "p.db.before-restore-1")) == (0, 1)
    assert (home / "p.db").stat().st_mode & 0o777 == 0o640
    after = files(home)
    assert after["copy.db"] == before["copy.db"]
    assert after["p.db.before-restore-1"] == before["p.db"]
    assert sorted(after) == ["copy.db", "p.db", "p.db.before-restore-1"]
    with closing(open_project(home / "p.db")) as project:
        assert all(finding.ok for finding in diagnosis(project.path) if finding.name != "free disk")


def test_a_crashed_database_is_saved_with_its_wal(home: Path) -> None:
    crash(home / "p.db")

    report = restore_backup(home / "copy.db", home / "p.db")

    assert [Path(name).name for name in report.kept] == ["p.db.before-restore-1"]
    assert not list(home.glob("p.db-*"))
    assert (models(home / "p.db"), models(home / "p.db.before-restore-1")) == (0, 4)


def test_a_database_cannot_be_its_own_backup(home: Path) -> None:
    crash(home / "p.db")
    for name in ("p.db", "link.db"):
        if name != "p.db":
            (home / name).symlink_to("p.db")
        with pytest.raises(StoreError, match="the database itself"):
            restore_backup(home / name, home / "p.db")
    assert models(home / "p.db") == 4


OPENED = "import sys; from tests.crashing import hold; hold(sys.argv[1])"


@pytest.mark.parametrize("held", ["p.db", "soft.db"])
def test_an_open_database_is_not_replaced(home: Path, held: str) -> None:
    (home / "soft.db").symlink_to("p.db")
    with subprocess.Popen(
        [sys.executable, "-c", OPENED, str(home / held)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"open\n"
        before = files(home)
        with pytest.raises(StoreError, match="is in use"):
            restore_backup(home / "copy.db", home / "p.db")
        assert files(home) == before
        holder.stdin.close()


def test_a_backup_that_is_open_elsewhere_is_restored(home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OPENED, str(home / "copy.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin
        assert holder.stdout
        assert holder.stdout.readline() == b"open\n"
        restore_backup(home / "copy.db", home / "p.db")
        holder.stdin.close()
    assert models(home / "p.db") == models(home / "copy.db")


def test_not_even_this_process_has_it_open(home: Path) -> None:
    database = Database(home / "p.db")
    database.reader().execute("SELECT 1 FROM models").fetchone()
    with pytest.raises(StoreError, match="is in use"):
        restore_backup(home / "copy.db", home / "p.db")
    database.close()
    restore_backup(home / "copy.db", home / "p.db")


def spoil(path: Path, change: Callable[[bytearray], object]) -> None:
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)


def sql(statement: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)

    return change


def zero_pages(path: Path) -> None:
    def change(content: bytearray) -> None:
        content[4096 * 3 : 4096 * 30] = bytes(4096 * 27)

    spoil(path, change)


def other_sqlite(path: Path) -> None:
    path.unlink()
    sql("CREATE TABLE t (x)")(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


BAD: dict[str, Callable[[Path], object]] = {
    "no bytes": lambda path: path.write_bytes(b""),
    "a header alone": lambda path: path.write_bytes(path.read_bytes()[:100]),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-20_000]),
    "pages of nothing": zero_pages,
    "of a newer version": sql("PRAGMA user_version = 99"),
    "of no version": sql("PRAGMA user_version = 0"),
    "another program's": other_sqlite,
    "encrypted": lambda path: path.write_bytes(os.urandom(50_000)),
    "text": lambda path: path.write_text("select 1;\n" * 500),
    "a reference to nothing": sql("UPDATE completions SET question_id = 999"),
    "missing": lambda path: path.unlink(),
    "a folder": folder,
    "a pipe": pipe,
}


@pytest.mark.few(4)
@pytest.mark.parametrize("spoiled", BAD.values(), ids=BAD)
def test_a_bad_backup_replaces_nothing(home: Path, spoiled: Callable[[Path], object]) -> None:
    spoiled(home / "copy.db")
    before = files(home)

    with pytest.raises((StoreError, FormatError)) as refused:
        restore_backup(home / "copy.db", home / "p.db")

    assert refused.value.hint
    assert ".part" not in str(refused.value)
    assert files(home) == before


def test_a_backup_is_restored_with_its_wal(home: Path) -> None:
    crash(home / "copy.db", 2)
    before = files(home)
    restore_backup(home / "copy.db", home / "p.db")
    assert models(home / "p.db") == 2
    kept = ("copy.db", "copy.db-wal")
    assert [files(home)[name] for name in kept] == [before[name] for name in kept]


def test_a_backup_with_a_killed_first_import_is_restored_empty(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.close()
    subprocess.run([sys.executable, "-c", HALF, str(project.path)], check=False)
    restore_backup(project.path, tmp_path / "new.db")
    assert models(tmp_path / "new.db") == 0


def test_a_backup_of_an_older_version_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path, numbered(4))
    project.close()
    shutil.copy(project.path, tmp_path / "old.db")
    crash(project.path)
    before = (tmp_path / "old.db").read_bytes()
    newer_events(monkeypatch)

    assert restore_backup(tmp_path / "old.db", project.path).schema == migrations.latest_version() - 1

    assert models(project.path) == 0
    assert (tmp_path / "old.db").read_bytes() == before
    assert not list(tmp_path.glob("*before-version-*")) or models(tmp_path / "p.db.before-restore-1") == 3


def test_a_backup_can_be_restored_to_a_new_file(home: Path) -> None:
    assert restore_backup(home / "copy.db", home / "new.db").kept == ()
    assert models(home / "new.db") == 0
    (home / "gone.db-wal").write_bytes((home / "copy.db").read_bytes())
    assert restore_backup(home / "copy.db", home / "gone.db").kept == (str(home / "gone.db.before-restore-1-wal"),)
    assert models(home / "gone.db") == 0


@pytest.mark.parametrize("content", [b"", b"no database at all"])
def test_a_replaced_invalid_file_is_saved_too(home: Path, content: bytes) -> None:
    (home / "p.db").write_bytes(content)
    restore_backup(home / "copy.db", home / "p.db")
    assert models(home / "p.db") == 0
    assert (home / "p.db.before-restore-1").read_bytes() == content


def test_links_lead_to_the_file(home: Path) -> None:
    (home / "far").mkdir()
    (home / "far" / "soft.db").symlink_to(home / "p.db")
    report = restore_backup(home / "copy.db", home / "far" / "soft.db")
    assert (home / "far" / "soft.db").is_symlink()
    assert report.kept == (str(home / "p.db.before-restore-1"),)
    assert models(home / "p.db") == 0
    assert [file.name for file in (home / "far").iterdir()] == ["soft.db"]


def test_no_second_restore_has_the_name_of_the_first(home: Path) -> None:
    for number in (1, 2, 3):
        assert restore_backup(home / "copy.db", home / "p.db").kept == (str(home / f"p.db.before-restore-{number}"),)
    restore_backup(home / "p.db.before-restore-1", home / "p.db")
    assert models(home / "p.db") == 1


def test_an_archive_is_restored_as_a_backup(home: Path) -> None:
    with closing(open_project(home / "p.db")) as project:
        write_archive(project, home / "a.db")
    report = restore_backup(home / "a.db", home / "p.db")
    assert (report.kept, report.rows["items"]) == ((str(home / "p.db.before-restore-1"),), 6)
    assert models(home / "p.db") == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("moment", ["kept", "replaced"])
@pytest.mark.parametrize("crashed", [False, True])
def test_a_restore_that_is_killed_leaves_the_whole_old_or_the_whole_new(
    home: Path, monkeypatch: pytest.MonkeyPatch, moment: str, crashed: bool
) -> None:
    if crashed:
        crash(home / "p.db")
    calls = []

    def killed(folder: Path) -> None:
        calls.append(folder)
        if len(calls) == (1 if moment == "kept" else 2):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(replacing, "flush_names", killed)
        with pytest.raises(KeyboardInterrupt):
            restore_backup(home / "copy.db", home / "p.db")

    assert models(home / "p.db") == {"kept": 4 if crashed else 1, "replaced": 0}[moment]
    restore_backup(home / "copy.db", home / "p.db")
    assert models(home / "p.db") == 0
    assert models(home / f"p.db.before-restore-{1 if moment == 'kept' else 2}") == (
        0 if moment == "replaced" else 4 if crashed else 1
    )


def test_a_file_system_without_links_keeps_it_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    crash(home / "p.db")
    monkeypatch.setattr(os, "link", no_links)
    restore_backup(home / "copy.db", home / "p.db")
    restore_backup(home / "copy.db", home / "new.db")
    assert (models(home / "p.db"), models(home / "new.db"), models(home / "p.db.before-restore-1")) == (0, 0, 4)


@pytest.mark.few(2)
@pytest.mark.parametrize("crashed", [False, True])
@pytest.mark.parametrize("does", ["restore", "backup"])
def test_opening_the_restored_database_at_once_keeps_its_wal(
    home: Path, monkeypatch: pytest.MonkeyPatch, does: str, crashed: bool
) -> None:
    """A stranger gets in between the new file and the moving of the old logs."""
    place = home / ("p.db" if does == "restore" else "copy.db")
    if crashed:
        crash(place)
    script = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)\n"
        "try:\n"
        "    connection.execute('PRAGMA journal_mode = WAL')\n"
        "    connection.execute(\"INSERT INTO models (name) VALUES ('at once')\")\n"
        "    print('written', flush=True)\n"
        "except sqlite3.OperationalError:\n"
        "    print('waits', flush=True)\n"
        "sys.stdin.read()\n"
    )
    old = place.stat().st_ino
    said: list[bytes] = []

    with ExitStack() as strangers, monkeypatch.context() as patch:

        def looked(_: Path) -> None:
            if not said and place.stat().st_ino != old:
                stranger = strangers.enter_context(
                    subprocess.Popen(
                        [sys.executable, "-c", script, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                    )
                )
                assert stranger.stdout
                said.append(stranger.stdout.readline())

        patch.setattr(replacing, "flush_names", looked)
        if does == "restore":
            restore_backup(home / "copy.db", place)
        else:
            with closing(open_project(home / "p.db")) as project:
                backup(project.database, place, force=True, discard=True)
        with closing(sqlite3.connect(place)) as connection:
            found = connection.execute("SELECT count(*) FROM models WHERE name = 'at once'").fetchone()
        assert (said, found) == ([b"written\n"], (1,))


def flag(path: Path) -> None:
    with closing(open_project(path)) as project:
        give(project, "flag")


def finding(path: Path) -> Finding:
    (found,) = (finding for finding in diagnosis(path) if finding.name == "journal")
    return found


def test_labels_that_only_the_journal_has_are_counted(home: Path) -> None:
    flag(home / "p.db")
    flag(home / "p.db")
    report = restore_backup(home / "copy.db", home / "p.db")
    assert (report.beyond, report.journal) == (2, str(home / "p.db.labels.jsonl"))
    assert report.kept == (str(home / "p.db.before-restore-1"),)
    assert finding(home / "p.db").ok
    assert "2 label events of it are not in the database" in finding(home / "p.db").message


def test_a_journal_of_other_labels_makes_room_for_those_of_the_backup(home: Path) -> None:
    flag(home / "p.db")
    (home / "other").mkdir()
    make_project(home / "other", numbered(6)).close()
    flag(home / "other" / "p.db")
    aside = str(home / "p.db.before-restore-1.labels.jsonl")
    report = restore_backup(home / "other" / "p.db", home / "p.db")
    assert (report.kept[1:], report.journal) == ((aside,), aside)
    flag(home / "p.db")
    assert len(journal.read(home / "p.db").lines) == 2
    assert finding(home / "p.db").message == "ok"


def test_a_journal_that_lacks_labels_is_rebuilt_by_a_repair(home: Path) -> None:
    flag(home / "p.db")
    journal.path_of(home / "p.db").write_bytes(b"\n")
    flag(home / "p.db")
    assert (finding(home / "p.db").ok, finding(home / "p.db").remedy) == (False, "repair")
    repaired = repair(home / "p.db")
    assert repaired.kept == [str(home / "p.db.before-repair-1.labels.jsonl")]
    assert repaired.done[-1].endswith(f"workbench labels {home}/p.db import {repaired.kept[0]}")
    flag(home / "p.db")
    assert len(journal.read(home / "p.db").lines) == 3
