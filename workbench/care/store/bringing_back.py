"""A copy of a backup becomes a database of its own: whole, checked, of this program's version."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

from workbench.core.database import generation, migrations
from workbench.core.database.backup import check
from workbench.core.database.failures import explained
from workbench.core.database.interrupting import interruptibly
from workbench.core.errors import StoreError
from workbench.core.progress import step
from workbench.interchange.store.archive_tables import PARTS
from workbench.interchange.store.archiving import count

_MAGIC = b"SQLite format 3\0"
_DAMAGED = "Take an older backup, or write out what can be read of it: workbench rescue {} OUT"


def is_database(path: Path) -> bool:
    """Whether a file begins as SQLite's do; one of no bytes has been a database sooner than an archive."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) in (_MAGIC, b"")
    except OSError:
        return False


def bring_back(copy: Path, source: Path) -> int:
    """Check a copy of a backup, take in its own log, and bring it up to date; nobody else has it open.

    Args:
        source: What it is a copy of, for messages.

    Returns:
        The version of the tables that it had.

    Raises:
        SchemaError: Its tables, views or triggers are not as this program makes them.
        StoreError: It is no workbench database, is damaged, or was written by a newer version.
    """
    with explained(source):
        with closing(sqlite3.connect(copy, isolation_level=None, check_same_thread=False)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
            version = migrations.checked_version(connection, source)
            migrations.require_ours(connection, source, version)
            _require_whole(connection, source)
        try:
            migrations.bring_up_to_date(copy, keep_copy=False)
        except StoreError as error:
            raise StoreError(error.message.replace(str(copy), str(source)), error.hint) from error
        generation.name_anew(copy)
        check(copy)
    return version


def row_counts(path: Path) -> dict[str, int]:
    """How many rows a whole database has, by what would be the members of an archive."""
    with closing(sqlite3.connect(path)) as connection:
        return {part.name: count(connection, part.table, part.rows or "1") for part in PARTS}


def _require_whole(connection: sqlite3.Connection, source: Path) -> None:
    with step("checking the backup"):
        try:
            found: str = interruptibly(
                lambda: connection.execute("PRAGMA integrity_check(1)").fetchone()[0], connection.interrupt
            )
            dangling = connection.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.DatabaseError as error:
            found, dangling = str(error), None
    if found != "ok":
        raise StoreError(f"{source} is damaged: {found}.", _DAMAGED.format(shlex.quote(str(source))))
    if dangling is not None:
        raise StoreError(
            f"{source} is damaged: a row of {dangling[0]} refers to nothing.", _DAMAGED.format(shlex.quote(str(source)))
        )
