"""What ``doctor`` asks the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from workbench.model.health import Finding
from workbench.model.progress import stepping
from workbench.store import migrations, schema
from workbench.store.connection import MINIMUM_SQLITE, Database
from workbench.store.filesystem import file_system, is_network

WAL_LARGE = 256 * 2**20
"""A write-ahead log above this many bytes is reported."""


def check_all(database: Database) -> list[Finding]:
    """Integrity, references, schema, triggers, unfinished imports, WAL size and file system."""
    connection = database.reader()
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("sqlite", _sqlite),
        ("integrity", lambda: _integrity(connection)),
        ("foreign keys", lambda: _references(connection)),
        ("schema version", lambda: _version(connection)),
        ("tables", lambda: _objects(connection, schema.STATEMENTS)),
        ("append-only triggers", lambda: _triggers(connection)),
        ("imports", lambda: _imports(connection)),
        ("write-ahead log", lambda: _wal(database.path)),
        ("file system", lambda: _file_system(database.path)),
    )
    return [_run(name, check) for name, check in stepping(checks, "checking", "parts")]


def _run(name: str, check: Callable[[], str]) -> Finding:
    try:
        trouble = check()
    except sqlite3.DatabaseError as error:
        trouble = str(error)
    return Finding(name=name, ok=not trouble, message=trouble or "ok")


def _sqlite() -> str:
    return "" if sqlite3.sqlite_version_info >= MINIMUM_SQLITE else f"{sqlite3.sqlite_version} is too old"


def _integrity(connection: sqlite3.Connection) -> str:
    rows = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    return "" if rows == ["ok"] else "; ".join(rows)


def _references(connection: sqlite3.Connection) -> str:
    row = connection.execute("PRAGMA foreign_key_check").fetchone()
    return "" if row is None else f"table {row[0]} has a row that refers to nothing in {row[2]}"


def _version(connection: sqlite3.Connection) -> str:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    latest = migrations.latest_version()
    return "" if version == latest else f"version {version}, this program writes {latest}"


def _objects(connection: sqlite3.Connection, statements: tuple[str, ...]) -> str:
    present = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    wanted = {_name(statement) for statement in statements if statement.startswith(("CREATE", "ALTER"))}
    missing = sorted(wanted - present)
    return f"missing: {', '.join(missing)}" if missing else ""


def _name(statement: str) -> str:
    words = statement.replace("(", " ").split()
    kind = next(index for index, word in enumerate(words) if word in ("TABLE", "INDEX", "VIEW", "TRIGGER"))
    return words[kind + 1]


def _triggers(connection: sqlite3.Connection) -> str:
    present = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")}
    missing = [name for name in schema.TRIGGERS if name not in present]
    return f"missing: {', '.join(missing)}; labels could be changed or lost" if missing else ""


def _imports(connection: sqlite3.Connection) -> str:
    rows = connection.execute("SELECT path FROM imports WHERE state = 'running'").fetchall()
    if not rows:
        return ""
    return f"unfinished: {', '.join(row[0] for row in rows)}; its rows are hidden and the next import removes them"


def _wal(path: Path) -> str:
    log = path.with_name(path.name + "-wal")
    size = log.stat().st_size if log.exists() else 0
    return "" if size < WAL_LARGE else f"{size / 2**20:.0f} MiB; a reader has kept it from being written back"


def _file_system(path: Path) -> str:
    kind = file_system(path.parent)
    return f"{kind} is a network file system" if is_network(kind) else ""
