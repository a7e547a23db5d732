"""What ``doctor`` asks the database."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

from workbench.care.store import schema_findings
from workbench.core.database import migrations, names
from workbench.core.database.connection import MINIMUM_SQLITE
from workbench.core.database.filesystem import file_system, is_network
from workbench.core.errors import StoreError
from workbench.core.health import Finding, Remedy
from workbench.core.progress import stepping

WAL_LARGE = 256 * 2**20
"""A write-ahead log above this many bytes is reported."""


SQLError = sqlite3.Error
"""What SQLite raises, for those that know no SQL."""


def about_rows(connection: sqlite3.Connection) -> list[Finding]:
    """References, schema, triggers and unfinished imports."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("foreign keys", lambda: _references(connection)),
        ("schema version", lambda: _version(connection)),
        ("imports", lambda: _imports(connection)),
    )
    found = [_run(name, check) for name, check in stepping(checks, "checking", "parts")]
    return [*found, *schema_findings.findings(connection)]


def about_place(path: Path) -> list[Finding]:
    """SQLite itself, the write-ahead log's size and the file system."""
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ("sqlite", _sqlite),
        ("write-ahead log", lambda: _wal(path)),
        ("file system", lambda: _file_system(path)),
    )
    return [*(_run(name, check) for name, check in checks), *_names(path)]


def _names(path: Path) -> list[Finding]:
    count = names.count(path)
    if count == 1:
        return []
    message = (
        f"the file has {count} names (hard links): what is written under one stands under all, and a log beside "
        "another is not seen. That is no copy: workbench backup makes one"
    )
    return [Finding(name="names", ok=True, message=message)]


def require_file(path: Path) -> None:
    """Refuse what is no file.

    Raises:
        StoreError: It is none, or not there.
    """
    if not path.is_file():
        what = "it is no file" if path.exists() else "there is no such database"
        raise StoreError(f"{path}: {what}.", "Name a workbench database.")


def can_read(connection: sqlite3.Connection) -> bool:
    """Whether SQLite can make anything of the file."""
    return version(connection) is not None


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether a file says that it is a workbench database."""
    try:
        found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError:
        return False
    return found == migrations.APPLICATION_ID


def version(connection: sqlite3.Connection) -> int | None:
    """The version of its tables; None where SQLite can't read the file."""
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
    return "" if size < WAL_LARGE else f"{size / 2**20:.0f} MiB; a reader has kept it from being written back"


def _file_system(path: Path) -> str:
    kind = file_system(path.parent)
    return f"{kind} is a network file system" if is_network(kind) else ""
