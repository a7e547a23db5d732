"""Label events as lines of JSON, and the journal of them: a file next to the database that alone restores every label.

A line is one of a label file with history. It is written before its event is committed, so every committed event has
one, and flushed before the label is shown as saved. A line without an event is of a label that was never shown as
saved, or that a restored backup lacks.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, structs

from workbench.core.database import events
from workbench.core.errors import StoreError
from workbench.core.label import EventKind, LabelEvent, LabelLine, Task

# -- Events with the ids of items and the names of people, by which they are found in another database.


class SubjectPlace(NamedTuple):
    """The ids by which a labelled completion or question is found in another database.

    A question is identified by its id and the smallest id of its completions; ``completion_id`` is "" for a question
    without completions.
    """

    dataset: str
    question_id: str
    completion_id: str


class PlacedEvent(NamedTuple):
    event: LabelEvent
    annotator: str
    role: str
    place: SubjectPlace


_PLACES: dict[Task, str] = {
    "correctness": "SELECT d.name, q.key, c.key FROM completions AS c JOIN questions AS q ON q.id = c.question_id "
    "JOIN datasets AS d ON d.id = q.dataset_id WHERE c.id = ?",
    "type": "SELECT d.name, q.key, coalesce((SELECT min(c.key) FROM completions AS c WHERE c.question_id = q.id), '') "
    "FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id WHERE q.id = ?",
}


def subject_place(connection: sqlite3.Connection, task: Task, subject: int) -> SubjectPlace:
    return SubjectPlace(*connection.execute(_PLACES[task], (subject,)).fetchone())


def place_events(connection: sqlite3.Connection, found: Iterable[LabelEvent]) -> Iterator[PlacedEvent]:
    asked = "SELECT name, role FROM annotators WHERE id = ?"
    for event in found:
        name, role = connection.execute(asked, (event.annotator,)).fetchone()
        yield PlacedEvent(event, name, role, subject_place(connection, event.task, event.subject))


def label_line(event: LabelEvent, annotator: str, question_id: str, completion_id: str) -> LabelLine:
    return LabelLine(
        completion_id=completion_id,
        annotator=annotator,
        verdict=event.verdict,
        reason=event.exclusion_reason,
        answer_subtype=event.subtype,
        note=event.note,
        question_id=question_id,
        role="adjudicator" if event.kind == "adjudication" else "annotator",
        created_at=event.created_at,
        uuid=event.uuid,
        unsure=event.unsure,
        round=UNSET if event.round == 1 else event.round,
        tags=event.tags or UNSET,
        partial=UNSET if event.partial is None else event.partial,
        focused_ms=UNSET if event.focused_ms is None else event.focused_ms,
        unblinded=event.unblinded or UNSET,
    )


def event_line(row: PlacedEvent) -> LabelLine:
    """Return an event as a line from which `event_of` makes the same event."""
    event, place = row.event, row.place
    line = label_line(event, row.annotator, place.question_id, place.completion_id)
    line.dataset, line.kind, line.task, line.schema = place.dataset, event.kind, event.task, event.schema
    if row.role == "coordinator":
        line.role = "coordinator"
    for name in ("supersedes", "seen", "flagged"):
        if value := getattr(event, name):
            setattr(line, name, value)
    for name in ("guideline", "open_ms", "wait_ms", "keys", "view"):
        if (value := getattr(event, name)) is not None:
            setattr(line, name, value)
    if event.content_hash is not None:
        line.content_hash = event.content_hash.hex()
    return line


def event_of(line: LabelLine, **own: Any) -> LabelEvent:
    """Return the event of a line; ``own`` are its values that are not those of the line, such as the subject."""
    given = {name: value for name, value in structs.asdict(line).items() if name in _SHARED and value is not UNSET}
    if line.content_hash is not UNSET:
        given["content_hash"] = bytes.fromhex(line.content_hash)
    return LabelEvent(**given | {"exclusion_reason": line.reason, "subtype": line.answer_subtype} | own)


_SHARED = set(LabelEvent.__struct_fields__) & set(LabelLine.__struct_fields__) - {"annotator", "content_hash"}


# -- The journal. Its only writer is the process that has SQLite's write lock.


class JournalLine(LabelLine, kw_only=True, omit_defaults=True):
    """An event, with values that the database had for it.

    Attributes:
        subject: Row id of the completion or question.
        person: Row id of the annotator.
        merged: Whether the event came from another database.
    """

    uuid: str
    kind: EventKind
    task: Task
    created_at: str
    dataset: str
    question_id: str
    subject: int
    person: int
    merged: bool = False


class LabelJournal(NamedTuple):
    """The content of a journal.

    Attributes:
        lines: The events by uuid, in the order in which they were stored.
        unreadable: Number of other lines; a process killed while writing leaves one.
    """

    lines: dict[str, JournalLine]
    unreadable: int


END: Final = ".labels.jsonl"
"""Suffix of a journal's name, after the name of its database."""
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK: Final = 2_000
_DECODER: Final = msgspec.json.Decoder(JournalLine)


def path_of(database: Path) -> Path:
    """Return the path of a database's journal, which is next to the file itself, not next to a link to the file."""
    return Path(f"{os.path.realpath(database)}{END}")


def read(database: Path) -> LabelJournal:
    lines, unreadable = dict[str, JournalLine](), 0
    with suppress(FileNotFoundError), path_of(database).open("rb") as file:
        for raw in file:
            try:
                line = _DECODER.decode(raw)
                lines[line.uuid] = line
            except (msgspec.MsgspecError, UnicodeDecodeError):
                unreadable += bool(raw.strip())
    return LabelJournal(lines, unreadable)


def differences(connection: sqlite3.Connection, database: Path) -> tuple[int, int]:
    """Return how many label events the journal lacks, and how many events it has that the database lacks."""
    stored, known = events.uuids(connection), read(database).lines.keys()
    return len(stored - known), len(known - stored)


def set_aside(database: Path, name: Path) -> Path:
    """Rename the journal; the next label begins a new one with all events of the database."""
    return path_of(database).rename(f"{name}{END}")


def last_event_id(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM label_events").fetchone()[0])


@contextmanager
def appended(connection: sqlite3.Connection, database: Path, last: int) -> Iterator[bool]:
    """Write the transaction's events to the journal, then run the block, which commits; if it fails, they are removed.

    The block gets whether there were any: then `flush` has to follow. A journal that does not exist yet begins with all
    earlier events.

    Args:
        last: The highest id of an event before the transaction.

    Raises:
        StoreError: They can't be written, for example because the disk is full.
    """
    own = connection.execute("SELECT uuid FROM label_events WHERE id > ?", (last,)).fetchone()
    if own is None:
        yield False
        return
    journal = path_of(database)
    try:
        descriptor = os.open(journal, _FLAGS, database.stat().st_mode & 0o777)
        try:
            begin = end = os.fstat(descriptor).st_size
            try:
                if not begin:
                    begin = end = _append(descriptor, begin, _encoded(connection, 0, last))
                    flush_names(journal.parent)
                end = _append(descriptor, begin, _encoded(connection, last))
                yield True
            except BaseException:
                if connection.in_transaction:
                    os.ftruncate(descriptor, begin)
                    if not begin:
                        journal.unlink()
                elif events.by_uuid(connection, *own) is None:
                    # A failed commit has rolled back: without the lock, others may have appended their events.
                    os.pwrite(descriptor, b"\n" * (end - begin), begin)
                raise
        finally:
            os.close(descriptor)
    except OSError as error:
        space = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        raise StoreError(
            f"{journal}: {'the disk is full' if space else error.strerror}.",
            f"{'Make room on it' if space else 'Check that you may write it'}, then try again. "
            "What was saved before is safe.",
            "space" if space else "access",
        ) from error


def _encoded(connection: sqlite3.Connection, after: int, last: int = 2**63 - 1) -> Iterator[bytes]:
    asked = "SELECT id FROM label_events WHERE id > ? AND id <= ? ORDER BY id"
    for (number,) in connection.execute(asked, (after, last)).fetchall():
        # An earlier event that is damaged must not keep new labels from being saved.
        with suppress(msgspec.ValidationError, sqlite3.DatabaseError, TypeError):
            (row,) = place_events(connection, events.all_events(connection, number - 1, number))
            event, given = row.event, structs.asdict(event_line(row))
            line = JournalLine(**given, subject=event.subject, person=event.annotator, merged=event.merged)
            yield msgspec.json.encode(line) + b"\n"


def _append(descriptor: int, end: int, lines: Iterator[bytes]) -> int:
    """Write lines at the end of the file, and return its new end."""
    # A process killed while writing has left part of a line.
    held = b"\n" if end and os.pread(descriptor, 1, end - 1) != b"\n" else b""
    while held := held + b"".join(islice(lines, _CHUNK)):
        while held:
            written = os.pwrite(descriptor, held, end)
            held, end = held[written:], end + written
    return end


def flush(database: Path) -> None:
    """Have the journal's lines stored on the disk.

    Events are committed by now, and others write meanwhile: flushing within the transaction halves the labels that
    sixteen people can store in a second.
    """
    # What can't be flushed is saved in the database; `doctor` compares the two.
    with suppress(OSError), path_of(database).open("rb") as file:
        os.fsync(file.fileno())


def flush_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems don't support fsync of a folder, and don't need it.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
