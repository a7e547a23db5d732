"""Databases that were opened in the app lately, and as whom: kept in the user's own configuration folder."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.file import read_settings, write_whole
from workbench.config.trust import user_folder
from workbench.core.errors import WorkbenchError

_FILE: Final = "recent.json"
_MOST: Final = 10


class RecentProject(Struct, frozen=True):
    """One of them.

    Attributes:
        path: The database, as an absolute path.
        annotator: Who came with ``--as``; None for the coordinator.
    """

    path: str
    annotator: str | None = None


def recent() -> list[RecentProject]:
    """Those that are still there, the last one first; nothing where that can't be read."""
    with contextlib.suppress(WorkbenchError, OSError, UnicodeError, msgspec.MsgspecError):
        known = msgspec.json.decode(read_settings(_place()), type=list[RecentProject])
        return [opened for opened in known if Path(opened.path).is_file()][:_MOST]
    return []


def remember(database: Path, annotator: str | None) -> None:
    """Put a database first; where that can't be written, nothing is lost but this."""
    opened = RecentProject(str(database.resolve()), annotator)
    others = [other for other in recent() if other.path != opened.path]
    with contextlib.suppress(WorkbenchError, OSError, UnicodeError):
        _place().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(_place(), msgspec.json.encode([opened, *others][:_MOST]).decode())


def _place() -> Path:
    return user_folder() / _FILE
