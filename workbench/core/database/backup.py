"""Verified copies: VACUUM INTO a temporary name, integrity check, rename."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from workbench.core.database import journal
from workbench.core.database.connection import Database, interruptibly
from workbench.core.database.journal import flush_names
from workbench.core.database.migrations import APPLICATION_ID, detach_copy, give_name
from workbench.core.database.place import ENDS, LOGS, held_alone, sidecar_path
from workbench.core.errors import Command, StoreError, opt
from workbench.core.files import part_folder
from workbench.core.progress import BYTES, step

# -- Comparing the content of a database copy with that of another copy, which it would replace.


_COUNTED = {
    "items": "completions",
    "label events": "label_events",
    "people": "annotators",
    "verdicts": "verdicts",
    "replies": "responses",
    "reviews": "reviews",
    "decisions on questions": "curation",
    "decisions on tests": "test_exclusions",
    "sets": "sets",
}
"""Name of important content -> its table."""
_ARCHIVE = b"PK\x03\x04"


class _CopyContents(NamedTuple):
    version: int
    project: tuple[bytes] | None
    rows: dict[str, int]
    newest: str


def require_no_less(new: Path, old: Path) -> None:
    """Check that a new copy has all the content of the old copy that it would replace, unless the old one is damaged.

    Raises:
        StoreError: The old copy has more rows in some table, newer label events, another project or a newer version.
    """
    if why := _why_better(old, new):
        raise StoreError(
            f"{old} is not replaced: {why}.", f"Name another file, or replace it: {opt.force} {opt.discard}"
        )


def _why_better(old: Path, new: Path) -> str:
    with old.open("rb") as file:
        if file.read(4) == _ARCHIVE:
            return "it is an archive, or another zip file"
    if any(log.exists() and log.stat().st_size for log in (sidecar_path(old, end) for end in LOGS)):
        return "it has been written to since it was made, and its log has not been written back"
    held, now = _contents(old), _contents(new)
    if held is None or now is None:
        return ""
    if held.version > now.version:
        return f"it was written by a newer workbench (schema version {held.version})"
    if held.project != now.project:
        return "it is a copy of another project"
    more = [f"{number - now.rows[what]} more {what}" for what, number in held.rows.items() if number > now.rows[what]]
    if more:
        return f"it has {', '.join(more)} than the database has now"
    if held.newest > now.newest:
        return f"its newest label event is of {held.newest}, that of the database is of {now.newest or 'never'}"
    return ""


def _contents(path: Path) -> _CopyContents | None:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)) as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                return None
            if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return None
            return _CopyContents(
                connection.execute("PRAGMA user_version").fetchone()[0],
                connection.execute("SELECT secret FROM secrets").fetchone(),
                {what: connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for what, t in _COUNTED.items()},
                connection.execute("SELECT max(created_at) FROM label_events").fetchone()[0] or "",
            )
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return None


# -- Replacing a database; the old one is kept under another name.


KEPT = ".before-"
"""Inserted after a database's name in the names of its kept copies."""
_PAGES = 1024
_INDEX = "-shm"
"""The suffix of SQLite's shared-memory index. It is not copied: SQLite recreates it, and reading it would release this
process's lock on it."""


def put_in_place(temporary: Path, target: Path, *, keep: bool = True, before: str = "restore") -> tuple[Path, ...]:
    """Move a finished database to its final path.

    Args:
        keep: Keep the file that is at that path, and its logs, under other names.
        before: The name of the operation; it becomes part of the names of kept files.

    Returns:
        The kept files.

    Raises:
        StoreError: The file at that path is open in another process, or was just created by one.
    """
    log = sidecar_path(temporary, "-wal")
    if log.exists() and log.stat().st_size:
        # Full disk: the content is still in the log, which is not renamed with the file.
        raise StoreError(f"{target}: the disk is full.", "Make room on it, then try again.", "space")
    if not any(os.path.lexists(sidecar_path(target, end)) for end in ENDS):
        _give_name(temporary, target)
        temporary.unlink(missing_ok=True)
        flush_names(target.parent)
        return ()
    with held_alone(target):
        _drop_second_names(target)
        kept = _keep_files(target, free_name(target, before)) if keep else ()
        flush_names(target.parent)
        for end in ENDS[1:]:
            # SQLite would apply the old log to the new file.
            sidecar_path(target, end).unlink(missing_ok=True)
        temporary.replace(target)
        flush_names(target.parent)
    return kept


def _keep_files(target: Path, place: Path) -> tuple[Path, ...]:
    kept = []
    for end in ENDS:
        file, second = sidecar_path(target, end), sidecar_path(place, end)
        if end == _INDEX or not file.exists() or (end and not file.stat().st_size):
            continue
        kept.append(second)
        if not end:
            _give_name(file, second)
            continue
        shutil.copy(file, second)
        with second.open("rb") as copy:
            os.fsync(copy.fileno())
    return tuple(kept)


def _give_name(file: Path, name: Path) -> None:
    if not give_name(file, name):
        raise StoreError(f"{name} exists.", "Another process has just created it.")


def free_name(target: Path, before: str) -> Path:
    """Return a free name for a database's copy from before an operation."""
    number = 1
    while any(os.path.lexists(sidecar_path(target, f"{KEPT}{before}-{number}{end}")) for end in (*ENDS, journal.END)):
        number += 1
    return sidecar_path(target, f"{KEPT}{before}-{number}")


def _drop_second_names(target: Path) -> None:
    for name in os.listdir(target.parent):
        second = target.parent / name
        if not name.startswith(f"{target.name}{KEPT}") or not second.exists():
            continue
        if target.exists() and second.samefile(target):
            # These files are copies of the target's logs; the target has been written to since.
            for end in reversed(ENDS):
                sidecar_path(second, end).unlink(missing_ok=True)


def backup(database: Database, target: Path, *, force: bool = False, discard: bool = False) -> int:
    """Write a complete copy of the database and return its size in bytes. No file is left if the copy fails its check.

    Args:
        force: Replace an existing file, unless it is an undamaged copy with more content, or of another project.
        discard: Replace such a copy, too.

    Raises:
        StoreError: The target exists and may not be replaced, can't be written, or the copy fails its check.
    """
    database.require_other(target)
    if target.exists() and not force:
        raise StoreError(f"{target} exists.", f"Use {opt.force} to replace it.")
    try:
        with part_folder(target) as part:
            copy = part / target.name
            _copy_database(database, copy)
            database.require_place()
            detach_copy(copy)
            check(copy)
            if target.exists() and not discard:
                require_no_less(copy, target)
            put_in_place(copy, target, keep=False)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(
            f"{target}: {getattr(error, 'strerror', None) or error}.", "The database itself is untouched."
        ) from error
    return target.stat().st_size


def _copy_database(database: Database, target: Path) -> None:
    copied = 0
    with closing(database.open()) as connection, step("copying", database.path.stat().st_size, BYTES) as advance:

        def look() -> None:
            nonlocal copied
            if target.exists() and (size := target.stat().st_size) > copied:
                advance(size - copied)
                copied = size

        interruptibly(
            lambda: connection.execute("VACUUM INTO ?", (str(target.absolute()),)), connection.interrupt, look
        )


def copy_pages(database: Database, target: Path) -> None:
    """Copy a database page by page, without looking at what is in it."""
    with closing(database.open()) as source, closing(sqlite3.connect(target)) as copy:
        (page_size,) = source.execute("PRAGMA page_size").fetchone()
        with step("copying", database.path.stat().st_size, BYTES) as advance:
            source.backup(copy, pages=_PAGES, progress=lambda *_: advance(_PAGES * page_size))
    database.require_place()


def check(path: Path) -> None:
    """Check that a database is not damaged, and flush it to disk; no process may have it open.

    Raises:
        StoreError: It is damaged.
    """
    with closing(sqlite3.connect(path, check_same_thread=False)) as copy, step("checking the copy"):
        result: str = interruptibly(lambda: copy.execute("PRAGMA integrity_check").fetchone()[0], copy.interrupt)
    if result != "ok":
        raise StoreError(f"The copy is damaged: {result}.", "Check the database", command=Command("doctor DB"))
    with path.open("rb") as file:
        os.fsync(file.fileno())
