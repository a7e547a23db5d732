"""The location of damage: table by table and index by index, so that one does not hide another."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

from workbench.care.store.rescuing import version_of
from workbench.care.store.salvage import DERIVED, Salvage, Schema, TableCheck, checked
from workbench.core.database import migrations, place
from workbench.core.database.connection import MINIMUM_SQLITE
from workbench.core.database.failures import roll_back
from workbench.core.database.hashes import Checked, wrong_completions, wrong_questions
from workbench.core.database.place import file_system, is_network
from workbench.core.database.schema_check import Difference, quoted
from workbench.core.errors import Command, StoreError
from workbench.core.health import Finding, Remedy
from workbench.core.progress import stepping

Connection = sqlite3.Connection
_MAX_NAMED: Final = 3


def integrity(connection: Connection) -> str:
    """Return the first problem SQLite finds in the whole file; empty if it is sound."""
    try:
        rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if rows == ["ok"] else "; ".join(" ".join(row.split()) for row in rows)


def hurt_parts(connection: Connection) -> list[Finding]:
    """Return a finding for every damaged table and index.

    Raises:
        StoreError: The file was written by a newer program, or by one older than any release.
    """
    schema = Schema(version_of(connection))
    salvage = Salvage(connection, schema)
    found: list[Finding] = []
    for name in stepping(schema.tables, "checking", "tables", len(schema.tables)):
        if (told := checked(connection, name)).said:
            found += _table(salvage, name, told)
    return found


def _table(salvage: Salvage, table: str, told: TableCheck) -> Iterator[Finding]:
    rows = sum(1 for _ in salvage.rows(table))
    lasting: Remedy = "repair" if table in DERIVED else "rescue"
    if salvage.is_hurt(table):
        yield _bad(f"table {table}", f"damaged: {rows:,} rows can be read, an unknown number is lost", lasting)
        return
    for index in told.doubtful:
        yield _bad(f"table {table}", f"it and its index {index} disagree, and either may be damaged", lasting)
    for index in told.indexes:
        yield _bad(f"index {index}", "damaged; it can be rebuilt", "repair")
    if not told.doubtful and not told.indexes:
        # A value that breaks its column's rule is no longer what was stored.
        is_value = any(words in line for words in ("value in", "NULL value", "CHECK constraint") for line in told.said)
        words = " ".join(told.said[0].split())
        yield _bad(f"table {table}", f"{words}; all its {rows:,} rows can be read", lasting if is_value else "repair")


def _bad(name: str, message: str, remedy: Remedy) -> Finding:
    return Finding(name=name, ok=False, message=message, remedy=remedy)


# -- Findings of ``doctor`` about a database's schema, and their repair.


_MADE_ANEW = ("trigger", "view", "index")


def findings(connection: sqlite3.Connection) -> list[Finding]:
    """Return one finding for each difference from the program's own schema, with its text."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if not migrations.OLDEST <= version <= migrations.latest_version():
        return [Finding(name="schema", ok=False, message=f"it says that it is of version {version}")]
    found = [_finding(difference) for difference in migrations.differences(connection, version)]
    return found or [Finding(name="schema", ok=True, message="ok")]


def _finding(difference: Difference) -> Finding:
    text = f": {difference.sql}" if difference.sql else ""
    harm = "; it does no harm" if difference.harmless and difference.sql else ""
    slow = "; queries that need it are slow or fail" if difference.harmless and not difference.sql else ""
    remedy: Remedy = "repair" if not harm and difference.kind in _MADE_ANEW else ""
    return Finding(name="schema", ok=bool(harm), message=f"{difference.what}{harm}{slow}{text}", remedy=remedy)


def put_right_in(path: Path) -> list[str]:
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = put_right(connection)
            connection.execute("COMMIT")
        finally:
            roll_back(connection)
        return done


def put_right(connection: sqlite3.Connection) -> list[str]:
    """Drop harmful triggers, indexes and views that are not ours; recreate ours where they differ.

    Tables are not changed, because rows would be lost. Harmless objects are kept.

    Args:
        connection: A connection in a transaction, without statement limits, which would reject these drops.

    Returns:
        The actions, one line each.
    """
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    ours = {(row.kind, row.name): row.sql for row in migrations.made(version)}
    done = []
    for difference in migrations.differences(connection, version):
        kind, name = difference.kind, difference.name
        made = ours.get((kind, name))
        if kind not in _MADE_ANEW or (difference.harmless and difference.sql):
            continue
        if difference.sql is not None:
            connection.execute(f"DROP {kind} {quoted(name)}")
        if made is not None:
            connection.execute(made)
        done.append(f"{kind} {name}: {'recreated' if made is not None else 'removed'}")
    return done


# -- Checks of ``doctor`` by SQL.


LARGE_WAL_BYTES = 256 * 2**20
"""Bytes above which a write-ahead log is reported."""


SQLError = sqlite3.Error
"""SQLite's exceptions, for callers that know no SQL."""


def about_rows(connection: sqlite3.Connection) -> list[Finding]:
    """Check references, schema, triggers and unfinished imports."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("foreign keys", lambda: _references(connection)),
        ("schema version", lambda: _version(connection)),
        ("imports", lambda: _imports(connection)),
    )
    found = [_run(name, check) for name, check in stepping(checks, "checking", "parts")]
    return [*found, *findings(connection)]


def about_place(path: Path) -> list[Finding]:
    """Check SQLite itself, the write-ahead log's size and the file system."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("sqlite", _sqlite),
        ("write-ahead log", lambda: _wal(path)),
        ("file system", lambda: _file_system(path)),
    )
    return [*(_run(name, check) for name, check in checks), *_names(path)]


def _names(path: Path) -> list[Finding]:
    count = place.count(path)
    if count == 1:
        return []
    message = (
        f"the file has {count} names (hard links): a write under one name changes all, and a log next to another name "
        f"is not seen. This is not a copy: {Command('backup DB FILE')} makes one"
    )
    return [Finding(name="names", ok=True, message=message)]


def require_file(path: Path) -> None:
    """Check that the path is a file.

    Raises:
        StoreError: It is not a file, or doesn't exist.
    """
    if not path.is_file():
        what = "it is not a file" if path.exists() else "there is no such database"
        raise StoreError(f"{path}: {what}.", "Name a workbench database.")


def is_ours(connection: sqlite3.Connection) -> bool:
    try:
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError:
        return False
    return found == migrations.APPLICATION_ID


def version(connection: sqlite3.Connection) -> int | None:
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None
    return found


_REMEDIES: Final[dict[str, Remedy]] = {
    "foreign keys": "rescue",
    "tables": "repair",
    "append-only triggers": "repair",
}


def _run(name: str, check: Callable[[], str]) -> Finding:
    try:
        trouble = check()
    except sqlite3.DatabaseError as error:
        trouble = str(error)
    remedy = _REMEDIES.get(name, "") if trouble else ""
    return Finding(name=name, ok=not trouble, message=trouble or "ok", remedy=remedy)


def _sqlite() -> str:
    return "" if sqlite3.sqlite_version_info >= MINIMUM_SQLITE else f"{sqlite3.sqlite_version} is too old"


def _references(connection: sqlite3.Connection) -> str:
    found: Counter[tuple[str, str]] = Counter()
    for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        found[table, parent] += 1
    return "; ".join(f"table {table}: {n:,} refer to nothing in {parent}" for (table, parent), n in found.items())


def _version(connection: sqlite3.Connection) -> str:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    latest = migrations.latest_version()
    return "" if version == latest else f"version {version}, this program writes {latest}"


def _imports(connection: sqlite3.Connection) -> str:
    rows = connection.execute("SELECT path FROM imports WHERE state = 'running'").fetchall()
    if not rows:
        return ""
    return f"unfinished: {', '.join(row[0] for row in rows)}; its rows are hidden and the next import removes them"


def _wal(path: Path) -> str:
    log = path.with_name(path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    return "" if size < LARGE_WAL_BYTES else f"{size / 2**20:.0f} MiB; a reader has prevented its write-back"


def _file_system(path: Path) -> str:
    kind = file_system(path.parent)
    return f"{kind} is a network file system" if is_network(kind) else ""


# -- The ``doctor`` check of texts against their import.


def finding(connection: sqlite3.Connection) -> Finding:
    """Check every question and item against the hash taken when it was imported."""
    told = list(
        chain(
            _mismatch_lines("question", wrong_questions(connection)),
            _mismatch_lines("item", wrong_completions(connection)),
        )
    )
    return Finding(
        name="texts",
        ok=not told,
        message="; ".join(told) or "ok: every question and item is what was imported",
        remedy="rescue" if told else "",
    )


def _mismatch_lines(what: str, found: Iterable[Checked]) -> Iterable[str]:
    all_found = list(found)
    for words, some in (
        ("no text", [one.id for one in all_found if one.is_lost]),
        ("not what was imported (text, gold, model, source or type)", [one.id for one in all_found if not one.is_lost]),
    ):
        if some:
            more = " …" if len(some) > _MAX_NAMED else ""
            has = "have" if len(some) > 1 else "has"
            verb = has if words == "no text" else ("are" if len(some) > 1 else "is")
            named = ", ".join(map(str, some[:_MAX_NAMED]))
            yield f"{len(some):,} {what}{'s' if len(some) > 1 else ''} {verb} {words}: row {named}{more}"
