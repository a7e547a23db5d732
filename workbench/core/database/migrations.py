"""A database's schema version: creates databases, checks their version, and migrates older ones to the newest version.

The version is in ``PRAGMA user_version``. A database from a newer program, or from before the first release, is
rejected unchanged; any other older one is backed up, then migrated in one transaction.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from workbench.core.database import journal, schema
from workbench.core.database.place import LOGS, require_bytes
from workbench.core.database.schema import SchemaPart, quoted
from workbench.core.errors import Command, SchemaError, StoreError
from workbench.core.files import part_folder, remove_leftovers

Connection = sqlite3.Connection
OLDEST: Final = 16
"""The oldest version that is read; those before it were never released."""
FILLS: Final[tuple[tuple[Callable[[Connection], object], ...], ...]] = ((), (), (), ())
"""For each later version the functions that fill its new columns and tables; they run without triggers and views."""
DROPPED: Final[dict[str, tuple[str, ...]]] = {
    "runner": (),
    "verdict_cache": (),
    "event_seals": (),
    "generation": (),
    "training_alarms": (),
    "audited": (),
    "training_steps": (),
    "trainings": (),
    "bundles": ("sealed",),
    "bundle_pass": ("items", "seal", "key"),
}
"""Columns of older versions, by table; a table without any is of older versions itself."""
APPLICATION_ID: Final = 0x57424E43
"""Marks a file as a workbench database (``PRAGMA application_id``)."""
_MAX_SHOWN: Final = 3
"""Most differences named in a message."""


def latest_version() -> int:
    return OLDEST + len(FILLS)


# -- The template of an empty database, made once per process; a new database is a copy of it.


class SchemaTemplate(NamedTuple):
    content: bytes

    def in_memory(self) -> Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(self.content)
        return connection


def make(path: Path) -> None:
    """Create an empty database, with new random values; the file must not exist yet."""
    with closing(template().in_memory()) as made:
        made.execute("BEGIN IMMEDIATE")
        _draw(made)
        made.execute("COMMIT")
        address = f"{path.absolute().as_uri()}?mode=rwc"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as file:
            made.backup(file)
            file.execute("PRAGMA journal_mode = WAL")


def _draw(connection: Connection) -> None:
    connection.execute("INSERT INTO secrets (id, secret) VALUES (1, randomblob(32))")
    connection.execute(f"INSERT INTO changes (run_id, first_id, last_id) VALUES (NULL, 0, {2**63 - 1})")


def template() -> SchemaTemplate:
    return _template(schema.parts(), latest_version())


@lru_cache(maxsize=8)
def _template(parts: tuple[SchemaPart, ...], version: int) -> SchemaTemplate:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for part in parts:
            connection.execute(part.sql)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("COMMIT")
        return SchemaTemplate(connection.serialize())


# -- Opening: created if missing, checked, and upgraded.


def bring_up_to_date(path: Path, *, keep_copy: bool = True) -> int:
    """Create, check or migrate the database at ``path``.

    Args:
        keep_copy: Copy an older database before it is migrated.

    Returns:
        SQLite's schema counter at the time when the schema was checked.

    Raises:
        SchemaError: Its tables, views or triggers are not the program's.
        StoreError: It is not a workbench database, newer than this program, older than any release, or a migration
            failed (the file is unchanged then).
    """
    if not path.exists():
        _create_complete(Path(os.path.realpath(path)))
    require_bytes(path)
    connection = _open_plain(path)
    try:
        connection.execute("BEGIN DEFERRED")
        version = checked_version(connection, path)
        if version == latest_version():
            require_ours(connection, path)
        counter = changes_to_schema(connection)
        connection.execute("COMMIT")
        if version == latest_version():
            return counter
        if keep_copy:
            _keep_copy(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        _migrate(connection, path)
        return changes_to_schema(connection)
    finally:
        connection.close()


def _create_complete(path: Path) -> None:
    for end in LOGS:
        if (log := path.with_name(path.name + end)).exists() and log.stat().st_size:
            raise StoreError(
                f"{path} is missing, but its log {log.name} exists: the file was moved or deleted.",
                "Put it back. For a new database choose another name, or move the log away; it may contain labels.",
            )
    if (labels := journal.path_of(path)).exists():
        raise StoreError(
            f"{path} is missing, but its journal of labels {labels.name} exists: the file was moved or deleted.",
            f"To rebuild the labels: {Command(f'rescue {shlex.quote(str(path))} NEW.db')}. For a new database choose "
            "another name, or move the journal away.",
        )
    with part_folder(path) as part:
        make(part / path.name)
        if [found.name for found in part.iterdir()] != [path.name]:
            # Full disk: the content is still in the log, which is not renamed with the file.
            raise StoreError(f"{path}: the disk is full.", "Make room on it, then try again.", "space")
        give_name(part / path.name, path)


def give_name(temporary: Path, path: Path) -> bool:
    """Move a finished file to its path unless there is a file; return whether it was moved."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # On file systems without hard links, the later of two simultaneous calls replaces the file.
        if os.path.lexists(path):
            return False
        temporary.rename(path)
    return True


def detach_copy(path: Path) -> None:
    """Leave a closed copy as one file without a log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as copy:
        copy.execute("PRAGMA journal_mode = DELETE")


def changes_to_schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA main.schema_version").fetchone()[0])


def require_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Check that a database's tables, indexes, views and triggers are the program's, with no other triggers or
    indexes on them.

    Raises:
        SchemaError: The schema differs.
    """
    wrong = [difference.what for difference in schema.differences(connection) if not difference.harmless]
    if wrong:
        more = f", and {len(wrong) - _MAX_SHOWN} more" if len(wrong) > _MAX_SHOWN else ""
        raise SchemaError(
            f"{path}: it was changed by another program: {'; '.join(wrong[:_MAX_SHOWN])}{more}.",
            f"Nothing was read or written. To see each with its text: {Command(f'doctor {shlex.quote(str(path))}')}",
        )


def _dangling_reference(connection: Connection) -> tuple[str, str] | None:
    for table in (part.name for part in schema.parts() if part.kind == "table"):
        row = connection.execute(f"PRAGMA foreign_key_check({table})").fetchone()
        if row is not None:
            return table, row[2]
    return None


def _open_plain(path: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=10)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a database's tables.

    Raises:
        StoreError: It is not a workbench database, newer than this program, or older than any release.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file, but not a workbench database.", "Name another file.")
    require_known(str(path), version)
    return version


def require_current(connection: Connection, path: Path, hint: str) -> None:
    """Check that a database has the newest version and the program's schema.

    Raises:
        SchemaError: Its tables, views or triggers are not the program's.
        StoreError: It is not a workbench database, or has another version.
    """
    version = checked_version(connection, path)
    if version != latest_version():
        raise StoreError(f"{path} has schema version {version} and can't be migrated, because it is read-only.", hint)
    require_ours(connection, path)


def require_known(name: str, version: int) -> None:
    """Check that a file's version is supported.

    Raises:
        StoreError: It is newer than this program, or older than any release.
    """
    if version > latest_version():
        raise StoreError(
            f"{name} has schema version {version}; this program knows up to {latest_version()}.",
            "It was written by a newer workbench: install that one.",
        )
    if version < OLDEST:
        raise StoreError(
            f"{name} has schema version {version}; this program needs {OLDEST} or newer.",
            f"Versions before {OLDEST} were never released: the workbench that wrote it can export what is in it.",
        )


def _keep_copy(connection: sqlite3.Connection, path: Path) -> None:
    copy = path.with_name(f"{path.name}.before-version-{latest_version()}")
    if copy.exists():
        # A migration killed just after renaming has left the folder in which the file was created.
        remove_leftovers(copy.parent)
        return
    with part_folder(copy) as part:
        connection.execute("VACUUM INTO ?", (str(part / copy.name),))
        detach_copy(part / copy.name)
        give_name(part / copy.name, copy)


# -- Migrating: tables that differ are made anew, with their rows; triggers and views are made anew in any case.


def _migrate(connection: Connection, path: Path) -> None:
    """Upgrade an older database in one transaction.

    Raises:
        SchemaError: The migrated schema is not the program's.
        StoreError: After the migration a row refers to a missing row.
    """
    # Foreign keys are checked before it is committed.
    connection.execute("PRAGMA foreign_keys = OFF")
    # With this setting, views of other programs continue to refer to the table's name.
    connection.execute("PRAGMA legacy_alter_table = ON")
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        older: int = connection.execute("PRAGMA user_version").fetchone()[0]
        _recreate_schema(connection, older)
        connection.execute(f"PRAGMA user_version = {latest_version()}")
        if (found := _dangling_reference(connection)) is not None:
            raise StoreError(
                f"{path}: a row of {found[0]} refers to one of {found[1]} that is missing.",
                f"Nothing was changed. What else is wrong: {Command(f'doctor {shlex.quote(str(path))}')}",
            )
        require_ours(connection, path)


def _recreate_schema(connection: Connection, older: int) -> None:
    parts = schema.parts()
    # Triggers are dropped first, so that they don't act on moved rows.
    for part in parts:
        if part.kind in ("trigger", "view"):
            connection.execute(f"DROP {part.kind} IF EXISTS {part.name}")
    for table, columns in DROPPED.items():
        if not columns:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    stored = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    for part in parts:
        if part.name in stored and stored[part.name].split() != part.sql.split():
            _recreate_table(connection, part)
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    for part in parts:
        if part.kind in ("table", "index") and part.name not in there:
            connection.execute(part.sql)
    for fills in FILLS[older - OLDEST :]:
        for fill in fills:
            fill(connection)
    for part in parts:
        if part.kind in ("trigger", "view"):
            connection.execute(part.sql)


def _recreate_table(connection: Connection, part: SchemaPart) -> None:
    table, old = part.name, f"old_{part.name}"
    asked = "SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND type = 'index' AND sql IS NOT NULL"
    indexes = connection.execute(asked, (table,)).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {quoted(name)}")
    connection.execute(f"ALTER TABLE {table} RENAME TO {old}")
    connection.execute(part.sql)
    there = [row[1] for row in connection.execute(f"PRAGMA table_info({old})")]
    columns = ", ".join(name for name in there if name not in DROPPED.get(table, ()))
    # The order of rows is preserved, because it is the order in which events arrived.
    order = "" if part.sql.endswith("WITHOUT ROWID") else " ORDER BY rowid"
    connection.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {old}{order}")
    connection.execute(f"DROP TABLE {old}")
    for _, sql in indexes:
        connection.execute(sql)
