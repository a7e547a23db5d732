"""Whether a database's file still is where it was opened.

SQLite goes on with a file that was moved, deleted or replaced: what it is told then lands where nobody looks for it, or
in a log that belongs to another file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from workbench.core.errors import Cause, StoreError


class _FileIdentity(NamedTuple):
    device: int
    inode: int


class Place:
    """Where a database was opened, and which file was there; asked before every write, so it costs microseconds.

    Raises (on creation):
        OSError: There is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Its log stands beside the file itself, not beside a link to it.
        self._log = Path(f"{path.resolve()}-wal")
        found = os.stat(path)
        self._file = _FileIdentity(found.st_dev, found.st_ino)
        self._log_file: _FileIdentity | None = None

    def require(self) -> None:
        """Make sure that the path still leads to the file that was opened, with its log beside it.

        Raises:
            StoreError: The file, or its log, was moved, deleted or replaced.
        """
        found = _mark(self._path)
        if found is None:
            raise self._error("moved", f"{self._path} was moved or deleted while it was open: put it back.")
        if found != self._file:
            raise self._error(
                "replaced",
                f"{self._path} is another file than the one that was opened: that one was moved away or replaced.",
                "Put the one that was opened back. ",
            )
        if self._log_file is not None and _mark(self._log) != self._log_file:
            raise self._error(
                "replaced",
                f"{self._log} was moved, deleted or replaced while {self._path.name} was open.",
                "Put the one that was there back. ",
            )

    def hold_log(self) -> None:
        """The log is held open from now on, by a transaction: it must stay the one it is."""
        if self._log_file is None:
            self._log_file = _mark(self._log)

    def forget_log(self) -> None:
        """Nothing holds the log open any more: the next one may be another."""
        self._log_file = None

    def _error(self, cause: Cause, message: str, first: str = "") -> StoreError:
        return StoreError(message, f"{first}Nothing is written meanwhile. {self._about_log()}", cause)

    def _about_log(self) -> str:
        try:
            size = self._log.stat().st_size
        except OSError:
            return f"Its log, {self._log.name}, belongs beside it."
        if size:
            return f"{self._log} holds what is not in the file yet: leave it there."
        return "All that was saved is in the file."


def _mark(path: Path) -> _FileIdentity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return _FileIdentity(found.st_dev, found.st_ino)
