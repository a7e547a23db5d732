"""Turns SQLite's errors into messages that say what to do."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.core.errors import Cause, Command, StoreError

_SAFE = "What was saved before is safe."
_ACCESS = (
    "Check that you may read the file and the log next to it, and that you may write both and their folder. A file "
    "that can't be written can be copied with a backup."
)
_HINTS: dict[int, str] = {
    sqlite3.SQLITE_FULL: f"Make room on the disk, then try again. {_SAFE}",
    sqlite3.SQLITE_IOERR: f"Check the disk and its free space, then try again. {_SAFE}",
    sqlite3.SQLITE_BUSY: "Another process has kept it locked; try again.",
    sqlite3.SQLITE_READONLY: _ACCESS,
    sqlite3.SQLITE_CANTOPEN: _ACCESS,
    sqlite3.SQLITE_PERM: _ACCESS,
    sqlite3.SQLITE_NOTADB: "It is not a workbench database; name another file.",
}
_CAUSES: dict[int, Cause] = {
    sqlite3.SQLITE_FULL: "space",
    sqlite3.SQLITE_IOERR: "disk",
    sqlite3.SQLITE_BUSY: "busy",
    sqlite3.SQLITE_PROTOCOL: "busy",
    sqlite3.SQLITE_READONLY: "access",
    sqlite3.SQLITE_CANTOPEN: "access",
    sqlite3.SQLITE_PERM: "access",
}
_PRIMARY = 0xFF
_LITTLE = 2**20


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite errors in the block into StoreErrors; violated constraints are raised unchanged.

    Raises:
        StoreError: The disk is full, or the file is locked, damaged or read-only, ….
    """
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise
    except sqlite3.DatabaseError as error:
        cause = "space" if _is_out_of_inodes(error, path) else _CAUSES.get(_primary_code(error), "other")
        raise StoreError(f"{path}: {error}.", _hint(error, path), cause) from error
    except UnicodeDecodeError as error:
        # The message may be unreadable, because SQLite quotes damaged parts of a schema in it.
        raise StoreError(f"{path}: the file is damaged.", _damaged_hint(path)) from error


def roll_back(connection: sqlite3.Connection) -> None:
    """Roll back a failed transaction, unless SQLite has done so already, as it does when the disk is full."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def go_back(path: Path) -> str:
    return f"Go back to a backup: {Command(f'restore {shlex.quote(str(path))} BACKUP')}"


def _damaged_hint(path: Path) -> str:
    return f"The doctor says what is lost. {go_back(path)} (or write out what can be read: {Command('rescue DB OUT')})"


def _is_out_of_inodes(error: sqlite3.Error, path: Path) -> bool:
    if _primary_code(error) != sqlite3.SQLITE_CANTOPEN:
        return False
    with suppress(OSError):
        disk = os.statvfs(path.parent)
        # Some file systems don't count free space.
        return disk.f_files > 0 and disk.f_favail == 0
    return False


def _hint(error: sqlite3.Error, path: Path) -> str:
    code = _primary_code(error)
    if _is_out_of_inodes(error, path):
        return f"The disk has no room for another file: remove some, then try again. {_SAFE}"
    if code == sqlite3.SQLITE_CORRUPT:
        return _damaged_hint(path)
    if code == sqlite3.SQLITE_FULL and (temporary := _full_temporary_folder(path)):
        return f"Make room in {temporary}, or set SQLITE_TMPDIR to another folder, then try again. {_SAFE}"
    return _HINTS.get(code, "")


def _full_temporary_folder(path: Path) -> str | None:
    folder = os.environ.get("SQLITE_TMPDIR") or tempfile.gettempdir()
    with suppress(OSError):
        if shutil.disk_usage(folder).free < _LITTLE < shutil.disk_usage(path.parent).free:
            return folder
    return None


def _primary_code(error: sqlite3.Error) -> int:
    # An extended code's low byte is its primary code.
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY
