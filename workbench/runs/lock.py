"""A file beside the database that the runner keeps locked, and on which it says what keeps it from storing.

The kernel lets go of the lock when the process ends, whatever clocks, namespaces and process numbers say: it tells a
runner in another container from one that is gone. What is said fits into space that is taken at the start, so that a
full disk can be told of.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.processes import Process

_BYTES = 1024
_WORDS = 500
_TRIES = 20
_PAUSE_S = 0.01


class Notice(Struct, frozen=True):
    """What a runner says of itself while it may not be able to write the database.

    Attributes:
        since: Since when it has not been able to, in seconds since the epoch; None: it is.
        cause: The cause as `StoreError` names it.
        words: What the database said.
    """

    process: Process
    since: float | None = None
    cause: str = ""
    words: str = ""


class Lock:
    """Held by the runner of a database."""

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    @classmethod
    def take(cls, database: Path, process: Process) -> Lock | None:
        """Take the lock; None where that can't be done: then only heartbeats tell."""
        try:
            handle = os.open(lock_path(database), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        lock = cls(handle)
        if _is_own(handle) and _locked(handle, fcntl.LOCK_EX, _TRIES) and lock.say(Notice(process)):
            return lock
        lock.release()
        return None

    def say(self, notice: Notice) -> bool:
        """Say something in place of what was said before; False where it can't be written."""
        if self._handle is None:
            return False
        short = msgspec.structs.replace(notice, words=notice.words[:_WORDS].encode("ascii", "replace").decode())
        try:
            return os.pwrite(self._handle, msgspec.json.encode(short)[:_BYTES].ljust(_BYTES), 0) == _BYTES
        except OSError:
            return False

    def release(self) -> None:
        """Let go; the file stays, since another process may be about to take it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def lock_path(database: Path) -> Path:
    """Where the lock of a database's runner is."""
    place = database.resolve()
    return place.with_name(f"{place.name}.runner.lock")


def look(database: Path) -> tuple[Notice | None, bool]:
    """What the last one to hold the lock has said, and whether a process holds it now."""
    try:
        handle = os.open(lock_path(database), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None, False
    try:
        if not _is_own(handle):
            return None, False
        notice = _notice(os.pread(handle, _BYTES, 0))
        return notice, not _locked(handle, fcntl.LOCK_SH, 1)
    except OSError:
        return None, False
    finally:
        os.close(handle)


def _notice(text: bytes) -> Notice | None:
    try:
        return msgspec.json.decode(text, type=Notice)
    except msgspec.MsgspecError:
        return None


def _is_own(handle: int) -> bool:
    """Whether it is a file of this user's and no other name of another file, which would be written over."""
    found = os.fstat(handle)
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid()


def _locked(handle: int, kind: int, tries: int) -> bool:
    """Try to lock; who only looks holds it for a moment."""
    for left in reversed(range(tries)):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE_S)
        except OSError:
            # This file system has no such locks.
            return kind == fcntl.LOCK_SH
        else:
            return True
    return False
