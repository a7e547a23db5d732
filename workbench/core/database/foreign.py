"""Reading an untrusted workbench database: nothing in it is executed, changed or trusted.

It is opened separately, never attached. SQLite's authorizer only permits reading the plain tables named here on the
connection: views, triggers, generated columns and functions of its schema are out of reach.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from workbench.core.database import migrations
from workbench.core.database.failures import explained
from workbench.core.database.place import LOGS
from workbench.core.errors import Command, StoreError
from workbench.core.files import require_plain, temporary_folder
from workbench.core.inputs import require_input

_FUNCTIONS = frozenset({"substr"})


@contextmanager
def opened(path: Path, tables: Collection[str]) -> Iterator[sqlite3.Connection]:
    """Open a connection that can only read these tables; the file is left unchanged.

    Raises:
        StoreError: It is not a workbench database, of another version, or damaged.
    """
    if not path.is_file():
        what = "it is no file" if path.exists() else "there is no such file"
        raise StoreError(f"{path}: {what}.", "Name a workbench database, such as a bundle that came back.")
    require_input(path)
    with (
        explained(path),
        temporary_folder("merge") as folder,
        closing(_connect(path, folder)) as connection,
    ):
        version = migrations.checked_version(connection, path)
        migrations.require_ours(connection, path, version)
        if version < migrations.latest_version():
            raise StoreError(
                f"{path} was written by an older workbench.", f"Bring it up to date first: {Command(f'status {path}')}"
            )
        connection.set_authorizer(_authorizer(tables))
        yield connection


def _connect(path: Path, folder: Path) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?immutable=1"
    beside = [end for end in LOGS if os.path.lexists(path.with_name(path.name + end))]
    if beside:
        # The log's content is part of the database; only a copy's log can be read without a trace next to the file.
        for end in ("", *beside):
            _copy(path.with_name(path.name + end), folder / f"other{end}", plain=bool(end))
        address = f"{(folder / 'other').as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    # Invalid UTF-8 becomes lone surrogates, which the checks of single values find.
    connection.text_factory = readable
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _copy(source: Path, target: Path, *, plain: bool) -> None:
    try:
        if plain:
            require_plain(source)
        with source.open("rb") as file, target.open("xb") as copy:
            shutil.copyfileobj(file, copy)
    except OSError as error:
        raise StoreError(f"{error.filename or target}: {error.strerror}.", "") from error


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
    """Return text from an untrusted database: bytes that are not UTF-8 become lone surrogates."""
    return None if raw is None else bytes(raw).decode("utf-8", "surrogateescape")
