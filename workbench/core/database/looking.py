"""Read-only access to a database that writes neither to its file, nor to its log, nor to its folder."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NoReturn

from workbench.core.database import migrations
from workbench.core.database.connection import Database, opening, require_usable
from workbench.core.database.failures import explained
from workbench.core.database.place import LOGS, Place, processes_using
from workbench.core.errors import Command, StoreError
from workbench.core.files import temporary_folder

_CACHE_KIB = 64 * 1024
_FileState = list[tuple[int, int, int] | None]
_Source = tuple[str, _FileState | None]
"""The address that SQLite opens, and the state of the file and its logs at that time; None if SQLite's locks keep
writers out."""


class ReadOnlyDatabase(Database):
    """A database opened read-only; it may have any version and be damaged. Writing raises an error.

    Args:
        folder: Where to make a copy if one is needed; None for the system's folder for temporary files.
        why: Why it can't be written; the words follow "can be read here, but not written: ".

    Raises (on creation):
        StoreError: There is no room for the copy that is needed to read the database's log without writing.
    """

    def __init__(self, path: Path, folder: Path | None = None, why: str = "it is only looked at") -> None:
        self._prepare(path)
        self._why = why
        self._held = ExitStack()
        try:
            self._address, self._stood = _open_source(Path(os.path.realpath(path)), folder, self._held)
        except BaseException:
            self._held.close()
            raise
        self._place = Place(path)

    def require_place(self) -> None:
        """Check that nothing has been written since the database was opened, unless a lock prevents writes.

        Raises:
            StoreError: The database was written.
        """
        if self._stood is None:
            super().require_place()
        elif _file_state(Path(os.path.realpath(self.path))) != self._stood:
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

    def close(self) -> None:
        super().close()
        self._held.close()

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


def _file_state(path: Path) -> _FileState:
    found: _FileState = []
    for end in ("", *LOGS):
        place = path.with_name(path.name + end)
        if place.exists():
            about = place.stat()
            found.append((about.st_ino, about.st_size, about.st_mtime_ns))
        else:
            found.append(None)
    return found


@contextmanager
def opened_read_only(path: Path, folder: Path | None = None) -> Iterator[ReadOnlyDatabase]:
    """Open the database read-only, including the content of its log.

    Args:
        folder: See `ReadOnlyDatabase`.

    Raises:
        StoreError: See `ReadOnlyDatabase`.
    """
    with explained(path), closing(ReadOnlyDatabase(path, folder)) as database:
        yield database


def _open_source(path: Path, folder: Path | None, held: ExitStack) -> _Source:
    stood = _file_state(path)
    log, journal = (path.with_name(path.name + end) for end in LOGS)
    index = path.with_name(f"{path.name}-shm")
    if index.exists() and log.exists() and not journal.exists():
        locked = f"{path.as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(locked, uri=True)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
            return locked, None
        except sqlite3.OperationalError:
            if os.getpid() in processes_using(path):
                # Copying would open and close the file, which would release this process's locks on it.
                raise
        except sqlite3.DatabaseError:
            return locked, None
    if not any(file.exists() and file.stat().st_size for file in (log, journal)):
        return f"{path.as_uri()}?mode=ro&immutable=1", stood
    try:
        place = held.enter_context(temporary_folder("look")) if folder is None else folder
        for end in ("", *LOGS):
            if path.with_name(path.name + end).exists():
                shutil.copyfile(path.with_name(path.name + end), place / f"copy{end}")
    except OSError as error:
        raise StoreError(
            f"{path}: its log can only be read from a copy in {folder or 'the folder for temporary files'}: "
            f"{error.strerror}.",
            "Make room there, or name another folder in TMPDIR.",
        ) from error
    return f"{(place / 'copy').as_uri()}?mode=rw", stood


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
