"""Numbered migrations and the version a database carries.

The version stands in ``PRAGMA user_version``; the names of applied migrations in sqlite-utils' own table. A
database written by a newer program is refused untouched; an older one is backed up, then migrated, in one
transaction.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.beside.parts import part_folder
from workbench.errors import StoreError
from workbench.store import (
    generation,
    logs,
    schema,
    schema_amended,
    schema_analysis,
    schema_calls,
    schema_code,
    schema_guarded,
    schema_labelling,
    schema_replies,
    schema_sets,
)
from workbench.store.failures import go_back, roll_back
from workbench.store.unlocked import OPENING

APPLICATION_ID = 0x57424E43
"""Marks a file as a workbench database (``PRAGMA application_id``)."""


def _m001_initial(db: Any) -> None:
    for statement in schema.VERSION_1:
        db.execute(statement)


def _m002_rules_and_cache(db: Any) -> None:
    for statement in schema.VERSION_2:
        db.execute(statement)


def _m003_model_calls(db: Any) -> None:
    for statement in schema_calls.VERSION_3:
        db.execute(statement)


def _m004_labelling(db: Any) -> None:
    _make_anew(db, schema_labelling.REBUILT, schema_labelling.VERSION_4)


def _m005_analysis(db: Any) -> None:
    for statement in schema_analysis.VERSION_5:
        db.execute(statement)
    db.execute(schema_analysis.LENGTHS)


def _m006_code(db: Any) -> None:
    for statement in schema_code.VERSION_6:
        db.execute(statement)


def _m007_sets(db: Any) -> None:
    for statement in schema_sets.VERSION_7:
        db.execute(statement)


def _m008_amended(db: Any) -> None:
    for view in schema_amended.VIEWS_MADE_AGAIN:
        db.execute(f"DROP VIEW {view}")
    _make_anew(db, schema_amended.REBUILT, schema_amended.VERSION_8)
    for statement in schema_replies.VERSION_8:
        db.execute(statement)
    schema_replies.give_to_servers(db)


def _m009_guarded(db: Any) -> None:
    for statement in schema_guarded.VERSION_9:
        db.execute(statement)


def _make_anew(db: Any, tables: tuple[str, ...], statements: tuple[str, ...]) -> None:
    """Run statements that make these tables anew among others, and carry their rows over."""
    for table in tables:
        _set_aside(db, table)
    for statement in statements:
        db.execute(statement)
    for table in tables:
        columns = ", ".join(row[1] for row in db.execute(f"PRAGMA table_info(old_{table})").fetchall())
        # The old order of rows is kept: it is the order in which events arrived.
        key = "id" if table != "task_states" else "task, subject"
        db.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM old_{table} ORDER BY {key}")
        db.execute(f"DROP TABLE old_{table}")


def _set_aside(db: Any, table: str) -> None:
    """Rename a table that is made anew, and free the names of its indexes and triggers."""
    parts = db.execute(
        "SELECT type, name FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
        (table,),
    ).fetchall()
    for kind, name in parts:
        db.execute(f"DROP {kind} {name}")
    db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")


MIGRATIONS: list[Callable[[Any], None]] = [
    _m001_initial,
    _m002_rules_and_cache,
    _m003_model_calls,
    _m004_labelling,
    _m005_analysis,
    _m006_code,
    _m007_sets,
    _m008_amended,
    _m009_guarded,
]
"""In order; the position (from 1) is the schema version the migration leads to."""


def latest_version() -> int:
    """The schema version this program writes."""
    return len(MIGRATIONS)


def make(path: Path, version: int) -> None:
    """Create an empty database with the tables of a version, to be filled with rows of that version."""
    connection = _open_plain(path, "rwc")
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        _apply(connection, path, version)
    finally:
        connection.close()


def in_memory(version: int, heard: Callable[[str], object] | None = None) -> sqlite3.Connection:
    """An empty database of a version that is in no file, to compare others with.

    Args:
        heard: Called with every statement that makes it.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.set_trace_callback(heard)
    _apply(connection, Path(":memory:"), version)
    connection.set_trace_callback(None)
    return connection


def bring_up_to_date(path: Path, *, keep_copy: bool = True) -> None:
    """Create, check or migrate the database at ``path``.

    Args:
        keep_copy: Copy an older one before it is migrated.

    Raises:
        StoreError: It is not ours, newer than this program, or a migration failed (the file is unchanged then).
    """
    if not path.exists():
        _make_whole(Path(os.path.realpath(path)))
    _require_bytes(path)
    logs.require_own(path)
    connection = _open_plain(path)
    try:
        version = checked_version(connection, path)
        if version == latest_version():
            return
        if keep_copy:
            _keep_copy(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        _apply(connection, path, latest_version())
    finally:
        connection.close()


def _make_whole(path: Path) -> None:
    """A new database has its name when it is whole, so that one that is not has been damaged."""
    for end in logs.ENDS:
        if (log := path.with_name(path.name + end)).exists() and log.stat().st_size:
            raise StoreError(
                f"{path} is not there, but its log {log.name} is: the file was moved or deleted.",
                "Put it back. For a new database take another name, or move the log away; it may hold labels.",
            )
    with OPENING, part_folder(path) as part:
        make(part / path.name, latest_version())
        give_name(part / path.name, path)


def give_name(temporary: Path, path: Path) -> bool:
    """Give a finished file its name unless something has it already; returns whether it has it now."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # There are file systems without links; there the last of two at the same moment has the name.
        if os.path.lexists(path):
            return False
        temporary.rename(path)
    return True


def _require_bytes(path: Path) -> None:
    if not path.stat().st_size:
        logged = any(path.with_name(path.name + end).exists() for end in logs.ENDS)
        raise StoreError(
            f"{path} has 0 bytes: it is no database any more, or never was one.",
            "Nothing was written; its log is kept. " * logged
            + f"{go_back(path)} For a new database remove the empty file first.",
        )


def _open_plain(path: Path, mode: str = "rw") -> sqlite3.Connection:
    with OPENING:
        address = f"{path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=10)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """The version of a database's tables.

    Raises:
        StoreError: It is not ours, or newer than this program.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID or version < 1:
        raise StoreError(f"{path} is an SQLite file, but not a workbench database.", "Name another file.")
    unknown = _unknown_names(connection) if version else set()
    if version > latest_version() or unknown:
        raise StoreError(
            f"{path} has schema version {version}; this program knows up to {latest_version()}.",
            "It was written by a newer workbench: install that one.",
        )
    return version


def _unknown_names(connection: sqlite3.Connection) -> set[str]:
    known = {migration.__name__ for migration in MIGRATIONS}
    rows = connection.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = 'workbench'")
    return {name for (name,) in rows} - known


def _keep_copy(connection: sqlite3.Connection, path: Path) -> None:
    copy = path.with_name(f"{path.name}.before-version-{latest_version()}")
    if not copy.exists():
        with part_folder(copy) as part:
            connection.execute("VACUUM INTO ?", (str(part / copy.name),))
            generation.name_anew(part / copy.name)
            give_name(part / copy.name, copy)


def _apply(connection: sqlite3.Connection, path: Path, version: int) -> None:
    from sqlite_utils import Database as Utils
    from sqlite_utils import Migrations

    numbered = Migrations("workbench")
    for migration in MIGRATIONS[:version]:
        numbered(name=migration.__name__)(migration)
    # Foreign keys may be rebuilt by a migration; they are checked before it is committed.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        numbered.apply(Utils(connection, recursive_triggers=False))
        # A migration that makes a table anew (sqlite-utils' transform) loses its triggers without a word.
        applied = MIGRATIONS[:version]
        kept = schema_labelling.TRIGGERS if _m004_labelling in applied else ()
        noted = schema_analysis.TRIGGERS if _m005_analysis in applied else ()
        frozen = schema_sets.TRIGGERS if _m007_sets in applied else ()
        for statement in (*kept, *noted, *frozen):
            connection.execute(statement.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise StoreError(f"{path}: a migration left a dangling reference.", "The file was not changed.")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
