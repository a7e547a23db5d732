"""Looking at a database without leaving a trace: neither its file, nor its log, nor its folder is written."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from workbench.beside.parts import temporary_folder
from workbench.errors import StoreError
from workbench.store import logs
from workbench.store.connection import Database
from workbench.store.failures import explained
from workbench.store.place import Place

_BESIDE = ("-wal", "-journal")
_CACHE_KIB = 64 * 1024


class LookedAt(Database):
    """A database that is read as it stands, of whatever version and however hurt; it refuses to be written.

    Args:
        address: What SQLite opens.
    """

    def __init__(self, path: Path, address: str) -> None:
        self._address = address
        self._prepare(path)
        self._place = Place(path)
        self._stands = _standing(path)

    def require_place(self) -> None:
        """Make sure that nobody has written since it was opened: no lock keeps others out.

        Raises:
            StoreError: Somebody has.
        """
        if _standing(self.path) != self._stands:
            raise StoreError(f"{self.path}: somebody has written to it meanwhile.", "Try again.")

    def open(self) -> sqlite3.Connection:
        """Another connection, to copy it with; the caller closes it."""
        connection = sqlite3.connect(self._address, uri=True, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    def _connection(self, kind: str) -> sqlite3.Connection:
        held: dict[str, sqlite3.Connection] | None = getattr(self._threads, "connections", None)
        if held is None:
            held = self._threads.connections = {}
        if kind not in held:
            connection = held[kind] = connect(self._address)
            with self._lock:
                self._opened.append((connection, threading.current_thread()))
                self._readers.append(connection)
        return held[kind]


def _standing(path: Path) -> list[tuple[int, int] | None]:
    """How large the file and its logs are, and when they were last written."""
    found: list[tuple[int, int] | None] = []
    for end in ("", *_BESIDE):
        place = path.with_name(path.name + end)
        found.append((place.stat().st_size, place.stat().st_mtime_ns) if place.exists() else None)
    return found


def connect(address: str) -> sqlite3.Connection:
    """A connection that runs nothing of what somebody may have put into the schema."""
    connection = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
    # Bytes that are no UTF-8 come out as lone surrogates: no text that was stored has any.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    for pragma in ("trusted_schema = OFF", "query_only = ON", f"cache_size = -{_CACHE_KIB}"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


@contextmanager
def looked_at(path: Path, folder: Path | None = None) -> Iterator[LookedAt]:
    """The database, with what its log holds.

    Args:
        folder: Where a copy may be made; else in the system's folder for temporary files.

    Raises:
        StoreError: There is no room for a copy, where only a copy's log can be read without writing beside it.
    """
    place = temporary_folder("look") if folder is None else nullcontext(folder)
    with place as found, explained(path):
        database = LookedAt(path, _address(path, found))
        try:
            yield database
        finally:
            database.close()


def _address(path: Path, folder: Path) -> str:
    beside = [path.with_name(path.name + end) for end in _BESIDE]
    if not any(file.exists() and file.stat().st_size for file in beside) or logs.foreign_log(path) is not None:
        return f"{path.absolute().as_uri()}?immutable=1"
    index = path.with_name(path.name + "-shm")
    if index.exists() and not beside[1].exists():
        address = f"{path.absolute().as_uri()}?mode=ro"
        try:
            connection = sqlite3.connect(address, uri=True)
            connection.execute("SELECT count(*) FROM sqlite_master")
            connection.close()
            return address
        except sqlite3.OperationalError:
            pass
        except sqlite3.DatabaseError:
            return address
    try:
        for end in ("", *_BESIDE):
            if path.with_name(path.name + end).exists():
                shutil.copyfile(path.with_name(path.name + end), folder / f"copy{end}")
    except OSError as error:
        raise StoreError(
            f"{path}: its log can only be read from a copy in {folder.parent}: {error.strerror}.",
            "Make room there, or name another folder in TMPDIR.",
        ) from error
    return f"{(folder / 'copy').as_uri()}?mode=rw"
