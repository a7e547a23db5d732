"""A checked copy: VACUUM INTO a temporary name, integrity check, rename."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from workbench.errors import StoreError
from workbench.store.connection import Database, open_connection


def backup(database: Database, target: Path, *, force: bool = False) -> int:
    """Write a whole copy of the database; returns its size in bytes. The copy appears checked or not at all.

    Raises:
        StoreError: The target exists and ``force`` is not set, can't be written, or the copy fails its check.
    """
    database.require_other(target)
    if target.exists() and not force:
        raise StoreError(f"{target} exists.", "Use --force to replace it.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        _copy(database.path, temporary)
        check(temporary)
        put_in_place(temporary, target)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{target}: {error}.", "The database itself is untouched.") from error
    finally:
        temporary.unlink(missing_ok=True)
    return target.stat().st_size


def put_in_place(temporary: Path, target: Path) -> None:
    """Give a finished database its name."""
    # The log of a database that stood here and was not closed would be replayed over the new one.
    for suffix in ("-wal", "-shm"):
        target.with_name(target.name + suffix).unlink(missing_ok=True)
    temporary.replace(target)


def _copy(source: Path, target: Path) -> None:
    connection = open_connection(source)
    try:
        connection.execute("VACUUM INTO ?", (str(target.absolute()),))
    finally:
        connection.close()


def check(path: Path) -> None:
    """See that a database that nobody has open is sound, and that the disk has it.

    Raises:
        StoreError: It is damaged.
    """
    copy = sqlite3.connect(path)
    try:
        result: str = copy.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        copy.close()
    if result != "ok":
        raise StoreError(f"The copy is damaged: {result}.", "Run workbench doctor on the database.")
    with path.open("rb") as file:
        os.fsync(file.fileno())
