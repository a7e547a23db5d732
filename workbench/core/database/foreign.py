"""Reading an untrusted workbench database: nothing in it is executed, changed or trusted.

The database is opened on a separate connection, never attached. On this connection SQLite's authorizer permits only
reading the named tables, so that views, triggers, generated columns and functions of its schema can't run.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.core.database import migrations
from workbench.core.database.connection import opening
from workbench.core.database.looking import opened_read_only
from workbench.core.database.place import require_plain_logs
from workbench.core.errors import Command, StoreError
from workbench.core.inputs import require_input

_FUNCTIONS = frozenset({"substr"})


@contextmanager
def opened(path: Path, tables: Collection[str]) -> Iterator[sqlite3.Connection]:
    """Open a connection that can only read these tables of a database; the file is not changed.

    Raises:
        StoreError: The file is not a workbench database, has another version, or is damaged.
    """
    if not path.is_file():
        what = "it is not a file" if path.exists() else "there is no such file"
        raise StoreError(f"{path}: {what}.", "Name a workbench database, such as a returned bundle.")
    require_input(path)
    with opening(path):
        require_plain_logs(path)
    with opened_read_only(path) as database:
        connection = database.reader()
        connection.execute("PRAGMA cell_size_check = ON")
        migrations.require_current(connection, path, f"Bring it up to date first: {Command(f'status {path}')}")
        connection.set_authorizer(_authorizer(tables))
        yield connection


def _authorizer(tables: Collection[str]) -> Callable[[int, str | None, str | None, str | None, str | None], int]:
    def authorize(action: int, first: str | None, second: str | None, _database: str | None, _in: str | None) -> int:
        allowed = (
            action == sqlite3.SQLITE_SELECT
            or (action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS)
            or (action == sqlite3.SQLITE_READ and first in tables)
        )
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorize


def readable(raw: Any) -> str | None:
    """Return a value of an untrusted database as text; bytes that are not UTF-8 become lone surrogates."""
    return None if raw is None else bytes(raw).decode("utf-8", "surrogateescape")
