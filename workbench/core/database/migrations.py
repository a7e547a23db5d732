"""Numbered migrations and the version a database carries.

The version stands in ``PRAGMA user_version``; the names of applied migrations in a table like sqlite-utils' own. A
database written by a newer program is refused untouched; an older one is backed up, then migrated, in one
transaction.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from workbench.core.database import generation, logs, schema, schema_added, schema_amended, schema_check
from workbench.core.database.failures import roll_back
from workbench.core.database.place import OPENING
from workbench.core.database.schema_check import NAMES, quoted
from workbench.core.errors import SchemaError, StoreError
from workbench.core.files import part_folder, sweep

# -- Databases without a row, each made once in a process: a new database begins as a copy of one.


Connection = sqlite3.Connection
_DRAWN: Final = {"secrets": schema_added.SECRET, "changes": schema_added.FIRST_CHANGE}
"""The row that a table begins with, beside the file's mark, which `generation` draws."""


class SchemaTemplate(NamedTuple):
    """One version's.

    Attributes:
        content: The whole file.
        statements: Those that made it, in order.
    """

    content: bytes
    statements: tuple[str, ...]

    def in_memory(self) -> Connection:
        """A copy that is in no file; the caller closes it."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(self.content)
        return connection

    def write(self, path: Path) -> None:
        """Make a database of it that shares no value with another, where no file is yet."""
        with closing(self.in_memory()) as made:
            made.execute("BEGIN IMMEDIATE")
            _draw(made)
            made.execute("COMMIT")
            with OPENING:
                file = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rwc", uri=True, isolation_level=None)
            with closing(file):
                made.backup(file)
                file.execute("PRAGMA journal_mode = WAL")


def built(make: Callable[[Connection], None]) -> SchemaTemplate:
    """A template of what is made of an empty database.

    Args:
        make: Makes it; what it puts into tables is left out.
    """
    statements: list[str] = []
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # Nothing of what is taken out is left in the file.
        connection.execute("PRAGMA secure_delete = ON")
        connection.set_trace_callback(statements.append)
        connection.execute("BEGIN IMMEDIATE")
        make(connection)
        connection.set_trace_callback(None)
        # Tables' triggers write the numbers that SQLite keeps.
        for table in sorted(_tables(connection) - {NAMES}, key=lambda name: name.startswith("sqlite_")):
            connection.execute(f"DELETE FROM {quoted(table)}")
        connection.execute(f"UPDATE {NAMES} SET applied_at = NULL")
        connection.execute("COMMIT")
        return SchemaTemplate(connection.serialize(), tuple(statements))


def _draw(connection: Connection) -> None:
    for table in _DRAWN.keys() & _tables(connection):
        connection.execute(_DRAWN[table])
    generation.draw(connection)
    connection.execute(f"UPDATE {NAMES} SET applied_at = ?", (applied_at(),))


def applied_at() -> str:
    """The present, as the table of applied migrations has it."""
    return str(datetime.now(UTC))


def _tables(connection: Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


Migration = Callable[[Any], None]
APPLICATION_ID = 0x57424E43
"""Marks a file as a workbench database (``PRAGMA application_id``)."""


def _m001_initial(db: Any) -> None:
    for statement in schema.VERSION_1:
        db.execute(statement)


def _m002_rules_and_cache(db: Any) -> None:
    for statement in schema.VERSION_2:
        db.execute(statement)


def _m003_model_calls(db: Any) -> None:
    for statement in schema_added.VERSION_3:
        db.execute(statement)


def _m004_labelling(db: Any) -> None:
    _make_anew(db, schema_added.REBUILT, schema_added.VERSION_4)


def _m005_analysis(db: Any) -> None:
    for statement in schema_added.VERSION_5:
        db.execute(statement)
    db.execute(schema_added.LENGTHS)


def _m006_code(db: Any) -> None:
    for statement in schema_amended.VERSION_6:
        db.execute(statement)


def _m007_sets(db: Any) -> None:
    for statement in schema_amended.VERSION_7:
        db.execute(statement)


def _m008_amended(db: Any) -> None:
    for view in schema_amended.VIEWS_MADE_AGAIN:
        db.execute(f"DROP VIEW {view}")
    _make_anew(db, schema_amended.REBUILT, schema_amended.VERSION_8)
    for statement in schema_amended.REPLIES_VERSION_8:
        db.execute(statement)
    schema_amended.give_to_servers(db)


def _m009_guarded(db: Any) -> None:
    for statement in schema_amended.VERSION_9:
        db.execute(statement)


def _m010_digests(db: Any) -> None:
    for statement in schema_amended.VERSION_10:
        db.execute(statement)
    schema_amended.give_digests(db)


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


_TABLE_OF_NAMES = (
    f"""CREATE TABLE IF NOT EXISTS "{schema_check.NAMES}" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
)""",
    f"""CREATE UNIQUE INDEX IF NOT EXISTS "idx_{schema_check.NAMES}_migration_set_name"
    ON "{schema_check.NAMES}" ("migration_set", "name")""",
)
"""In sqlite-utils' words: it takes it for its own."""
_SHOWN = 3
"""Differences that a message names."""
MIGRATIONS: list[Migration] = [
    _m001_initial,
    _m002_rules_and_cache,
    _m003_model_calls,
    _m004_labelling,
    _m005_analysis,
    _m006_code,
    _m007_sets,
    _m008_amended,
    _m009_guarded,
    _m010_digests,
]
"""In order; the position (from 1) is the schema version the migration leads to."""


def latest_version() -> int:
    """The schema version this program writes."""
    return len(MIGRATIONS)


def make(path: Path, version: int) -> None:
    """Create an empty database with the tables of a version, to be filled with rows of that version."""
    template(version).write(path)


def template(version: int) -> SchemaTemplate:
    """An empty database of a version, in no file."""
    return _template(tuple(MIGRATIONS[:version]))


@lru_cache(maxsize=16)
def _template(steps: tuple[Migration, ...]) -> SchemaTemplate:
    return built(lambda connection: _run(connection, steps))


def bring_up_to_date(path: Path, *, keep_copy: bool = True, unchecked: bool = False) -> int:
    """Create, check or migrate the database at ``path``.

    Args:
        keep_copy: Copy an older one before it is migrated.
        unchecked: Leave one of this version as it is, whatever is in it.

    Returns:
        SQLite's own counter of changes to the schema that was found to be ours.

    Raises:
        SchemaError: Its tables, views or triggers are not as this program makes them.
        StoreError: It is not ours, newer than this program, or a migration failed (the file is unchanged then).
    """
    if not path.exists():
        _make_whole(Path(os.path.realpath(path)))
    logs.require_bytes(path)
    logs.require_own(path)
    connection = _open_plain(path)
    try:
        connection.execute("BEGIN DEFERRED")
        version = checked_version(connection, path)
        if not (unchecked and version == latest_version()):
            require_ours(connection, path, version)
        counter = changes_to_schema(connection)
        connection.execute("COMMIT")
        if version == latest_version():
            return counter
        if keep_copy:
            _keep_copy(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        migrate(connection, path, latest_version())
        return changes_to_schema(connection)
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
        if [found.name for found in part.iterdir()] != [path.name]:
            # A full disk: what was made stands in the log still, which does not go along.
            raise StoreError(f"{path}: the disk is full.", "Make room on it, then try again.", "space")
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


def changes_to_schema(connection: sqlite3.Connection) -> int:
    """SQLite's own counter of them, which it keeps in the file."""
    row: tuple[int] = connection.execute("PRAGMA main.schema_version").fetchone()
    return row[0]


def require_ours(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """See that a database's tables, indexes, views and triggers are those of a version, and no others act on them.

    Raises:
        SchemaError: They are not.
    """
    wrong = [difference.what for difference in differences(connection, version) if not difference.harmless]
    if wrong:
        more = f", and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise SchemaError(
            f"{path}: somebody has changed it: {'; '.join(wrong[:_SHOWN])}{more}.",
            f"Nothing was read or written. To see each with its text: workbench doctor {shlex.quote(str(path))}",
        )


def differences(connection: sqlite3.Connection, version: int) -> list[schema_check.Difference]:
    """What of a schema is not as this program makes that version, what matters first."""
    found = schema_check.differences(connection, version, lambda: made(version))
    applied = {step.__name__ for step in MIGRATIONS[:version]}
    if _names(connection) != applied:
        what = f"{schema_check.NAMES} names other migrations than those of version {version}"
        found.insert(0, schema_check.Difference("table", schema_check.NAMES, what))
    return found


def made(version: int) -> Sequence[schema_check.Stored]:
    """What this program makes in a database of a version, beside the table of applied migrations."""
    with closing(template(version).in_memory()) as connection:
        return [row for row in schema_check.read(connection) if row.table != schema_check.NAMES]


class _Plain:
    """What migrations use of sqlite-utils' database, which is slow to import."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.conn = connection
        self.execute = connection.execute

    def __getitem__(self, table: str) -> Any:
        from sqlite_utils import Database

        return Database(self.conn)[table]


def _open_plain(path: Path) -> sqlite3.Connection:
    with OPENING:
        address = f"{path.absolute().as_uri()}?mode=rw"
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
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite file, but not a workbench database.", "Name another file.")
    if version < 1:
        raise SchemaError(
            f"{path}: somebody has changed it: it says that it is of version {version}.", "Go back to a backup."
        )
    unknown = _names(connection) - {migration.__name__ for migration in MIGRATIONS}
    if version > latest_version() or unknown:
        raise StoreError(
            f"{path} has schema version {version}; this program knows up to {latest_version()}.",
            "It was written by a newer workbench: install that one.",
        )
    return version


def _names(connection: sqlite3.Connection) -> set[str]:
    """The migrations that were applied; none where no plain table holds them."""
    there = "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE 'CREATE TABLE%'"
    if connection.execute(there, (schema_check.NAMES,)).fetchone() is None:
        return set()
    rows = connection.execute(f"SELECT name FROM {schema_check.NAMES} WHERE migration_set = 'workbench'")
    return {name for (name,) in rows}


def _keep_copy(connection: sqlite3.Connection, path: Path) -> None:
    copy = path.with_name(f"{path.name}.before-version-{latest_version()}")
    if copy.exists():
        # A migration that was killed just after it was named has left the folder in which it was made.
        sweep(copy.parent)
        return
    with part_folder(copy) as part:
        connection.execute("VACUUM INTO ?", (str(part / copy.name),))
        generation.name_anew(part / copy.name)
        give_name(part / copy.name, copy)


def migrate(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """Bring an older database to a version, in one transaction.

    Raises:
        SchemaError: What was made is not what this program makes.
        StoreError: A reference leads nowhere then.
    """
    # Foreign keys may be rebuilt by a migration; they are checked before it is committed.
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("BEGIN IMMEDIATE")
    try:
        _run(connection, MIGRATIONS[:version])
        if connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise StoreError(f"{path}: a migration left a dangling reference.", "The file was not changed.")
        require_ours(connection, path, version)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _run(connection: sqlite3.Connection, steps: Sequence[Migration]) -> None:
    """Take those of the steps that were not taken, and note each, in the caller's transaction."""
    taken = _names(connection)
    for statement in _TABLE_OF_NAMES:
        connection.execute(statement)
    for step in steps:
        if step.__name__ not in taken:
            step(_Plain(connection))
            connection.execute(
                f"INSERT INTO {schema_check.NAMES} (migration_set, name, applied_at) VALUES ('workbench', ?, ?)",
                (step.__name__, applied_at()),
            )
    _bring_triggers_back(connection, steps)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(steps)}")


def _bring_triggers_back(connection: sqlite3.Connection, steps: Sequence[Migration]) -> None:
    """A migration that makes a table anew (sqlite-utils' transform) loses its triggers without a word."""
    kept = schema_added.TRIGGERS if _m004_labelling in steps else ()
    noted = schema_added.ANALYSIS_TRIGGERS if _m005_analysis in steps else ()
    frozen = schema_amended.TRIGGERS if _m007_sets in steps else ()
    for statement in (*kept, *noted, *frozen):
        connection.execute(statement.replace("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))
