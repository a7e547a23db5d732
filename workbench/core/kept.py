"""Unsaved labels: made while the database's file is unavailable, kept in memory and in a file of label lines.

``workbench labels DB import FILE`` reads the file. Every line is a whole event with its uuid and its time, so that it
is stored once however often it is imported.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from platformdirs import user_state_path

from workbench.core.database import people
from workbench.core.database.connection import Database
from workbench.core.database.events import ANSWERS
from workbench.core.errors import StoreError
from workbench.core.files import append_own, require_own
from workbench.core.label import LabelEvent, LabelLine, Task
from workbench.core.processes import IN_NAMES, life_named, this_process

_MOST_BYTES = 1 << 30
_END = ".jsonl"
_MAKER = re.compile(rf"{IN_NAMES}{re.escape(_END)}", re.ASCII)
Head = tuple[Task, int, int]
"""Task, subject and person."""


class _KeyPress(Struct, frozen=True):
    """The events made with one key press."""

    lines: tuple[LabelLine, ...]
    events: tuple[LabelEvent, ...]


class UnsavedLabels:
    """This process's unsaved labels of one database.

    Attributes:
        why: The cause: the message of the error that made the first of them unsaved.
        path: The file they are in; None while there are none, or if none could be written.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._folder = _identity(database.parent)
        self._groups: list[_KeyPress] = []
        self._lock = threading.RLock()
        self.why: StoreError | None = None
        self.path: Path | None = None

    @property
    def count(self) -> int:
        return len(self._groups)

    def lines(self) -> list[LabelLine]:
        return [line for group in self._groups for line in group.lines]

    @contextmanager
    def held(self) -> Iterator[list[LabelLine]]:
        """Yield the unsaved labels for storing; in the block none is added or undone."""
        with self._lock:
            yield self.lines()

    def head(self, task: Task, subject: int, person: int) -> LabelEvent | None:
        found = [
            event
            for group in self._groups
            for event in group.events
            if (event.task, event.subject, event.annotator) == (task, subject, person)
        ]
        return found[-1] if found else None

    def keep(self, lines: Sequence[LabelLine], events: Sequence[LabelEvent], why: StoreError) -> None:
        """Keep the events made with one key press; they are on disk afterwards, if any disk can be written."""
        with self._lock:
            self._groups.append(_KeyPress(tuple(lines), tuple(events)))
            self.why = self.why or why
            self._write(lines)

    def take_back(self, person: int) -> LabelEvent | None:
        """Remove an annotator's last unsaved answer; return None if there is none."""
        with self._lock:
            for group in reversed(self._groups):
                if group.events[0].annotator == person and group.events[0].kind in ANSWERS:
                    self._groups.remove(group)
                    self._write_anew(self.lines())
                    return group.events[0]
        return None

    def settle(self, refused: Sequence[LabelLine]) -> None:
        """Mark all as stored except rejected ones, which remain in the file only."""
        with self._lock:
            self._groups.clear()
            self.why = None
            self._write_anew(refused)
            if not refused:
                self.path = None

    def words(self) -> str:
        if not self.count:
            return "No label of yours waits to be saved."
        labels = "1 label" if self.count == 1 else f"{self.count:,} labels"
        stand = f"are in {self.path}" if self.path else "are in the memory of this window alone"
        name = self._database.name
        then = (
            f"They are saved as soon as {name} is where it was, or when it is opened there the next time. By hand: "
            + shlex.join(["workbench", "labels", str(self._database), "import", str(self.path)])
            if self.path
            else f"Put {name} back before you close it."
        )
        return f"{labels} not saved yet: they {stand}. {then}"

    def _write(self, lines: Sequence[LabelLine]) -> None:
        for path in [self.path] if self.path else self._places():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                with append_own(path, _MOST_BYTES) as file:
                    file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError:
                continue
            self.path = path
            return
        if self.path is not None:
            # The folder has gone since: all of it goes to the next one.
            self.path = None
            self._write(self.lines())

    def _write_anew(self, lines: Sequence[LabelLine]) -> None:
        if self.path is None:
            return
        try:
            if not lines:
                self.path.unlink(missing_ok=True)
                return
            temporary = self.path.with_name(f".{self.path.name}.part")
            temporary.unlink(missing_ok=True)
            with append_own(temporary, _MOST_BYTES) as file:
                file.write(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError:
            # Duplicates are stored once.
            return

    def _places(self) -> Iterator[Path]:
        """Yield candidate paths: next to the database, unless that folder was replaced; else among the user's own
        files.
        """
        name = f"{self._database.name}.unsaved-{this_process().in_name}{_END}"
        if self._folder is not None and _identity(self._database.parent) == self._folder:
            yield self._database.parent / name
        yield _own_folder(self._database) / name


def left(database: Path) -> list[Path]:
    """Return files of unsaved labels that processes which are gone have left for a database."""
    found = []
    for folder in (database.parent, _own_folder(database)):
        for path in sorted(folder.glob(f"{_escaped(database.name)}.unsaved-*-*{_END}")):
            form = _MAKER.fullmatch(path.name.removeprefix(f"{database.name}.unsaved-"))
            # What a process elsewhere keeps may be stored by both: every event is stored once.
            if form is None or life_named(form) == "lives":
                continue
            try:
                require_own(path)
            except OSError:
                continue
            found.append(path)
    return found


def _own_folder(database: Path) -> Path:
    # Databases in several folders may have one name.
    where = hashlib.sha256(os.fsencode(database.absolute())).hexdigest()[:16]
    return user_state_path("workbench", appauthor=False) / "unsaved" / where


def _escaped(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


# -- Notes that go with no label yet: stored as drafts, and at hand while they can't be.


class NoteDrafts:
    """Note drafts of annotators in this process that could not be stored."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[tuple[int, int], str] = {}
        self._lock = threading.Lock()

    def keep(self, person: int, completion: int, note: str) -> None:
        """Store a note, with those that could not be stored before; until then `of` returns it.

        Raises:
            StoreError: It can't be stored now.
        """
        self.remember(person, completion, note)
        self.store()

    def remember(self, person: int, completion: int, note: str) -> None:
        """Keep a note in memory, to be stored with the next one."""
        with self._lock:
            self._waiting[person, completion] = note

    def store(self) -> None:
        """Store the pending notes.

        Raises:
            StoreError: They can't be stored now.
        """
        with self._lock:
            waiting = dict(self._waiting)
        if not waiting:
            return
        with self._database.write("full") as connection:
            for (person, completion), note in waiting.items():
                people.keep(connection, person, completion, note)
        with self._lock:
            # Notes written in the meantime are still pending.
            for one, note in waiting.items():
                if self._waiting.get(one) == note:
                    del self._waiting[one]

    def try_to_store(self) -> None:
        with suppress(StoreError):
            self.store()

    def of(self, person: int, completion: int, stored: str) -> str:
        """Return the latest version of the note; ``stored`` if none is pending."""
        with self._lock:
            return self._waiting.get((person, completion), stored)

    def forget(self, person: int, completion: int) -> None:
        with self._lock:
            self._waiting.pop((person, completion), None)
