"""Opening a database: checks, pragmas, and transactions that begin immediately."""

from __future__ import annotations

import fcntl
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from typing import Literal, TypeVar

from workbench.core.database import column_files, migrations
from workbench.core.database.counted import CountedConnection
from workbench.core.database.failures import explained, roll_back
from workbench.core.database.place import (
    ENDS,
    Place,
    beside,
    require_bytes,
    require_local,
    require_plain_logs,
    require_unused,
)
from workbench.core.errors import StoreError
from workbench.core.files import sweep
from workbench.core.progress import Listener, heard_by, listening

Durability = Literal["full", "normal"]
"""``full`` survives a power cut at once (labels); ``normal`` may lose its last commits then (bulk rows)."""
BUSY_MS = 10_000
_GLANCE_MS = 20
_LOOK_S = 0.1
_LARGE_LOG_PAGES = 16_000
_LOOK_FOR_TURN_S = (0.008, 0.002)
"""Seconds between two looks whether it is one's turn to write: at first, and after `_LONG_S` of waiting."""
_LONG_S = 0.06
_CONTENT = ("datasets", "completions", "questions", "imports", "annotators", "verifiers", "quarantine", "trainings")
"""Tables of which one has a row as soon as anything was stored."""
MINIMUM_SQLITE = (3, 37, 0)


class Database:
    """One workbench database; connections are opened per thread and kept.

    Args:
        unchecked: Open it also when its schema is not as this program makes it, to say so.

    Raises (on creation):
        SchemaError: Its tables, views or triggers are not as this program makes them.
        StoreError: The file is missing (unless ``create``), on a network file system, no workbench database,
            or written by a newer version; or this SQLite is too old.
    """

    _place: Place | None = None
    _turn: _Turn | None = None

    def __init__(self, path: Path | str, *, create: bool = False, unchecked: bool = False) -> None:
        self._prepare(Path(path), unchecked=unchecked)
        _check_sqlite()
        with opening(self.path):
            _check_place(self.path, create=create)
            if create:
                # Whoever was killed just after a new one had its name has left the folder in which it was made.
                sweep(Path(os.path.realpath(self.path)).parent)
            self._schema = migrations.bring_up_to_date(self.path, unchecked=unchecked)
        self._place = Place(self.path)

    def require_place(self) -> None:
        """Make sure that the file is where it was opened.

        Raises:
            StoreError: It was moved, deleted or replaced.
        """
        if self._place is not None:
            self._place.require()

    def require_writable(self) -> None:
        """Make sure that it was not opened to be read alone; also every write says so.

        Raises:
            StoreError: It was; the message says why.
        """

    @contextmanager
    def explained(self) -> Iterator[None]:
        """While inside, what the database can't do raises a StoreError; and so does its end, if what was read is wrong.

        Raises:
            StoreError: What has become of the file, or as `workbench.core.database.failures.explained`.
        """
        with explained(self.path):
            try:
                yield
            except sqlite3.Error as error:
                raise self.explain(error) or error from None

    def explain(self, error: BaseException | None) -> BaseException | None:
        """What has become of the file, where a read fails because of that; else the error itself."""
        if isinstance(error, sqlite3.Error):
            try:
                self.require_place()
            except StoreError as found:
                return found
        return error

    def open(self) -> sqlite3.Connection:
        """Another connection, which the caller closes.

        Raises:
            StoreError: The file was moved, deleted or replaced, or it can't be opened.
        """
        self.require_place()
        return open_connection(self.path)

    def _prepare(self, path: Path, *, unchecked: bool = True) -> None:
        self.path = path
        self._unchecked = unchecked
        self._threads = threading.local()
        self._opened: list[tuple[sqlite3.Connection, threading.Thread]] = []
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    def reader(self) -> sqlite3.Connection:
        """This thread's connection for reading; it can't write."""
        return self._connection("reader")

    def release_reader(self) -> None:
        """Close this thread's connection for reading, unless it is in a transaction; `reader` opens another one."""
        held: dict[str, sqlite3.Connection] = getattr(self._threads, "connections", {})
        connection = held.get("reader")
        if connection is None or connection.in_transaction:
            return
        with self._lock:
            self._readers.remove(connection)
            self._opened.remove((connection, threading.current_thread()))
        del held["reader"]
        _let_go(connection, threading.current_thread())

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """This thread's reader, on one state of the database throughout.

        Raises:
            SchemaError: Somebody has changed its tables, views or triggers meanwhile.
        """
        connection = self.reader()
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN DEFERRED")
        try:
            self._require_same_schema(connection)
            yield connection
        finally:
            roll_back(connection)

    @contextmanager
    def write(self, durability: Durability = "normal", *, patient: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: begins immediately, commits at the end, rolls back on any exception.

        Args:
            patient: Wait for seconds while others write; else only for as long as an event loop may stand still, and
                don't write the log back before it is large: that is left to `write_back`.

        Raises:
            SchemaError: Somebody has changed its tables, views or triggers meanwhile.
            WrittenError: Fewer rows were written than were sent, or others beside them.
            StoreError: The database is locked, full, damaged or not to be written, or its file isn't where it was.
        """
        self.require_writable()
        self.require_place()
        connection = self._connection(durability if patient else f"{durability} impatient")
        if connection.in_transaction:
            yield connection
            return
        with explained(self.path), self._turn_to_write().offered() as take:
            _begin(connection, take, patient=patient)
            try:
                self._require_same_schema(connection)
                yield connection
                self.require_place()
                connection.execute("COMMIT")
            except BaseException:
                roll_back(connection)
                raise

    def _turn_to_write(self) -> _Turn:
        with self._lock:
            self._turn = self._turn or _Turn(self.path)
            return self._turn

    def _require_same_schema(self, connection: sqlite3.Connection) -> None:
        counter = migrations.changes_to_schema(connection)
        if isinstance(connection, CountedConnection):
            connection.schema_is(counter)
        if not self._unchecked and counter != self._schema:
            migrations.require_ours(connection, self.path, migrations.latest_version())
            self._schema = counter

    def write_back(self) -> None:
        """Move what the write-ahead log holds into the database, as far as that goes while others write."""
        connection = self.open()
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()

    def data_version(self) -> int:
        """SQLite's own counter of writes by other connections, as this thread's reader sees it."""
        row: tuple[int] = self.reader().execute("PRAGMA data_version").fetchone()
        return row[0]

    def is_written_within(self, seconds: float) -> bool:
        """Wait until somebody else writes; False when nobody does."""
        before, until = self.data_version(), time.monotonic() + seconds
        while time.monotonic() < until:
            if self.data_version() != before:
                return True
            time.sleep(_LOOK_S)
        return False

    def require_other(self, target: Path) -> None:
        """Refuse to write over the database, its write-ahead log, its columns, a link to one of them, or no file.

        Raises:
            StoreError: ``target`` is one of the database's files, or a folder, a device or the like.
        """
        if not target.name or (target.exists() and not target.is_file()):
            raise StoreError(f"{target} is no regular file.", "Name another file.")
        own = [Path(f"{self.path.resolve()}{end}") for end in ("", "-wal", "-shm", "-journal")]
        linked = target.exists() and any(file.exists() and target.samefile(file) for file in own)
        place = target.resolve()
        if linked or place in own or column_files.folder(self.path) in (place, *place.parents):
            raise StoreError(f"{target} belongs to the database itself.", "Name another file.")

    def interrupt_readers(self) -> None:
        """End the reads under way in any thread: each fails with an error. Writes go on."""
        with self._lock:
            for connection in self._readers:
                connection.interrupt()

    def close(self) -> None:
        """Close every connection this object has opened, in whichever thread.

        To close one on which another thread is at work would crash the process: it is closed once that thread lets go
        of it.
        """
        with self._lock:
            self._readers.clear()
            while self._opened:
                _let_go(*self._opened.pop())
            if self._turn is not None:
                self._turn.close()
                self._turn = None
            self._threads = threading.local()

    def remove_if_empty(self) -> None:
        """Remove a database that was made just now, unless something is in it or somebody has it open."""
        with suppress(StoreError, sqlite3.Error, OSError):
            if any(self.reader().execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for name in _CONTENT):
                return
            self.close()
            require_unused(self.path)
            for end in ENDS:
                beside(self.path, end).unlink(missing_ok=True)

    def _connection(self, kind: str) -> sqlite3.Connection:
        held: dict[str, sqlite3.Connection] | None = getattr(self._threads, "connections", None)
        if held is None:
            held = self._threads.connections = {}
        if kind not in held:
            connection = self.open()
            durability, _, impatient = kind.partition(" ")
            if kind == "reader":
                connection.execute("PRAGMA query_only = ON")
            else:
                connection.execute(f"PRAGMA synchronous = {durability.upper()}")
            if kind != "reader":
                connection.execute(f"PRAGMA busy_timeout = {_GLANCE_MS if impatient else 0}")
            if impatient:
                connection.execute(f"PRAGMA wal_autocheckpoint = {_LARGE_LOG_PAGES}")
            held[kind] = connection
            with self._lock:
                self._opened.append((connection, threading.current_thread()))
                if kind == "reader":
                    self._readers.append(connection)
        return held[kind]


def _let_go(connection: sqlite3.Connection, thread: threading.Thread) -> None:
    if thread is threading.current_thread() or not thread.is_alive():
        connection.close()
    else:
        connection.interrupt()


class _Turn:
    """Whose turn it is to write, among threads and processes: a lock on the log, where SQLite itself has none.

    To look for it costs a tenth of a refused ``BEGIN``: many who wait leave the processor to the one who writes.
    It spares work alone: SQLite's own lock is what counts, and whoever waits long asks for that one.
    """

    def __init__(self, path: Path) -> None:
        self._mine = threading.Lock()
        self._closed = False
        self._log = -1
        with suppress(OSError):
            self._log = os.open(f"{os.path.realpath(path)}-wal", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)

    @contextmanager
    def offered(self) -> Iterator[Callable[[], bool]]:
        taken = False

        def take() -> bool:
            nonlocal taken
            taken = taken or self._take()
            return taken

        try:
            yield take
        finally:
            if taken:
                self._give_back()

    def _take(self) -> bool:
        if not self._mine.acquire(blocking=False):
            return False
        try:
            if self._log >= 0:
                fcntl.flock(self._log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._mine.release()
            return False
        except OSError:
            # No such locks on this file system: SQLite is asked at once.
            pass
        except BaseException:
            # Ctrl-C as it was taken.
            self._give_back()
            raise
        return True

    def _give_back(self) -> None:
        if self._log >= 0:
            with suppress(OSError):
                fcntl.flock(self._log, fcntl.LOCK_UN)
        self._mine.release()
        if self._closed:
            self.close()

    def close(self) -> None:
        self._closed = True
        if self._mine.acquire(blocking=False):
            if self._log >= 0:
                os.close(self._log)
                self._log = -1
            self._mine.release()


def _begin(connection: sqlite3.Connection, take_turn: Callable[[], bool], *, patient: bool) -> None:
    """Begin to write as soon as nobody else does.

    SQLite itself would ask ever more rarely, every 100 ms in the end, so that among many writers some starve. Here
    whoever has waited longer looks more often.
    """
    began = time.monotonic()
    asked = began
    first, last = _LOOK_FOR_TURN_S
    while True:
        now = time.monotonic()
        if take_turn() or not patient or now - asked >= _LONG_S:
            asked = now
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                if not patient or not busy or now - began > BUSY_MS / 1000:
                    raise
        time.sleep(random.uniform(0.5, 1) * max(first * (1 - (now - began) / _LONG_S), last))


def open_connection(path: Path) -> sqlite3.Connection:
    """A connection in WAL mode with foreign keys on; transactions are begun by hand."""
    with explained(path):
        connection = sqlite3.connect(
            # A file that was removed meanwhile is not made anew.
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_MS / 1000,
            factory=CountedConnection,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """While inside, whatever keeps a database from being opened raises a StoreError.

    Raises:
        StoreError: It may not be read or written, it is damaged, ….
    """
    try:
        with explained(path):
            yield
    except OSError as error:
        raise StoreError(
            f"{error.filename or path}: {error.strerror}.", "Check the name and its permissions."
        ) from error


def require_usable(path: Path) -> None:
    """See that a file may be opened at all: it is one, on a local disk, with plain logs beside it.

    Raises:
        OSError: Where SQLite keeps a log there is a link or the like.
        StoreError: It may not.
    """
    _check_sqlite()
    _check_place(path, create=False)
    require_bytes(path)


def _check_place(path: Path, *, create: bool) -> None:
    if not path.is_file() and (path.exists() or not create):
        what = "it is no file" if path.exists() else "there is no such database"
        raise StoreError(f"{path}: {what}.", "Make one with: workbench import DB FILE")
    if not path.parent.is_dir():
        raise StoreError(f"{path.parent}: there is no such folder.", "Make it first.")
    require_local(path.parent)
    require_plain_logs(path)


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        wanted = ".".join(map(str, MINIMUM_SQLITE))
        raise StoreError(
            f"This Python carries SQLite {sqlite3.sqlite_version}; {wanted} or newer is needed.",
            "Install a newer Python, or a libsqlite3 that it uses.",
        )


# -- SQL that takes long, where ctrl-C and whoever waits no more are heeded at once.


T = TypeVar("T")
_INTERRUPT_LOOK_S = 0.05


def interruptibly(work: Callable[[], T], interrupt: Callable[[], None], look: Callable[[], None] | None = None) -> T:
    """Do the work in a thread of its own: SQLite lets no signal through to the thread that it is called from.

    Args:
        interrupt: Ends the SQL under way; called until the work has ended.
        look: Called now and then while it lasts; what it raises ends the work.
    """
    listener = listening() or Listener()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with heard_by(listener):
                found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,))
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_INTERRUPT_LOOK_S)
            listener.heed()
            if look is not None:
                look()
    except BaseException:
        listener.stop()
        while thread.is_alive():
            interrupt()
            thread.join(_INTERRUPT_LOOK_S)
        raise
    if failed:
        raise failed[0]
    return found[0]


# -- Long reads that another thread may end: a newer query makes the older one useless.


_STEPS = 20_000
"""Virtual-machine steps of SQLite between two looks: well under a millisecond."""


class Cancelled(StoreError):
    """A read was ended before it was through."""


@contextmanager
def cancellable(connection: sqlite3.Connection, cancelled: Callable[[], bool]) -> Iterator[None]:
    """While inside, reads on the connection end soon after ``cancelled()`` has become true.

    Unlike ``Connection.interrupt`` this also ends a read that begins just after the call.

    Raises:
        Cancelled: The read was ended.
    """
    connection.set_progress_handler(cancelled, _STEPS)
    try:
        if cancelled():
            raise Cancelled("The read was cancelled.")
        yield
    except sqlite3.OperationalError as error:
        if cancelled():
            raise Cancelled("The read was cancelled.") from error
        raise
    finally:
        connection.set_progress_handler(None, 0)
