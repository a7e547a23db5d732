"""Checks of ``doctor`` by SQL: the file, its rows and its schema, and repairs of the schema."""

from __future__ import annotations

import shlex
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

from workbench.core.database import events, hashes, journal, schema
from workbench.core.database.connection import MINIMUM_SQLITE
from workbench.core.database.hashes import ChangedRow
from workbench.core.database.place import file_system, is_network
from workbench.core.database.schema import Difference, differences, quoted
from workbench.core.errors import Command, StoreError
from workbench.core.health import Finding, Remedy
from workbench.core.text.figures import counted, listed

Connection = sqlite3.Connection
SQLError = sqlite3.Error
"""SQLite's exceptions, for callers that know no SQL."""
LARGE_WAL_BYTES: Final = 256 * 2**20
"""Bytes above which a write-ahead log is reported."""


def require_file(path: Path) -> None:
    """Check that the path is a file.

    Raises:
        StoreError: The path is not a file, or doesn't exist.
    """
    if not path.is_file():
        what = "it is not a file" if path.exists() else "there is no such database"
        raise StoreError(f"{path}: {what}.", "Name a workbench database.")


def _schema_finding(name: str, trouble: str, remedy: Remedy = "") -> Finding:
    return Finding(name=name, ok=not trouble, message=trouble or "ok", remedy=remedy if trouble else "")


# -- The file: SQLite's own check, its log and its disk.


def integrity(connection: Connection) -> Finding:
    """Report the first problems that SQLite finds in the whole file."""
    try:
        rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    except sqlite3.DatabaseError as error:
        rows = [str(error)]
    trouble = "" if rows == ["ok"] else "; ".join(" ".join(row.split()) for row in rows)
    return _schema_finding("integrity", trouble, "repair")


def check_location(path: Path) -> list[Finding]:
    """Check SQLite itself, the write-ahead log's size and the file system."""
    old = "" if sqlite3.sqlite_version_info >= MINIMUM_SQLITE else f"{sqlite3.sqlite_version} is too old"
    log = path.with_name(path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    large = "" if size < LARGE_WAL_BYTES else f"{size / 2**20:.0f} MiB; a reader has prevented its write-back"
    kind = file_system(path.parent)
    network = f"{kind} is a network file system" if is_network(kind) else ""
    return [
        _schema_finding("sqlite", old),
        _schema_finding("write-ahead log", large),
        _schema_finding("file system", network),
    ]


# -- Rows: references, unfinished imports, and texts and labels against their hashes.


def references(connection: Connection) -> Finding:
    found = Counter((table, parent) for table, _, parent, _ in connection.execute("PRAGMA foreign_key_check"))
    lines = [f"table {table}: {n:,} refer to nothing in {parent}" for (table, parent), n in found.items()]
    return _schema_finding("foreign keys", "; ".join(lines), "rescue")


def imports(connection: Connection) -> Finding:
    paths = [path for (path,) in connection.execute("SELECT path FROM imports WHERE state = 'running'")]
    hidden = "its rows are hidden and the next import removes them"
    return _schema_finding("imports", f"unfinished: {', '.join(paths)}; {hidden}" if paths else "")


def texts(connection: Connection) -> Finding:
    """Compare every question and item with the hash taken when it was imported."""
    questions, items = hashes.changed_questions(connection), hashes.changed_completions(connection)
    changes = (_changed("question", questions), _changed("item", items))
    return _schema_finding("texts", "; ".join(filter(None, changes)), "rescue")


def labels(connection: Connection) -> Finding:
    """Compare every label event with the hash taken when it was given."""
    return _schema_finding("labels", _changed("label event", events.changed_events(connection)), "rescue")


def journal_finding(connection: Connection, path: Path) -> Finding:
    """Compare the journal of labels, if there is one, with the label events."""
    file = journal.path_of(path)
    lacking, beyond = journal.differences(connection, path) if file.exists() else (0, 0)
    if lacking:
        return _schema_finding("journal", f"it lacks {counted(lacking, 'label event')} of the database", "repair")
    back = Command(f"labels {shlex.quote(str(path))} import {shlex.quote(str(file))}")
    more = f"ok; {counted(beyond, 'label event')} of it are not in the database; to bring them back: {back}"
    return Finding(name="journal", ok=True, message=more if beyond else "ok")


def _changed(noun: str, found: Iterable[ChangedRow]) -> str:
    rows = [str(row.id) for row in found]
    return f"{counted(len(rows), noun)} not as stored: row {listed(rows)}" if rows else ""


# -- The schema.


def schema_findings(connection: Connection) -> list[Finding]:
    """Return one finding for each difference from the program's own schema, with its text."""
    found = [_difference(difference) for difference in differences(connection)]
    return found or [_schema_finding("schema", "")]


def _difference(difference: Difference) -> Finding:
    text = f": {difference.sql}" if difference.sql else ""
    if difference.harmless and text:
        return Finding(name="schema", ok=True, message=f"{difference.what}; it does no harm{text}")
    return _schema_finding("schema", f"{difference.what}{text}", "" if difference.kind == "table" else "repair")


def repair_schema(path: Path) -> list[str]:
    """Drop harmful triggers and indexes that are not ours; recreate ours, and our views, where they differ.

    Tables are not changed, because rows would be lost. Harmless objects are kept.

    Returns:
        The actions, one line each.
    """
    done = []
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        ours = {(part.kind, part.name): part.sql for part in schema.parts()}
        for kind, name, _, sql, harmless in differences(connection):
            if kind == "table" or (harmless and sql):
                continue
            if sql:
                connection.execute(f"DROP {kind} {quoted(name)}")
            made = ours.get((kind, name))
            if made:
                connection.execute(made)
            done.append(f"{kind} {name}: {'recreated' if made else 'removed'}")
    return done
