"""What a copy of a database holds, set against another copy that it is to replace."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, NoReturn

from workbench.core.database import logs
from workbench.core.database.migrations import APPLICATION_ID, latest_version
from workbench.core.database.users import beside
from workbench.core.errors import StoreError

_COUNTED = {
    "items": "completions",
    "label events": "label_events",
    "people": "annotators",
    "verdicts": "verdicts",
    "replies": "responses",
    "reviews": "reviews",
    "decisions on questions": "curation",
    "sets": "sets",
}
"""What a person would miss -> its table; older versions have fewer."""

_ARCHIVE = b"PK\x03\x04"


class _CopyContents(NamedTuple):
    version: int
    project: bytes | None
    rows: dict[str, int]
    newest: str


def require_no_less(new: Path, old: Path) -> None:
    """Refuse to put a copy in the place of a good one that holds what it doesn't. What is damaged is no good copy.

    Raises:
        StoreError: The old one has more of anything, newer events, is of another project or a newer version.
    """
    with old.open("rb") as file:
        begins = file.read(4)
    if begins == _ARCHIVE:
        _refuse(old, "it is an archive, or another zip file")
    held = _held(old)
    if held is None:
        return
    if isinstance(held, str):
        _refuse(old, held)
    now = _held(new)
    if not isinstance(now, _CopyContents):
        raise StoreError(f"{new}: the copy can't be read.", "Run workbench doctor on the database.")
    if held.project is not None and held.project != now.project:
        _refuse(old, "it is a copy of another project")
    if held.version > now.version:
        _refuse(old, f"it has schema version {held.version}")
    more = [f"{number - now.rows.get(what, 0)} more {what}" for what, number in held.rows.items()]
    more = [text for text in more if not text.startswith(("0 ", "-"))]
    if more:
        _refuse(old, f"it has {', '.join(more)} than the database has now")
    if held.newest > now.newest:
        _refuse(old, f"its newest label event is of {held.newest}, that of the database is of {now.newest or 'never'}")


def _refuse(old: Path, why: str) -> NoReturn:
    raise StoreError(
        f"{old} is not replaced: {why}.", "Name another file, or replace it all the same: --force --discard"
    )


def _held(path: Path) -> _CopyContents | str | None:
    """What a database holds; None for what is no good copy of any, a text for what must not be looked into."""
    if any(log.exists() and log.stat().st_size for log in (beside(path, end) for end in logs.ENDS)):
        return "it has been written to since it was made, and its log has not been written back"
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                return None
            version: int = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > latest_version():
                return f"it was written by a newer workbench (schema version {version})"
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return None
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            rows = {
                what: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for what, table in _COUNTED.items()
                if table in tables
            }
            project = connection.execute("SELECT secret FROM secrets").fetchone() if "secrets" in tables else None
            newest = connection.execute("SELECT max(created_at) FROM label_events").fetchone()[0]
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None
    return _CopyContents(version, project and project[0], rows, newest or "")
