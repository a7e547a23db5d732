"""Input files that the user names; a file of the open project is rejected, whatever its name or link."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from workbench.core.errors import FormatError, UsageError


def require_input(path: Path) -> None:
    """Check that this process doesn't have a file open for writing, such as a database, its log or an output.

    Closing a file releases all of the process's locks on it, also those of other descriptors. SQLite would go on
    without its locks on an open database, and another process could believe to be the last user and delete the log.

    Raises:
        FormatError: This process has the file open.
    """
    with suppress(OSError):
        there = os.stat(path)
        if any(os.path.samestat(one, there) for one in _open_for_writing()):
            raise FormatError(f"{path}: it belongs to the project that is open, or is being written.", "Name another.")


def read_small_file(path: Path, what: str, limit: int, hint: str) -> bytes:
    """Return the bytes of a file such as "a prompt".

    Args:
        what: What the file is, for the message.
        limit: Maximum size in bytes.
        hint: The message's hint if there is no such file.

    Raises:
        UsageError: The file can't be read, or is too large.
    """
    try:
        # Reading from a pipe could block for ever.
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


def _open_for_writing() -> Iterator[os.stat_result]:
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            if fcntl.fcntl(int(name), fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                yield os.fstat(int(name))
