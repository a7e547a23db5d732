"""Whether the log beside a database is its own, told before SQLite replays a page of it.

SQLite believes any log that is whole in itself: that of a database over which a backup was copied, too. Here the
generation of the file (`store/generation.py`), read without its log, is set against those of the transactions in the
log: a log begins where the file stood, so the file has the state before its first transaction, or one of those in it
where some of it has been written back. Logs without generations, of older versions and other programs, are told by the
two counters in the header of page 1, as far as these tell.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbench.errors import StoreError
from workbench.store import generation
from workbench.store.generation import Generation
from workbench.store.unlocked import OPENING, close_beside, opened_beside

_WAL_HEAD = struct.Struct(">6I")
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WAL_BEGIN, _FRAME_HEAD = 32, 24
_FRAME = struct.Struct(">4I")
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_CHUNK = 1 << 20
_OVERLAP = 128
_TRIES = 20
_WAIT_S = 0.005
_CHANGES, _SIZE, _COOKIE, _VALID_FOR = slice(24, 28), slice(28, 32), slice(40, 44), slice(92, 96)

ENDS = ("-wal", "-journal")
"""Of the names of the logs, beside the database's own."""


def require_own(path: Path) -> None:
    """Refuse a database beside which another one's log lies; nothing is written. It costs next to nothing without one.

    Raises:
        StoreError: There is such a log.
    """
    found = foreign_log(path)
    if found is not None:
        raise StoreError(
            f"{found} is not the log of {path.name}: another copy of the database was put where its own one was. "
            "Nothing was read or written.",
            f"{go_on(path)} (or put the file back that the log belongs to)",
        )


def go_on(path: Path) -> str:
    """How to go on with a file beside which another one's log lies."""
    name = shlex.quote(str(path))
    return f"Go on with the file as it is, with the log kept aside: workbench restore {name} {name}"


def own_log(path: Path) -> Path | None:
    """The write-ahead log beside a database, unless it is another copy's."""
    log = Path(f"{os.path.realpath(path)}{ENDS[0]}")
    return log if log.is_file() and foreign_log(path) is None else None


def foreign_log(path: Path) -> Path | None:
    """The log beside a database that is not its own; None where there is none, or it can't be told."""
    # SQLite, too, looks for the log beside what a link points to.
    real = Path(os.path.realpath(path))
    for end, tell in zip(ENDS, (_wal_is_foreign, _journal_is_foreign), strict=True):
        log = Path(f"{real}{end}")
        with suppress(OSError):
            if log.stat().st_size > _WAL_BEGIN and tell(real, log):
                return log
    return None


def _wal_is_foreign(path: Path, log: Path) -> bool:
    """Of a live log only what stays the same while it is read tells anything."""
    for _ in range(_TRIES):
        with log.open("rb", buffering=0) as file:
            wal = _Wal.of(file.fileno())
            if wal is None:
                return False
            foreign = _differs(path, wal)
            unchanged = wal == _Wal.of(file.fileno()) and log.stat().st_ino == os.fstat(file.fileno()).st_ino
        if not foreign:
            return False
        if unchanged:
            return True
        time.sleep(_WAIT_S)
    return False


def _differs(path: Path, wal: _Wal) -> bool:
    first = wal.first()
    with opened_beside(path) as main:
        head = os.pread(main, 100, 0)
        if len(head) < 100 or _page_size(head[16:18]) != wal.page:
            return len(head) == 100
        here = None if first is None else generation.found_in(os.pread(main, wal.page, (first.number - 1) * wal.page))
    if first is None:
        return wal.counts_otherwise(head)
    # The last one of the log is read after the file: both may grow meanwhile.
    if here is not None and _belongs(here[0], first.generation, wal.last()):
        return False
    try:
        stored = alone(path)
    except sqlite3.Error:
        # Damaged, or torn as it was read: SQLite says what is wrong with it.
        return False
    if stored is None:
        # A database of an older version, and the log of its migration.
        return not first.generation.first
    # It stands elsewhere: the log begins with a VACUUM, or the file is another program's copy of that very state.
    return not _belongs(stored, first.generation, wal.last()) or wal.counts_otherwise(head)


def _belongs(file: Generation, first: Generation, last: Generation | None) -> bool:
    return file.name == first.name and first.writes - 1 <= file.writes <= (last or first).writes


def alone(path: Path) -> Generation | None:
    """What the file says without its log."""
    with OPENING:
        status = path.stat()
        connection = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True, check_same_thread=False)
    try:
        return generation.read(connection)
    finally:
        close_beside((status.st_dev, status.st_ino), connection.close)


class _Found(NamedTuple):
    generation: Generation
    number: int


class _Wal(NamedTuple):
    """A write-ahead log: its descriptor, the size of its pages, and the salts that all of its frames bear."""

    file: int
    page: int
    salts: tuple[int, int]

    @classmethod
    def of(cls, file: int) -> _Wal | None:
        """The log; None where SQLite would not replay it."""
        head = os.pread(file, _WAL_HEAD.size, 0)
        if len(head) < _WAL_HEAD.size:
            return None
        magic, _, page, _, *salts = _WAL_HEAD.unpack(head)
        if magic not in _WAL_MAGIC or page < 512 or page & (page - 1):
            return None
        return cls(file, page, (salts[0], salts[1]))

    def first(self) -> _Found | None:
        """The generation in the first transaction that has one."""
        for begin, frames in self._chunks(0, self._frames()):
            if (found := generation.found_in(frames)) is not None:
                frame = begin + found[1] // self._step
                head = self._head(frame)
                return None if head is None else _Found(found[0], head[0])
        return None

    def last(self) -> Generation | None:
        """That in the last one."""
        end = self._frames()
        at_once = max(1, _CHUNK // self._step)
        for stop in range(end, 0, -at_once):
            for _, frames in self._chunks(max(0, stop - at_once), stop):
                if (found := generation.found_in(frames, last=True)) is not None:
                    return found[0]
        return None

    def counts_otherwise(self, head: bytes) -> bool:
        """Whether the counters in the header of the file's page 1 show that it is of another history.

        Neither ever decreases: that of changes by at most one between the file and the first page 1 of its log.
        Without any the file has not grown.
        """
        heads = [found for frame in range(self._frames()) if (found := self._head(frame))]
        ones = [frame for frame, (number, _) in enumerate(heads) if number == 1]
        if not ones:
            known = head[_CHANGES] == head[_VALID_FOR]
            return known and any(size not in (0, int.from_bytes(head[_SIZE])) for _, size in heads)
        first, last = (os.pread(self.file, 100, self._place(frame) + _FRAME_HEAD) for frame in (ones[0], ones[-1]))
        changes = int.from_bytes(head[_CHANGES])
        return (
            changes > int.from_bytes(last[_CHANGES])
            or changes < int.from_bytes(first[_CHANGES]) - 1
            or int.from_bytes(head[_COOKIE]) > int.from_bytes(last[_COOKIE])
        )

    @property
    def _step(self) -> int:
        return _FRAME_HEAD + self.page

    def _place(self, frame: int) -> int:
        return _WAL_BEGIN + frame * self._step

    def _head(self, frame: int) -> tuple[int, int] | None:
        """Page number and size after the commit of a frame; None where it is left over of an earlier round."""
        head = os.pread(self.file, _FRAME.size, self._place(frame))
        if len(head) < _FRAME.size:
            return None
        number, size, *salts = _FRAME.unpack(head)
        return (number, size) if tuple(salts) == self.salts else None

    def _frames(self) -> int:
        """How many frames are of this round: they come before those of earlier ones."""
        low, high = 0, max(0, os.fstat(self.file).st_size - _WAL_BEGIN) // self._step
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._head(middle) is None else (middle + 1, high)
        return low

    def _chunks(self, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        at_once = max(1, _CHUNK // self._step)
        for frame in range(begin, end, at_once):
            size = (min(end, frame + at_once) - frame) * self._step
            yield frame, os.pread(self.file, size, self._place(frame))


def _journal_is_foreign(path: Path, log: Path) -> bool:
    """A rollback journal holds pages as they were: the file has that state, or the one after it."""
    before = None
    with log.open("rb") as file:
        held = file.read(_CHUNK)
        if not held.startswith(_JOURNAL_MAGIC):
            return False
        while held and before is None:
            before = generation.found_in(held)
            more = file.read(_CHUNK)
            held = held[-_OVERLAP:] + more if more else b""
    if before is None:
        return False
    try:
        stored = alone(path)
    except sqlite3.Error:
        return False
    return stored is None or stored.name != before[0].name or not 0 <= stored.writes - before[0].writes <= 1


def _page_size(field: bytes) -> int:
    size = int.from_bytes(field)
    return 1 << 16 if size == 1 else size
