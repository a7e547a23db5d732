"""A checked copy: VACUUM INTO a temporary name, integrity check, rename."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from workbench.core.database import generation
from workbench.core.database.comparing_copies import require_no_less
from workbench.core.database.connection import Database
from workbench.core.database.interrupting import interruptibly
from workbench.core.database.replacing import put_in_place
from workbench.core.errors import StoreError
from workbench.core.files import part_folder
from workbench.core.progress import BYTES, step


def backup(database: Database, target: Path, *, force: bool = False, discard: bool = False) -> int:
    """Write a whole copy of the database; returns its size in bytes. The copy appears checked or not at all.

    Args:
        force: Replace what stands there, unless it is a good copy with more in it, or of another project.
        discard: Replace that, too.

    Raises:
        StoreError: The target exists and may not be replaced, can't be written, or the copy fails its check.
    """
    database.require_other(target)
    if target.exists() and not force:
        raise StoreError(f"{target} exists.", "Use --force to replace it.")
    try:
        with part_folder(target) as part:
            copy = part / target.name
            _copy(database, copy)
            database.require_place()
            generation.name_anew(copy)
            check(copy)
            if target.exists() and not discard:
                require_no_less(copy, target)
            put_in_place(copy, target, keep=False)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{target}: {getattr(error, 'strerror', None) or error}.", "The database itself is untouched."
        ) from error
    return target.stat().st_size


def _copy(database: Database, target: Path) -> None:
    copied = 0
    with closing(database.open()) as connection, step("copying", database.path.stat().st_size, BYTES) as advance:

        def look() -> None:
            nonlocal copied
            if target.exists() and (size := target.stat().st_size) > copied:
                advance(size - copied)
                copied = size

        interruptibly(
            lambda: connection.execute("VACUUM INTO ?", (str(target.absolute()),)), connection.interrupt, look
        )


def check(path: Path) -> None:
    """See that a database that nobody has open is sound, and that the disk has it.

    Raises:
        StoreError: It is damaged.
    """
    with closing(sqlite3.connect(path, check_same_thread=False)) as copy, step("checking the copy"):
        result: str = interruptibly(lambda: copy.execute("PRAGMA integrity_check").fetchone()[0], copy.interrupt)
    if result != "ok":
        raise StoreError(f"The copy is damaged: {result}.", "Run workbench doctor on the database.")
    with path.open("rb") as file:
        os.fsync(file.fileno())
