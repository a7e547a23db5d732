"""A database that has several names (hard links): SQLite keeps a log beside the name that it is given.

Under two names at once a file gets two logs, each written without a look at the other, and is corrupt soon. A second
name that nobody opens does no harm: that is how trees of snapshots are kept.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from pathlib import Path

from workbench.core.database.unlocked import opened_beside
from workbench.core.errors import StoreError
from workbench.core.own_files import require_plain

_LOCK = struct.Struct("hhqqi4x")
"""Linux's ``struct flock``."""
_SHARED = (0x40000002, 510)
"""Bytes that SQLite locks in a file as long as it has it open with a log."""
_IN_USE = (128, 1)
"""The same in the index of a log."""
_BEGINNINGS = {
    "-wal": (bytes.fromhex("377f0682"), bytes.fromhex("377f0683")),
    "-shm": ((3007000).to_bytes(4, "little"), (3007000).to_bytes(4, "big")),
}


def count(path: Path) -> int:
    """How many names the file has."""
    return os.stat(path).st_nlink


def require_not_open_elsewhere(path: Path) -> None:
    """Refuse a file that another process has open under another name; it costs next to nothing where it has only one.

    Raises:
        StoreError: One has.
    """
    real = Path(os.path.realpath(path))
    try:
        if sys.platform != "linux" or count(real) == 1 or (process := _holder(real, _SHARED)) is None:
            return
        index = Path(f"{real}-shm")
        if index.exists() and _holder(index, _IN_USE) is not None:
            return
    except OSError:
        # Whoever opens it is told what is wrong with it.
        return
    raise StoreError(
        f"{path} is open under another name (a hard link), by process {process}. Nothing was read or written.",
        "Open it under that name, or end that process first. For a copy: workbench backup",
    )


def require_logs(path: Path) -> None:
    """Refuse what SQLite would write through to something else: a link, or a second name of what is no log.

    A tree of snapshots made of hard links holds second names of a log, too.

    Raises:
        OSError: There is such a thing where it keeps a log.
    """
    for end in ("-wal", "-shm", "-journal"):
        place = Path(f"{os.path.realpath(path)}{end}")
        if not _is_linked_log(place, _BEGINNINGS.get(end, ())):
            require_plain(place)


def _is_linked_log(place: Path, beginnings: tuple[bytes, ...]) -> bool:
    if not beginnings or place.is_symlink() or not place.is_file() or count(place) == 1:
        return False
    with opened_beside(place) as file:
        begins = os.pread(file, 4, 0)
    return begins in (*beginnings, b"", bytes(4))


def _holder(path: Path, locked: tuple[int, int]) -> int | None:
    """Another process that holds a lock on these bytes."""
    with opened_beside(path) as file:
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, *locked, 0)
        kind, _, _, _, process = _LOCK.unpack(fcntl.fcntl(file, fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else process
