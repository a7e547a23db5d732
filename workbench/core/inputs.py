"""Input files that a user names: none may belong to the open project, under whatever name."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from workbench.core.errors import FormatError


def require_input(path: Path) -> None:
    """Reject a file that this process has open for writing: a database's, its log's, an output's.

    Closing one descriptor of a file releases all of the process's locks on it. SQLite would go on without those of an
    open database, and another process take itself for its last user and delete the log.

    Raises:
        FormatError: It is such a file.
    """
    with suppress(OSError):
        there = os.stat(path)
        if any(os.path.samestat(one, there) for one in _written()):
            raise FormatError(f"{path}: it belongs to the project that is open, or is being written.", "Name another.")


def _written() -> Iterator[os.stat_result]:
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                yield os.fstat(int(name))
