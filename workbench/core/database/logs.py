"""Whether the log beside a database is its own, told before SQLite replays a page of it.

SQLite believes any log that is whole in itself: that of a database over which a backup was copied, too. So every
transaction leaves a mark (`generation.py`), which is read here in the file without its log, and in the log. A log
begins where the file stood: the file has the state that the log's first transaction was made on, or that of one in the
log where some of it has been written back; and its header is the one that stood there then, or one of the log's, which
tells a copy of the same state with other pages. Logs without marks, of older versions and other programs, are told by
the two counters in the header, as far as these tell.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from workbench.core.database import generation, place
from workbench.core.database.failures import go_back
from workbench.core.database.generation import Generation
from workbench.core.database.place import OPENING, close_beside, opened_beside
from workbench.core.errors import StoreError

_WAL_HEAD = struct.Struct(">6I")
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_WAL_BEGIN, _FRAME_HEAD = 32, 24
_FRAME = struct.Struct(">4I")
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_DATABASE_MAGIC = b"SQLite format 3\0"
_CHUNK = 1 << 20
_NEAR = 1 << 16
_OVERLAP = 128
_TRIES = 20
_WAIT_S = 0.005
_CHANGES, _SIZE, _COOKIE, _VALID_FOR = slice(24, 28), slice(28, 32), slice(40, 44), slice(92, 96)
KEPT = ".before-"
"""What follows a database's name in those of its copies that were kept."""
ENDS = ("-wal", "-journal")
"""Of the names of the logs, beside the database's own."""


def require_own(path: Path) -> None:
    """Refuse a database beside which another one's log lies; nothing is written. It costs next to nothing without one.

    Raises:
        StoreError: There is such a log.
    """
    second = _second_name(path)
    if second is not None:
        raise StoreError(
            f"{path.name} has a second name, {second.name}, and the log beside that one is not empty. "
            "Nothing was read or written.",
            f"Open {second} instead, then remove one of the two names.",
        )
    place.require_not_open_elsewhere(path)
    found = foreign_log(path)
    if found is not None:
        raise StoreError(
            f"{found} is not the log of {path.name}: another copy of the database was put where its own one was. "
            "Nothing was read or written.",
            f"{go_on(path)} (or put the file back that the log belongs to)",
        )


def require_bytes(path: Path) -> None:
    """Refuse a file of 0 bytes: nobody has made a database of none.

    Raises:
        StoreError: It is one.
    """
    if not path.stat().st_size:
        logged = any(path.with_name(path.name + end).exists() for end in ENDS)
        raise StoreError(
            f"{path} has 0 bytes: it is no database any more, or never was one.",
            "Nothing was written; its log is kept. " * logged
            + f"{go_back(path)} For a new database remove the empty file first.",
        )


def _second_name(path: Path) -> Path | None:
    """Another name of the same file in its folder that a log lies beside: SQLite looks beside the name it is given."""
    real = Path(os.path.realpath(path))
    with suppress(OSError):
        status = real.stat()
        if status.st_nlink == 1:
            return None
        for name in os.listdir(real.parent):
            second = real.with_name(name)
            # What is put in the place of another has two names meanwhile, with copies of its log.
            if second == real or name.startswith(f"{real.name}{KEPT}") or not os.path.samestat(second.lstat(), status):
                continue
            log = second.with_name(f"{name}{ENDS[0]}")
            if log.exists() and log.stat().st_size:
                return second
    return None


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
                # SQLite would not replay it, and write over what people may still need.
                return os.pread(file.fileno(), len(_DATABASE_MAGIC), 0) == _DATABASE_MAGIC
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
        head = os.pread(main, generation.HEADER, 0)
        if len(head) < generation.HEADER or _page_size(head[16:18]) != wal.page:
            return len(head) == generation.HEADER
        here = None if first is None else generation.in_page(os.pread(main, wal.page, (first.number - 1) * wal.page))
    if first is None:
        return wal.counts_otherwise(head)
    # What else stands in the log is read after the file: both may grow meanwhile.
    if here is not None and wal.goes_on_from(here, first.generation):
        return wal.has_other_header(head, here, first.generation)
    try:
        stored = alone(path)
    except sqlite3.Error:
        # Damaged, or torn as it was read: SQLite says what is wrong with it.
        return False
    if stored is None:
        # A database of an older version, and the log of its migration.
        return not first.generation.first
    # It stands elsewhere: the log begins with a VACUUM, or the file is another program's copy of that very state.
    if wal.goes_on_from(stored, first.generation):
        return wal.has_other_header(head, stored, first.generation)
    return not wal.begins_anew(head)


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
        """The first mark, and in which page it stands."""
        return next(self._marks(), None)

    def goes_on_from(self, file: Generation, first: Generation) -> bool:
        """Whether the log was begun where a file stands, or where it stood before some of the log was written back.

        Args:
            first: The log's first mark.
        """
        if file.name != first.name:
            return False
        if file.state is not None:
            return file.state == first.before or any(mark.generation.state == file.state for mark in self._newest())
        # A file of version 9, and its log.
        return first.writes - 1 <= file.writes <= max(mark.generation.writes for mark in self._marks())

    def has_other_header(self, head: bytes, file: Generation, first: Generation) -> bool:
        """Whether a file that has a state of the log's has its pages elsewhere: a copy that another program made."""
        digest = generation.header_digest(head)
        if digest == first.header:
            return False
        if any(generation.header_digest(one) == digest for one in self._newest_heads()):
            return False
        if any(mark.generation.header == digest for mark in self._newest()):
            return False
        if first.header in (None, generation.UNKNOWN) or (file.state == first.state and next(self._heads(), None)):
            # Not known, or the log begins with a VACUUM, which carries the file's own mark over.
            return self.counts_otherwise(head)
        return True

    def begins_anew(self, head: bytes) -> bool:
        """Whether the log begins with one transaction that writes a file anew, as SQLite restores a copy into it."""
        pages: set[int] = set()
        for frame in range(self._frames()):
            number, size = self._head(frame) or (0, 0)
            pages.add(number)
            if size:
                counted = int.from_bytes(next(self._heads(), b"")[_CHANGES])
                return len(pages) >= size and counted == int.from_bytes(head[_CHANGES]) + 1
        return False

    def counts_otherwise(self, head: bytes) -> bool:
        """Whether the counters in the header of the file's page 1 show that it is of another history.

        Neither ever decreases: that of changes by at most one between the file and the first page 1 of its log.
        Without any the file has not grown.
        """
        ones = list(self._heads())
        if not ones:
            known = head[_CHANGES] == head[_VALID_FOR]
            sizes = {found[1] for frame in range(self._frames()) if (found := self._head(frame))}
            return known and not sizes <= {0, int.from_bytes(head[_SIZE])}
        first, last = ones[0], ones[-1]
        changes = int.from_bytes(head[_CHANGES])
        return (
            changes > int.from_bytes(last[_CHANGES])
            or changes < int.from_bytes(first[_CHANGES]) - 1
            or int.from_bytes(head[_COOKIE]) > int.from_bytes(last[_COOKIE])
        )

    @property
    def _step(self) -> int:
        return _FRAME_HEAD + self.page

    @property
    def _at_once(self) -> int:
        """Frames that are read together."""
        return max(1, _NEAR // self._step)

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

    def _marks(self) -> Iterator[_Found]:
        """Every mark, in order."""
        end, at_once = self._frames(), self._at_once
        for begin in range(0, end, at_once):
            yield from self._marks_between(begin, min(end, begin + at_once))

    def _newest(self) -> Iterator[_Found]:
        """Every mark, the newest first: a file of which a log is written back all the time stands near its end."""
        begin = self._frames()
        while begin > 0:
            end, begin = begin, max(0, begin - self._at_once)
            yield from reversed(list(self._marks_between(begin, end)))

    def _marks_between(self, begin: int, end: int) -> Iterator[_Found]:
        held = os.pread(self.file, (end - begin) * self._step, self._place(begin))
        for frame in sorted({at // self._step for at in generation.places(held)}):
            page = held[frame * self._step + _FRAME_HEAD : (frame + 1) * self._step]
            if (mark := generation.in_page(page)) is not None:
                yield _Found(mark, _FRAME.unpack_from(held, frame * self._step)[0])

    def _heads(self) -> Iterator[bytes]:
        """The header in every page 1 of the log, in order."""
        return self._heads_in(range(self._frames()))

    def _newest_heads(self) -> Iterator[bytes]:
        """The same, the newest first."""
        return self._heads_in(reversed(range(self._frames())))

    def _heads_in(self, frames: Iterable[int]) -> Iterator[bytes]:
        for frame in frames:
            if (found := self._head(frame)) is not None and found[0] == 1:
                yield os.pread(self.file, generation.HEADER, self._place(frame) + _FRAME_HEAD)


def _journal_is_foreign(path: Path, log: Path) -> bool:
    """A rollback journal holds pages as they were: the file has that state, or the one after it."""
    before = None
    with log.open("rb") as file:
        held = file.read(_CHUNK)
        if not held.startswith(_JOURNAL_MAGIC):
            return held.startswith(_DATABASE_MAGIC)
        while held and before is None:
            before = generation.in_journal(held)
            more = file.read(_CHUNK)
            held = held[-_OVERLAP:] + more if more else b""
    if before is None:
        return False
    try:
        stored = alone(path)
    except sqlite3.Error:
        return False
    if stored is None or stored.name != before.name:
        return True
    if stored.state is None or before.state is None:
        return not 0 <= stored.writes - before.writes <= 1
    return before.state not in (stored.state, stored.before)


def _page_size(field: bytes) -> int:
    size = int.from_bytes(field)
    return 1 << 16 if size == 1 else size


# -- Whether an open database's file has been overwritten in place: the same file, but another copy's bytes.


_READ_TRIES = 5
_READ_WAIT_S = 0.002


class FileContents:
    """The generation that an open database's own file bears; asked before every write, so it costs microseconds.

    Args:
        connection: A connection to it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._file = -1
        self._path = Path(os.path.realpath(path))
        found = generation.read(connection)
        self._name = None if found is None else found.name
        self._size: int = connection.execute("PRAGMA page_size").fetchone()[0]
        row = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'generation'").fetchone()
        self._page: int = 0 if row is None else row[0]
        self._seen = 0
        self._state: bytes | None = None
        self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self.are_others()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            status = os.fstat(file)
            close_beside((status.st_dev, status.st_ino), lambda: os.close(file))

    def require(self) -> None:
        """Make sure that the file is no other copy by now.

        Raises:
            StoreError: It was overwritten.
        """
        if self.are_others():
            raise StoreError(
                f"{self._path} was overwritten with another copy while it was open.",
                f"Nothing is written. End this program, then: {go_on(self._path)}",
                "overwritten",
            )

    def are_others(self) -> bool:
        """Whether the file was overwritten."""
        if self._name is None or self._file < 0:
            return False
        # Another thread may see more while this one reads.
        seen = self._seen
        place = (self._page - 1) * self._size
        here = generation.in_page(os.pread(self._file, self._size, place))
        return self._stands_elsewhere() if here is None else self._differs(here, seen)

    def header(self) -> bytes:
        """What a transaction says of the file that it is made on."""
        return generation.header_digest(os.pread(self._file, generation.HEADER, 0))

    def _differs(self, here: generation.Generation, seen: int) -> bool:
        """Another copy's name, fewer transactions than the file has been seen to have, or others than its log has.

        Args:
            seen: How many it had been seen to have before it was read.
        """
        if here.name != self._name or here.writes < seen:
            return True
        if here.state != self._state:
            if seen and foreign_log(self._path) is not None:
                return True
            self._state = here.state
        self._seen = max(self._seen, here.writes)
        return False

    def _stands_elsewhere(self) -> bool:
        """The page is another one now: by a VACUUM of this database, or because it is another copy."""
        for _ in range(_READ_TRIES):
            seen = self._seen
            try:
                stored = alone(self._path)
            except (sqlite3.Error, OSError):
                # It is being written.
                time.sleep(_READ_WAIT_S)
                continue
            # A file of an older version has none until the log of its migration is written back.
            return seen > 0 if stored is None else self._differs(stored, seen)
        return False


def keep_open(connection: sqlite3.Connection) -> None:
    """Never close a connection: SQLite would write the log back into the file, which is another copy's."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
