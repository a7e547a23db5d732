"""Whether an open database's file has been overwritten in place: the same file, but another copy's bytes.

SQLite doesn't notice. It goes on writing a log for pages that are gone, and plays them into the other copy's file as
soon as the log is written back, at the latest when the last connection is closed.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import time
from pathlib import Path

from workbench.core.database import generation, logs
from workbench.core.database.unlocked import close_beside
from workbench.core.errors import StoreError

_TRIES = 5
_WAIT_S = 0.002


class FileContents:
    """The generation that an open database's own file bears; asked before every write, so it costs microseconds.

    Args:
        connection: A connection to it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._file = -1
        self._path = Path(os.path.realpath(path))
        found = generation.read(connection)
        self._name = None if found is None else found.name
        self._size: int = connection.execute("PRAGMA page_size").fetchone()[0]
        row = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'generation'").fetchone()
        self._page: int = 0 if row is None else row[0]
        self._seen = 0
        self._state: bytes | None = None
        self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self.are_others()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            status = os.fstat(file)
            close_beside((status.st_dev, status.st_ino), lambda: os.close(file))

    def require(self) -> None:
        """Make sure that the file is no other copy by now.

        Raises:
            StoreError: It was overwritten.
        """
        if self.are_others():
            raise StoreError(
                f"{self._path} was overwritten with another copy while it was open.",
                f"Nothing is written. End this program, then: {logs.go_on(self._path)}",
                "overwritten",
            )

    def are_others(self) -> bool:
        """Whether the file was overwritten."""
        if self._name is None or self._file < 0:
            return False
        # Another thread may see more while this one reads.
        seen = self._seen
        place = (self._page - 1) * self._size
        here = generation.in_page(os.pread(self._file, self._size, place))
        return self._stands_elsewhere() if here is None else self._differs(here, seen)

    def header(self) -> bytes:
        """What a transaction says of the file that it is made on."""
        return generation.header_digest(os.pread(self._file, generation.HEADER, 0))

    def _differs(self, here: generation.Generation, seen: int) -> bool:
        """Another copy's name, fewer transactions than the file has been seen to have, or others than its log has.

        Args:
            seen: How many it had been seen to have before it was read.
        """
        if here.name != self._name or here.writes < seen:
            return True
        if here.state != self._state:
            if seen and logs.foreign_log(self._path) is not None:
                return True
            self._state = here.state
        self._seen = max(self._seen, here.writes)
        return False

    def _stands_elsewhere(self) -> bool:
        """The page is another one now: by a VACUUM of this database, or because it is another copy."""
        for _ in range(_TRIES):
            seen = self._seen
            try:
                stored = logs.alone(self._path)
            except (sqlite3.Error, OSError):
                # It is being written.
                time.sleep(_WAIT_S)
                continue
            # A file of an older version has none until the log of its migration is written back.
            return seen > 0 if stored is None else self._differs(stored, seen)
        return False


def keep_open(connection: sqlite3.Connection) -> None:
    """Never close a connection: SQLite would write the log back into the file, which is another copy's."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
