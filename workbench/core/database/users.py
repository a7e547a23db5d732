"""Who has a database open, so that its file is not taken from under them.

Seen are SQLite's own locks, which all processes of this machine share, and on Linux the open files of every process
that this user may look into. Processes of other machines, and those of other users that only have the file open
without reading or writing, can't be seen.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from workbench.core.database.unlocked import Inode, open_here, release
from workbench.core.errors import StoreError

ENDS = ("", "-wal", "-shm", "-journal")
"""What a database's files are called, after its name."""

_PROCESSES = Path("/proc")
_LOCKED = {"": (0x40000000, 512), "-shm": (120, 9)}
"""Where in which file SQLite locks, and how many bytes: whoever has read from a database holds one of them."""


def beside(path: Path, end: str) -> Path:
    """One of a database's files."""
    return path.with_name(path.name + end)


def users(path: Path) -> list[int]:
    """The processes that have one of a database's files open, as far as they can be seen; this one too."""
    files = {_inode(file) for end in ENDS if (file := beside(path, end)).exists()}
    release()
    others = (process for process in _processes() if process.name != str(os.getpid()))
    found = {int(process.name) for process in others if any(inode in files for inode in _open_files(process))}
    return sorted(found | ({os.getpid()} if any(map(open_here, files)) else set()))


def require_unused(path: Path) -> None:
    """Refuse a database that somebody has open.

    Raises:
        StoreError: A process has; it is named where it can be seen.
    """
    if found := users(path):
        numbers = ", ".join(map(str, found[:5])) + (" and more" if len(found) > 5 else "")
        raise StoreError(f"{path} is open in process {numbers}.", "Close the app, the runner or the server first.")


@contextmanager
def unused(path: Path) -> Iterator[None]:
    """While inside, nobody has the database open, and whoever opens it waits.

    Raises:
        StoreError: Somebody has it open.
    """
    require_unused(path)
    with ExitStack() as held:
        for end in _LOCKED:
            with suppress(FileNotFoundError):
                held.enter_context(_locked(beside(path, end), path, end))
        yield


@contextmanager
def waited_for(file: Path, path: Path) -> Iterator[None]:
    """While inside, whoever opens a database's file waits, also once it has another name.

    Args:
        path: What it is called in messages.

    Raises:
        StoreError: Somebody has it open.
    """
    with _locked(file, path, ""):
        yield


@contextmanager
def _locked(file: Path, path: Path, end: str) -> Iterator[None]:
    """Hold SQLite's locks on a file; they are lost as soon as this process closes that file anywhere."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        # Nobody can write to what may not be written to.
        yield
        return
    try:
        begin, size = _LOCKED[end]
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size, begin)
            there = _inode(file)
        except OSError as error:
            raise StoreError(f"{path} is in use.", "Close the app, the runner or the server first.") from error
        status = os.fstat(descriptor)
        if (status.st_dev, status.st_ino) != there:
            raise StoreError(f"{path} was replaced just now.", "Look at it, then try again.")
        yield
    finally:
        os.close(descriptor)


def _inode(file: Path) -> Inode:
    status = file.stat()
    return status.st_dev, status.st_ino


def _processes() -> list[Path]:
    with suppress(OSError):
        return [place for place in _PROCESSES.iterdir() if place.name.isdecimal()]
    return []


def _open_files(process: Path) -> Iterator[Inode]:
    with suppress(OSError):
        for number in os.listdir(process / "fd"):
            # A process may close a file, or end, while it is looked at.
            with suppress(OSError):
                yield _inode(process / "fd" / number)
