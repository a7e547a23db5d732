"""Opening a database: checks, pragmas, and transactions that begin immediately."""

from __future__ import annotations

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

from workbench.core.database import journal, migrations
from workbench.core.database.failures import explained, roll_back
from workbench.core.database.place import (
    ENDS,
    held_alone,
    require_bytes,
    require_local,
    require_plain_logs,
    sidecar_path,
)
from workbench.core.errors import Command, StoreError
from workbench.core.files import cache_folder, remove_leftovers
from workbench.core.progress import Listener, listening, listening_with

Durability = Literal["full", "normal"]
"""``full``: commits survive a power cut (for labels). ``normal``: a power cut may lose the last commits (for bulk
rows).
"""
BUSY_MS = 10_000
_GLANCE_MS = 20
_LARGE_LOG_PAGES = 16_000
_RETRY_SECONDS = (0.008, 0.002)
"""Seconds between attempts to begin a write transaction: at first, and after `_LONG_WAIT_SECONDS` of waiting."""
_LONG_WAIT_SECONDS = 0.06
_CONTENT = ("datasets", "completions", "questions", "imports", "annotators", "verifiers", "quarantine")
"""Tables that show whether a database has content: at least one of them then has a row."""
MINIMUM_SQLITE = (3, 37, 0)


class Database:
    """An open workbench database; each thread has its own connections, which stay open.

    Raises (on creation):
        SchemaError: Its tables, views or triggers are not the program's.
        StoreError: The file is missing (unless ``create``), on a network file system, not a workbench database,
            or written by a newer version; or this SQLite is too old.
    """

    _file: os.stat_result | None = None
    """The file when it was opened."""
    _schema: int | None = None
    """SQLite's schema counter when the schema was last checked; None if it is never checked."""

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        self._prepare(Path(path))
        _check_sqlite()
        with opening(self.path):
            _check_place(self.path, create=create)
            if create:
                # A process killed just after renaming its new database has left behind the folder in which it was made.
                remove_leftovers(Path(os.path.realpath(self.path)).parent)
            self._schema = migrations.bring_up_to_date(self.path)
        self._file = self.path.stat()

    def require_place(self) -> None:
        """Make sure that the file is still at the path where it was opened.

        Raises:
            StoreError: It was moved, deleted or replaced.
        """
        with suppress(OSError):
            if self._file is None or os.path.samestat(self.path.stat(), self._file):
                return
        # The log is next to the file itself, not next to a link to the file.
        raise StoreError(
            f"{self.path} was moved, deleted or replaced while it was open: put back the file that was opened.",
            f"Nothing is written until then. Leave {self.path.name}-wal where it is: it may hold what is not in the "
            "file yet.",
            "moved",
        )

    def require_writable(self) -> None:
        """Check that the database was not opened read-only; every write checks this as well.

        Raises:
            StoreError: It is read-only; the message gives the reason.
        """

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite errors in the block into StoreErrors. For a read-only database, also check at the end that the
        file has not changed meanwhile.

        Raises:
            StoreError: The file was moved or replaced, or an error of `workbench.core.database.failures.explained`.
        """
        with explained(self.path):
            try:
                yield
            except sqlite3.Error as error:
                raise self.explain(error) or error from None

    def explain(self, error: BaseException | None) -> BaseException | None:
        """Return the error to report: that the file was moved or replaced, if that is why a read failed; else
        ``error``.
        """
        if isinstance(error, sqlite3.Error):
            try:
                self.require_place()
            except StoreError as found:
                return found
        return error

    def open(self) -> sqlite3.Connection:
        """Open another connection, which the caller closes.

        Raises:
            StoreError: The file was moved, deleted or replaced, or it can't be opened.
        """
        self.require_place()
        return open_connection(self.path)

    def _prepare(self, path: Path) -> None:
        self.path = path
        self._threads = threading.local()
        self._opened: list[tuple[sqlite3.Connection, threading.Thread]] = []
        self._readers: list[sqlite3.Connection] = []
        self._lock = threading.Lock()

    def reader(self) -> sqlite3.Connection:
        return self._connection("reader")

    def release_reader(self) -> None:
        """Close this thread's read-only connection, unless it is in a transaction; `reader` opens another one."""
        held: dict[str, sqlite3.Connection] = getattr(self._threads, "connections", {})
        connection = held.get("reader")
        if connection is None or connection.in_transaction:
            return
        with self._lock:
            self._readers.remove(connection)
            self._opened.remove((connection, threading.current_thread()))
        del held["reader"]
        _close_or_interrupt(connection, threading.current_thread())

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Read one consistent state of the database with this thread's reader.

        Raises:
            SchemaError: Another program has changed its tables, views or triggers.
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
        """Run one transaction: begins immediately, commits at the end, rolls back on any exception.

        Args:
            patient: Wait for seconds while others write; else only as long as an event loop may block, and leave a
                small write-ahead log to `write_back`.

        Raises:
            SchemaError: Another program has changed its tables, views or triggers.
            StoreError: The database is locked, full, damaged or read-only, or its file was moved.
        """
        self.require_writable()
        self.require_place()
        connection = self._connection(durability if patient else f"{durability} impatient")
        if connection.in_transaction:
            yield connection
            return
        with explained(self.path):
            _begin(connection, patient=patient)
            try:
                self._require_same_schema(connection)
                last = journal.last_event_id(connection)
                yield connection
                self.require_place()
                with journal.appended(connection, self.path, last) as written:
                    connection.execute("COMMIT")
            except BaseException:
                roll_back(connection)
                raise
        if written:
            journal.flush(self.path)

    def _require_same_schema(self, connection: sqlite3.Connection) -> None:
        if self._schema is None:
            return
        counter = migrations.changes_to_schema(connection)
        if counter != self._schema:
            migrations.require_ours(connection, self.path)
            self._schema = counter

    def write_back(self) -> None:
        connection = self.open()
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            connection.close()

    def data_version(self) -> int:
        """Return SQLite's counter of changes made by other connections, read by this thread's reader."""
        return int(self.reader().execute("PRAGMA data_version").fetchone()[0])

    def require_other(self, target: Path) -> None:
        """Check that a path may be written: it is not one of the database's files or cached columns, a link to one of
        them, or anything but a regular file.

        Raises:
            StoreError: ``target`` is one of the database's files, or a folder, a device or similar.
        """
        if not target.name or (target.exists() and not target.is_file()):
            raise StoreError(f"{target} is not a regular file.", "Name another file.")
        own = [*(Path(f"{self.path.resolve()}{end}") for end in ENDS), journal.path_of(self.path)]
        linked = target.exists() and any(file.exists() and target.samefile(file) for file in own)
        place = target.resolve()
        if linked or place in own or cache_folder(self.path) in (place, *place.parents):
            raise StoreError(f"{target} belongs to the database itself.", "Name another file.")

    def interrupt_readers(self) -> None:
        """Interrupt all reads that are in progress in any thread, so that they fail with an error. Writes continue."""
        with self._lock:
            for connection in self._readers:
                connection.interrupt()

    def close(self) -> None:
        """Close every connection this object has opened, in any thread.

        A connection that another thread is using can't be closed without crashing the process; it is interrupted
        instead.
        """
        with self._lock:
            self._readers.clear()
            while self._opened:
                _close_or_interrupt(*self._opened.pop())
            self._threads = threading.local()

    def remove_if_empty(self) -> None:
        """Remove a new database file, unless the database has content or another process has it open."""
        with suppress(StoreError, sqlite3.Error, OSError):
            if any(self.reader().execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() for name in _CONTENT):
                return
            self.close()
            with held_alone(self.path):
                for end in ENDS:
                    sidecar_path(self.path, end).unlink(missing_ok=True)

    def _connection(self, kind: str) -> sqlite3.Connection:
        held: dict[str, sqlite3.Connection] | None = getattr(self._threads, "connections", None)
        if held is None:
            held = self._threads.connections = {}
        if kind not in held:
            connection = held[kind] = self._open(kind)
            with self._lock:
                self._opened.append((connection, threading.current_thread()))
                if kind == "reader":
                    self._readers.append(connection)
        return held[kind]

    def _open(self, kind: str) -> sqlite3.Connection:
        connection = self.open()
        if kind == "reader":
            connection.execute("PRAGMA query_only = ON")
            return connection
        durability, _, impatient = kind.partition(" ")
        connection.execute(f"PRAGMA synchronous = {durability.upper()}")
        connection.execute(f"PRAGMA busy_timeout = {_GLANCE_MS if impatient else 0}")
        if impatient:
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LARGE_LOG_PAGES}")
        return connection


def _close_or_interrupt(connection: sqlite3.Connection, thread: threading.Thread) -> None:
    if thread is threading.current_thread() or not thread.is_alive():
        connection.close()
    else:
        connection.interrupt()


def _begin(connection: sqlite3.Connection, *, patient: bool) -> None:
    """Begin a write transaction as soon as no other connection has one.

    SQLite itself retries less and less often, in the end every 100 ms, so that some of many writers starve. Here a
    writer retries more often the longer it has waited.
    """
    began = time.monotonic()
    first, last = _RETRY_SECONDS
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            waited = time.monotonic() - began
            if not patient or not busy or waited > BUSY_MS / 1000:
                raise
        time.sleep(random.uniform(0.5, 1) * max(first * (1 - waited / _LONG_WAIT_SECONDS), last))


def open_connection(path: Path) -> sqlite3.Connection:
    """Open a connection in WAL mode with foreign keys on; transactions are begun explicitly."""
    with explained(path):
        connection = sqlite3.connect(
            # A file that was removed in the meantime is not created again.
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            timeout=BUSY_MS / 1000,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
    return connection


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Turn errors in the block, which opens a database, into StoreErrors.

    Raises:
        StoreError: The database may not be read or written, is damaged, ….
    """
    try:
        with explained(path):
            yield
    except OSError as error:
        raise StoreError(f"{error.filename or path}: {error.strerror}.", "Check name and permissions.") from error


def require_usable(path: Path) -> None:
    """Check that a path is a regular file on a local disk, and that its log files are regular files.

    Raises:
        OSError: One of SQLite's log files is a link or similar.
        StoreError: The file may not be opened as a database.
    """
    _check_sqlite()
    _check_place(path, create=False)
    require_bytes(path)


def _check_place(path: Path, *, create: bool) -> None:
    if not path.is_file() and (path.exists() or not create):
        what = "it is not a file" if path.exists() else "there is no such database"
        raise StoreError(
            f"{path}: {what}.", "Make one in the app (workbench), or with", command=Command("import DB FILE")
        )
    require_local(path.parent)
    require_plain_logs(path)


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        wanted = ".".join(map(str, MINIMUM_SQLITE))
        raise StoreError(
            f"This Python has SQLite {sqlite3.sqlite_version}; {wanted} or newer is needed.",
            "Install a newer Python, or a libsqlite3 that it uses.",
        )


# -- Long SQL that stops at once on Ctrl-C or cancellation.


T = TypeVar("T")
_INTERRUPT_POLL_SECONDS = 0.05


def interruptibly(work: Callable[[], T], interrupt: Callable[[], None], look: Callable[[], None] | None = None) -> T:
    """Run work in a separate thread, since SQLite blocks signals in the thread that calls it; return the result.

    Args:
        interrupt: Interrupts the running SQL; called repeatedly until the work has ended.
        look: Called periodically; an exception it raises ends the work.
    """
    listener = listening() or Listener()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with listening_with(listener):
                found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,))
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_INTERRUPT_POLL_SECONDS)
            listener.raise_if_cancelled()
            if look is not None:
                look()
    except BaseException:
        listener.stop()
        while thread.is_alive():
            interrupt()
            thread.join(_INTERRUPT_POLL_SECONDS)
        raise
    if failed:
        raise failed[0]
    return found[0]


# -- Long reads that another thread may cancel, because a newer query makes the result useless.


_STEPS = 20_000
"""Number of SQLite's virtual-machine steps between two checks, which take well under a millisecond."""


class Cancelled(StoreError):
    """A read was cancelled."""


@contextmanager
def cancellable(connection: sqlite3.Connection, cancelled: Callable[[], bool]) -> Iterator[None]:
    """Make reads on the connection in the block fail soon after ``cancelled()`` becomes true.

    Unlike ``Connection.interrupt`` this also ends a read that begins just after the call.

    Raises:
        Cancelled: The read was cancelled.
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
