"""Read-only access to a database. Only SQLite may change the file: it undoes a first import that was killed.

An untrusted database is opened on a separate connection, never attached. On this connection SQLite's authorizer permits
only reading the named tables, so that views, triggers, generated columns and functions of its schema can't run.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn

from workbench.core.database import migrations
from workbench.core.database.connection import Database, opening, require_usable
from workbench.core.database.failures import explained
from workbench.core.database.place import ENDS, LOGS, require_plain_logs, sidecar_path
from workbench.core.errors import Command, StoreError
from workbench.core.files import require_input

_CACHE_KIB = 64 * 1024
_FileState = list[tuple[int, int, int] | None]


class ReadOnlyDatabase(Database):
    """A database opened read-only; it may have any version and be damaged. Writing raises an error.

    Args:
        why: Why it can't be written; the words follow "can be read here, but not written: ".
    """

    def __init__(self, path: Path, why: str = "it is only looked at") -> None:
        self._prepare(path)
        self._why = why
        self._file = path.stat()
        real = Path(os.path.realpath(path))
        sizes = {end: sidecar_path(real, end).stat().st_size for end in ENDS if sidecar_path(real, end).exists()}
        # SQLite rolls back an unfinished transaction, and reads the log of one that others may be writing.
        mode = "rw" if sizes.get("-journal") else "ro" if sizes.get("-wal") or "-shm" in sizes else "ro&immutable=1"
        self._address = f"{real.as_uri()}?mode={mode}"
        self._stood = file_state(real) if "immutable" in mode else None

    def require_place(self) -> None:
        """Check that nothing has been written since the database was opened, unless SQLite's locks keep writers apart.

        Raises:
            StoreError: The database was written.
        """
        if self._stood is None:
            super().require_place()
        elif file_state(Path(os.path.realpath(self.path))) != self._stood:
            raise StoreError(f"{self.path}: it has changed in the meantime.", "Try again.")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """See the base class. If no error is raised, all reads in the block saw the same state."""
        with super().explained():
            yield
            self.require_place()

    def require_writable(self) -> NoReturn:
        """Raise an error that says why the database can't be written.

        Raises:
            StoreError: Always.
        """
        raise StoreError(
            f"{self.path} can be read here, but not written: {self._why}.",
            f"Nothing was changed. A copy can be written: {Command(f'backup {shlex.quote(str(self.path))} COPY')}",
        )

    def open(self) -> sqlite3.Connection:
        """Open another connection, to copy the database; the caller closes it."""
        connection = sqlite3.connect(self._address, uri=True, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    def _open(self, kind: str) -> sqlite3.Connection:
        """Open a connection that never executes code in the database's schema."""
        connection = self.open()
        # Invalid UTF-8 becomes lone surrogates, which stored texts never contain.
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        for pragma in ("query_only = ON", f"cache_size = -{_CACHE_KIB}"):
            connection.execute(f"PRAGMA {pragma}")
        return connection


def open_read_only(path: Path, why: str) -> ReadOnlyDatabase:
    """Open a database read-only, with the same checks of its version and its schema as for writing.

    Args:
        why: See `ReadOnlyDatabase`.

    Raises:
        SchemaError: Its tables, views or triggers are not the program's.
        StoreError: The file is not a workbench database, or has another version.
    """
    with opening(path):
        require_usable(path)
        database = ReadOnlyDatabase(path, why=why)
        try:
            copy = Command(f"backup {shlex.quote(str(path))} COPY")
            migrations.require_current(database.reader(), path, f"Make a copy and open that one: {copy}")
        except BaseException:
            database.close()
            raise
    return database


def file_state(path: Path) -> _FileState:
    places = [sidecar_path(path, end) for end in ("", *LOGS)]
    found = [place.stat() if place.exists() else None for place in places]
    return [about and (about.st_ino, about.st_size, about.st_mtime_ns) for about in found]


@contextmanager
def opened_read_only(path: Path) -> Iterator[ReadOnlyDatabase]:
    """Open the database read-only, including the content of its log."""
    with explained(path), closing(ReadOnlyDatabase(path)) as database:
        yield database


# -- Whether a database can be written in its folder, where SQLite writes a log and an index next to the file.


_BESIDE = ("-wal", "-shm")


def why_unwritable(path: Path) -> str | None:
    """Return why SQLite can't write a database; None if it can, or if there is no such file."""
    # The log is next to the file itself, not next to a link to the file.
    file = Path(os.path.realpath(path))
    if not file.is_file():
        return None
    beside = [file.with_name(f"{file.name}{end}") for end in _BESIDE]
    refused = [
        place for place in (file, *(one if one.exists() else file.parent for one in beside)) if not _is_writable(place)
    ]
    if not refused:
        return None
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return "its disk is read-only"
    return f"you may not write {refused[0]}"


def _is_writable(place: Path) -> bool:
    wanted = os.W_OK | os.X_OK if place.is_dir() else os.W_OK
    return os.access(place, wanted, effective_ids=os.access in os.supports_effective_ids)


@contextmanager
def opened_untrusted(path: Path, tables: Collection[str]) -> Iterator[sqlite3.Connection]:
    """Open a connection that can only read these tables of a database; the file is not changed.

    Raises:
        StoreError: The file is not a workbench database, has another version, or is damaged.
    """
    if not path.is_file():
        what = "it is not a file" if path.exists() else "there is no such file"
        raise StoreError(f"{path}: {what}.", "Name a workbench database, such as a returned bundle.")
    require_input(path)
    with opening(path):
        require_plain_logs(path)
    with opened_read_only(path) as database:
        connection = database.reader()
        connection.execute("PRAGMA cell_size_check = ON")
        migrations.require_current(connection, path, f"Bring it up to date first: {Command(f'status {path}')}")
        connection.set_authorizer(_authorizer(tables))
        yield connection


def _authorizer(tables: Collection[str]) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    def authorize(action: int, first: str | None, second: str | None, _database: str | None, _in: str | None) -> int:
        allowed = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_FUNCTION and second == "substr")
            or (action == sqlite3.SQLITE_READ and first in tables)
        )
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorize


def readable(raw: Any) -> str | None:
    """Return a value of an untrusted database as text; bytes that are not UTF-8 become lone surrogates."""
    return None if raw is None else bytes(raw).decode("utf-8", "surrogateescape")
