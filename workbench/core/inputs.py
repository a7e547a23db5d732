"""Input files named by the user: none may belong to the open project, under any name."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from workbench.core.errors import FormatError, UsageError


def require_input(path: Path) -> None:
    """Check that this process doesn't have a file open for writing, such as a database, its log or an output.

    Closing one descriptor of a file releases all of the process's locks on it. SQLite would continue without the locks
    of an open database, and another process would assume that it is the last user and delete the log.

    Raises:
        FormatError: This process has the file open.
    """
    with suppress(OSError):
        there = os.stat(path)
        if any(os.path.samestat(one, there) for one in _written()):
            raise FormatError(f"{path}: it belongs to the project that is open, or is being written.", "Name another.")


def read_small_file(path: Path, what: str, limit: int, hint: str) -> bytes:
    """Return the bytes of a file such as "a prompt".

    Args:
        what: What it is.
        limit: Its longest size in bytes.
        hint: What it should be, if there is no such file.

    Raises:
        UsageError: It can't be read, or is too large.
    """
    try:
        # A pipe would be waited for without end.
        if not path.is_file():
            raise UsageError(f"{path}: there is no such file.", hint)
        require_input(path)
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}.") from error
    if len(data) > limit:
        raise UsageError(f"{path}: {what} has at most {limit // 1024} KiB.")
    return data


def _written() -> Iterator[os.stat_result]:
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                yield os.fstat(int(name))
