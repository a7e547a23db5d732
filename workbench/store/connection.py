"""Opening a database: checks, pragmas, and transactions that begin immediately."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from workbench.errors import StoreError
from workbench.store import migrations
from workbench.store.filesystem import require_local

Durability = Literal["full", "normal"]
"""``full`` survives a power cut at once (labels); ``normal`` may lose its last commits then (bulk rows)."""

BUSY_MS = 10_000
MINIMUM_SQLITE = (3, 37, 0)


class Database:
    """One workbench database; connections are opened per thread and kept.

    Raises (on creation):
        StoreError: The file is missing (unless ``create``), on a network file system, no workbench database,
            or written by a newer version; or this SQLite is too old.
    """

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        self.path = Path(path)
        self._threads = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        _check_sqlite()
        if not create and not self.path.is_file():
            raise StoreError(f"{self.path}: there is no such database.", "Make one with: workbench import DB FILE")
        if not self.path.parent.is_dir():
            raise StoreError(f"{self.path.parent}: there is no such folder.", "Make it first.")
        require_local(self.path.parent)
        migrations.bring_up_to_date(self.path)

    def reader(self) -> sqlite3.Connection:
        """This thread's connection for reading; it can't write."""
        return self._connection("reader")

    @contextmanager
    def write(self, durability: Durability = "normal") -> Iterator[sqlite3.Connection]:
        """One transaction: begins immediately, commits at the end, rolls back on any exception."""
        connection = self._connection(durability)
        if connection.in_transaction:
            yield connection
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise StoreError(f"{self.path}: {error}.", "Another process has kept it locked; try again.") from error
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def data_version(self) -> int:
        """SQLite's own counter of writes by other connections, as this thread's reader sees it."""
        row: tuple[int] = self.reader().execute("PRAGMA data_version").fetchone()
        return row[0]

    def close(self) -> None:
        """Close every connection this object has opened, in whichever thread."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            self._threads = threading.local()

    def _connection(self, kind: str) -> sqlite3.Connection:
        held: dict[str, sqlite3.Connection] | None = getattr(self._threads, "connections", None)
        if held is None:
            held = self._threads.connections = {}
        if kind not in held:
            connection = open_connection(self.path)
            if kind == "reader":
                connection.execute("PRAGMA query_only = ON")
            else:
                connection.execute(f"PRAGMA synchronous = {kind.upper()}")
            held[kind] = connection
            with self._lock:
                self._opened.append(connection)
        return held[kind]


def open_connection(path: Path) -> sqlite3.Connection:
    """A connection in WAL mode with foreign keys on; transactions are begun by hand."""
    try:
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: {error}.", "Is it a workbench database, in a folder you can write to?") from error
    return connection


def _check_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        wanted = ".".join(map(str, MINIMUM_SQLITE))
        raise StoreError(
            f"This Python carries SQLite {sqlite3.sqlite_version}; {wanted} or newer is needed.",
            "Install a newer Python, or a libsqlite3 that it uses.",
        )
