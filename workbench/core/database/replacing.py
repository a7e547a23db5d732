"""Putting a database in the place of another one, which is kept.

At any moment, and after a kill at any moment, the name leads to the whole old database or to the whole new one: the old
file gets a second name first, with copies of its logs, then the new one takes the first, only then the logs go where
their copies are. In between they lie beside a file that is not their own: whoever opens it then waits, and after a kill
it is told when it is opened (`store/logs.py`).
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from workbench.core.database.logs import KEPT
from workbench.core.database.migrations import give_name
from workbench.core.database.users import ENDS, beside, unused, waited_for
from workbench.core.errors import StoreError

_INDEX = "-shm"
"""SQLite makes it anew; it is locked, which to read it would end."""


def put_in_place(temporary: Path, target: Path, *, keep: bool = True, before: str = "restore") -> tuple[Path, ...]:
    """Give a finished database its name.

    Args:
        keep: Keep what stood there, and the logs beside it, under other names.
        before: What is done, which their names say.

    Returns:
        What was kept.

    Raises:
        StoreError: Somebody has what stands there open, or made something there just now.
    """
    log = beside(temporary, "-wal")
    if log.exists() and log.stat().st_size:
        # A full disk: what was made stands in the log still, which does not go along.
        raise StoreError(f"{target}: the disk is full.", "Make room on it, then try again.", "space")
    if not any(os.path.lexists(beside(target, end)) for end in ENDS):
        if not give_name(temporary, target):
            raise StoreError(f"{target} exists.", "Somebody else has just made it.")
        temporary.unlink(missing_ok=True)
        _store_names(target.parent)
        return ()
    with unused(target), waited_for(temporary, target):
        _drop_second_names(target)
        place = _free_name(target, before) if keep else None
        kept = _keep(target, place) if place is not None else ()
        _store_names(target.parent)
        temporary.replace(target)
        _store_names(target.parent)
        for end in ENDS[1:]:
            if not beside(target, end).exists():
                continue
            if place is None or end == _INDEX:
                beside(target, end).unlink()
            else:
                beside(target, end).replace(beside(place, end))
        _store_names(target.parent)
    return kept


def _keep(target: Path, place: Path) -> tuple[Path, ...]:
    """Give what stands there a second name; where there are no links, another one."""
    kept = []
    for end in ENDS:
        file, second = beside(target, end), beside(place, end)
        if end == _INDEX or not file.exists():
            continue
        kept.append(second)
        if end:
            # A log with two names is refused when it is opened.
            _copy(file, second)
            continue
        try:
            os.link(file, second)
        except FileExistsError:
            raise
        except OSError:
            file.rename(second)
    return tuple(kept)


def _copy(file: Path, second: Path) -> None:
    shutil.copy(file, second)
    with second.open("rb") as copy:
        os.fsync(copy.fileno())


def _free_name(target: Path, before: str) -> Path:
    number = 1
    while any(os.path.lexists(beside(target, f"{KEPT}{before}-{number}{end}")) for end in ENDS):
        number += 1
    return beside(target, f"{KEPT}{before}-{number}")


def _drop_second_names(target: Path) -> None:
    """Undo what a replacement that was killed has begun: names that lead to the file that still stands there."""
    for name in os.listdir(target.parent):
        second = target.parent / name
        if not name.startswith(f"{target.name}{KEPT}") or not second.exists():
            continue
        if target.exists() and second.samefile(target):
            # Of its logs these are copies, and it has been written to since.
            for end in reversed(ENDS):
                beside(second, end).unlink(missing_ok=True)


def _store_names(folder: Path) -> None:
    """Have the disk hold the folder's names."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems can't, and need not.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
