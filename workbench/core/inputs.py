"""Files that a user names to be read: none of the project that is open, whatever name leads to it."""

from __future__ import annotations

from pathlib import Path

from workbench.core.database.place import written_here
from workbench.core.errors import FormatError


def require_input(path: Path) -> None:
    """Refuse a file that this process has open for writing: a database's, its log's, an output's.

    To close one descriptor of a file gives up all of the process's locks on it. SQLite would go on without those of an
    open database, and another process take itself for its last user and delete the log.

    Raises:
        FormatError: It is such a file.
    """
    if written_here(path):
        raise FormatError(f"{path}: it belongs to the project that is open, or is being written.", "Name another file.")
