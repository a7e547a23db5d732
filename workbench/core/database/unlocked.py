"""Looking into a database's file beside SQLite.

POSIX takes all of a process's locks on a file from it as soon as it closes the file anywhere, SQLite's too. So a file
that SQLite has open in this process stays open here until it hasn't.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Inode = tuple[int, int]

OPENING = threading.RLock()
"""Held while SQLite opens a database, so that none is opened between looking for open files and closing one."""

_KEPT: list[tuple[Inode, Callable[[], None]]] = []


@contextmanager
def opened_beside(path: Path) -> Iterator[int]:
    """A descriptor for reading a database's file; no lock of this process is lost by it.

    Raises:
        OSError: It can't be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        close_beside(_inode(descriptor), lambda: os.close(descriptor))


def close_beside(inode: Inode, close: Callable[[], None]) -> None:
    """Close what has one descriptor of a file, now or when nothing else in this process has the file open."""
    with OPENING:
        _KEPT.append((inode, close))
        release()


def release() -> None:
    """Close what was kept open for the sake of connections that are closed by now."""
    with OPENING:
        if not _KEPT:
            return
        free = {inode for inode, count in _others().items() if not count}
        closed = [close for inode, close in _KEPT if inode in free]
        _KEPT[:] = [entry for entry in _KEPT if entry[0] not in free]
        for close in closed:
            close()


def open_here(inode: Inode) -> int:
    """How many descriptors of a file this process has besides those kept open here."""
    return _others()[inode]


def _others() -> Counter[Inode]:
    """How many descriptors of each file this process has besides those kept open here; one look for all."""
    found: Counter[Inode] = Counter()
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            found[_inode(int(name))] += 1
    found.subtract(inode for inode, _ in _KEPT)
    return found


def _inode(descriptor: int) -> Inode:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino
