"""The label journal: every committed label event has a line that suffices to restore it."""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest
from msgspec import structs

from tests.full_disk import SmallFiles
from tests.helpers import make_project, numbered
from tests.unit.labelling.test_history import KINDS
from workbench.care.backups import diagnosis
from workbench.care.rescuing import rescue
from workbench.core.database import events, journal, people
from workbench.core.errors import StoreError
from workbench.core.label import EventKind, LabelEvent
from workbench.core.project import Project, open_project
from workbench.labelling import ledger
from workbench.labelling.labels import import_labels


def event_of_kind(kind: EventKind, person: int, subject: int = 2) -> LabelEvent:
    says = kind in ("label", "adjudication", "repeat", "check")
    return LabelEvent(
        uuid=events.new_uuid(),
        kind=kind,
        task="correctness",
        subject=subject,
        annotator=person,
        created_at=people.now(),
        round=2 if kind == "reopen" else 1,
        verdict="unsuitable" if kind == "exclusion" else "correct" if says else None,
        exclusion_reason="proof" if kind == "exclusion" else None,
        flagged=kind == "flag",
        tags=("guessed",) if says else (),
        note=None if kind == "reveal" else "because ∑\n\x1b[31m",
        content_hash=b"\0\xff" * 8,
        keys=3,
        merged=kind == "adjudication",
    )


def give(project: Project, *kinds: EventKind) -> list[LabelEvent]:
    """Record an event of each kind, each in a transaction."""
    given = []
    for kind in kinds:
        with project.database.write("full") as connection:
            given.append(event_of_kind(kind, people.add(connection, "ann")))
            ledger.record(connection, given[-1])
    return given


def stored(path: Path) -> list[LabelEvent]:
    project = open_project(path)
    try:
        return list(events.all_events(project.database.reader()))
    finally:
        project.close()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(4))


@pytest.mark.parametrize("kind", [*KINDS, "answer"])
def test_each_kind_of_event_is_restored_from_the_journal_alone(project: Project, kind: EventKind) -> None:
    (given,) = give(project, kind)
    project.close()
    project.path.write_bytes(os.urandom(100_000))
    found = rescue(project.path, project.path.with_name("new.db"))
    assert stored(project.path.with_name("new.db")) == [given]
    assert not found.is_whole
    assert "labels are lost" not in str(found.notes)
    rescued = open_project(project.path.with_name("new.db"))
    item = "SELECT dataset, question_id, completion_id FROM items"
    assert rescued.database.reader().execute(item).fetchall() == [("sample", "q0", "c1")]
    rescued.close()
    assert [finding for finding in diagnosis(rescued.path) if not finding.ok] == []


def test_labels_are_restored_without_the_database_or_into_an_import(project: Project, tmp_path: Path) -> None:
    given = give(project, "label", "flag")
    project.close()
    project.path.unlink()
    rescue(project.path, tmp_path / "new.db")
    assert stored(tmp_path / "new.db") == given
    # Or into the imported data, for the journal is a label file with history.
    (tmp_path / "again").mkdir()
    again = make_project(tmp_path / "again", numbered(4))
    assert import_labels(again, journal.path_of(project.path)).imported == 2
    assert import_labels(again, journal.path_of(project.path)).unchanged == 2
    # A project in place of one that has labels would mix them.
    with pytest.raises(StoreError, match=r"labels\.jsonl"):
        open_project(project.path, create=True)


def test_an_older_database_lacks_what_the_journal_has(project: Project, tmp_path: Path) -> None:
    given = give(project, "label", "flag")
    project.database.reader().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    older = project.path.read_bytes()
    given += give(project, "answer", "retraction")
    project.close()
    project.path.write_bytes(older)
    found = rescue(project.path, tmp_path / "new.db")
    assert stored(tmp_path / "new.db") == given
    assert "2 label events are from the journal alone" in str(found.notes)


def test_a_new_journal_starts_with_the_existing_events(project: Project) -> None:
    give(project, "label", "flag")
    journal.path_of(project.path).unlink()
    give(project, "answer")
    assert [line.kind for line in journal.read(project.path).lines.values()] == ["label", "flag", "answer"]


def test_a_partial_line_of_a_killed_writer_is_skipped(project: Project) -> None:
    give(project, "label")
    with journal.path_of(project.path).open("ab") as file:
        file.write(b'{"uuid": "')
    give(project, "flag")
    found = journal.read(project.path)
    assert [line.kind for line in found.lines.values()] == ["label", "flag"]
    assert found.unreadable == 1


def test_a_label_is_not_saved_if_the_journal_fails(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    given = give(project, "label")
    before = journal.path_of(project.path).read_bytes()

    def full(descriptor: int, content: bytes, at: int) -> int:
        monkeypatch.undo()
        os.pwrite(descriptor, content[:10], at)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("workbench.core.database.journal.os.pwrite", full)
    with pytest.raises(StoreError, match="the disk is full") as raised:
        give(project, "flag")
    monkeypatch.undo()
    assert raised.value.cause == "space"
    assert journal.path_of(project.path).read_bytes() == before
    assert stored(project.path) == given


def test_the_journal_is_flushed_after_commit_before_confirmation(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, flush = list[tuple[bool, int]](), os.fsync

    def watched(descriptor: int) -> None:
        flush(descriptor)
        if os.path.samestat(os.fstat(descriptor), journal.path_of(project.path).stat()):
            lines = len(journal.read(project.path).lines)
            seen.append((project.database.reader().in_transaction, lines - len(stored(project.path))))

    monkeypatch.setattr("workbench.core.database.journal.os.fsync", watched)
    give(project, "label")
    give(project, "flag")
    assert seen == [(False, 0), (False, 0)]


@pytest.mark.parametrize("earlier", [True, False], ids=["after others", "as the first line"])
def test_a_commit_on_a_full_disk_leaves_no_line(project: Project, tmp_path: Path, earlier: bool) -> None:
    given = give(project, "label")
    if not earlier:
        journal.path_of(project.path).unlink()
    files = SmallFiles(tmp_path)
    # The journal has room; the log next to it has none.
    files.fill(os.stat(f"{project.path}-wal").st_size)
    try:
        with pytest.raises(StoreError) as raised:
            give(project, "flag")
    finally:
        files.empty()
    assert raised.value.cause in ("space", "disk")
    assert stored(project.path) == given
    assert [*journal.read(project.path).lines] == [event.uuid for event in given]
    given += give(project, "answer")
    found = journal.read(project.path)
    assert ([*found.lines], found.unreadable) == ([event.uuid for event in given], 0)


def test_a_failed_commit_leaves_the_lines_of_others(project: Project) -> None:
    given = give(project, "label")
    connection, other = project.database.open(), open_project(project.path)

    def fail() -> None:
        last = journal.last_event_id(connection)
        connection.execute("BEGIN IMMEDIATE")
        ledger.record(connection, event_of_kind("flag", 1))
        with journal.appended(connection, project.path, last):
            connection.execute("ROLLBACK")
            given.extend(give(other, "answer"))
            raise sqlite3.OperationalError

    with pytest.raises(sqlite3.OperationalError):
        fail()
    connection.close()
    other.close()
    found = journal.read(project.path)
    assert ([*found.lines], found.unreadable) == ([event.uuid for event in given], 0)
    assert stored(project.path) == given


def test_an_interrupt_after_the_commit_leaves_its_line(project: Project) -> None:
    give(project, "label")
    with project.database.write("full") as connection:
        last = journal.last_event_id(connection)
        ledger.record(connection, event_of_kind("flag", 1))

        def interrupted() -> None:
            with journal.appended(connection, project.path, last):
                connection.execute("COMMIT")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        connection.execute("BEGIN IMMEDIATE")
    assert len(journal.read(project.path).lines) == 2


def test_a_failed_transaction_leaves_no_line(project: Project) -> None:
    give(project, "label")
    before = journal.path_of(project.path).read_bytes()
    with suppress(ZeroDivisionError), project.database.write("full") as connection:
        ledger.record(connection, event_of_kind("flag", 1))
        raise ZeroDivisionError
    assert journal.path_of(project.path).read_bytes() == before


def test_a_journal_on_a_full_disk_is_not_created(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "no room")

    give(project, "label")
    journal.path_of(project.path).unlink()
    monkeypatch.setattr(journal, "_append", full)
    with pytest.raises(StoreError):
        give(project, "flag")
    assert not journal.path_of(project.path).exists()


WRITER = """
import os, sys
from pathlib import Path
from tests.unit.core.database.test_journal import event_of_kind
from workbench.core.database import journal
from workbench.core.project import open_project
from workbench.labelling import ledger
project, mode = open_project(Path(sys.argv[1])), sys.argv[2]
if mode == "killed":
    append = journal._append
    def killed(descriptor, end, lines):
        append(descriptor, end, lines)
        os._exit(9)
    journal._append = killed
for number in range(30 if mode == "on" else 10**6):
    event = event_of_kind("flag", 1)
    with project.database.write("full") as connection:
        ledger.record(connection, event)
    if mode == "acknowledging":
        print(event.uuid, flush=True)
"""


def kill_while_labelling(path: Path, draw: random.Random) -> list[str]:
    """Kill a process that labels; return the events that it has called saved."""
    command = [sys.executable, "-c", WRITER, str(path), "acknowledging"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        saved = [process.stdout.readline() for _ in range(draw.randint(1, 4))]
        time.sleep(draw.uniform(0, 0.004))
        process.kill()
        saved += process.stdout.readlines()
    return [line.strip() for line in saved if line.endswith("\n")]


def destroyed_after_kills(project: Project, kills: int) -> None:
    """Check that after kills the journal alone has every label that was called saved, and what the database has."""
    saved, draw = [event.uuid for event in give(project, "label")], random.Random(kills)
    for _ in range(kills):
        saved += kill_while_labelling(project.path, draw)
    kept = {event.uuid for event in stored(project.path)}
    project.close()
    for file in project.path.parent.glob("p.db*"):
        if file != journal.path_of(project.path):
            file.unlink()
    rescue(project.path, project.path.with_name("new.db"))
    back = {event.uuid for event in stored(project.path.with_name("new.db"))}
    assert len(saved) > kills
    assert {*saved} <= kept <= back


@pytest.mark.soak
def test_after_kills_the_journal_has_every_saved_label(project: Project) -> None:
    destroyed_after_kills(project, 3)


@pytest.mark.soak
def test_several_processes_write_whole_lines(project: Project) -> None:
    give(project, "label")
    command = [sys.executable, "-c", WRITER, str(project.path), "on"]
    for process in [subprocess.Popen(command) for _ in range(3)]:
        assert process.wait() == 0
    found = journal.read(project.path)
    assert (len(found.lines), found.unreadable) == (91, 0)
    assert list(found.lines) == [event.uuid for event in stored(project.path)]


def test_a_kill_between_journal_and_commit_is_harmless(project: Project, tmp_path: Path) -> None:
    given = give(project, "label")
    assert subprocess.run([sys.executable, "-c", WRITER, str(project.path), "killed"], check=False).returncode == 9
    assert stored(project.path) == given
    assert len(journal.read(project.path).lines) == 2
    for name in ("one.db", "two.db"):
        rescue(project.path, tmp_path / name)
        assert len(stored(tmp_path / name)) == 2


@pytest.mark.parametrize("journalled", [True, False])
def test_a_damaged_label_is_read_from_the_journal(project: Project, tmp_path: Path, journalled: bool) -> None:
    given = give(project, "label", "flag", "answer")
    project.close()
    with closing(sqlite3.connect(project.path)) as raw, raw:
        raw.execute("DROP TRIGGER label_events_no_update")
        raw.execute("UPDATE label_events SET tags = '[\"gue', note = 'another' WHERE id = 1")
    if not journalled:
        journal.path_of(project.path).unlink()
    found = rescue(project.path, tmp_path / "new.db")
    back = stored(tmp_path / "new.db")
    assert back[1:] == given[1:]
    assert back[0] == (given[0] if journalled else structs.replace(given[0], tags=(), note="another"))
    assert found.changed_labels == ([] if journalled else [1])
