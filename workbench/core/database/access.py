"""Whether a database may be written where it stands: SQLite writes a log and an index of it beside the file."""

from __future__ import annotations

import os
from pathlib import Path

_BESIDE = ("-wal", "-shm")


def why_unwritable(path: Path) -> str | None:
    """Why SQLite can't write a database here, in words; None where it can, or where there is none."""
    # It keeps its log beside the file itself, not beside a link to it.
    file = Path(os.path.realpath(path))
    if not file.is_file():
        return None
    beside = [file.with_name(f"{file.name}{end}") for end in _BESIDE]
    refused = [place for place in (file, *(one if one.exists() else file.parent for one in beside)) if not _may(place)]
    if not refused:
        return None
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return "its disk is read-only"
    return f"you may not write {refused[0]}"


def _may(place: Path) -> bool:
    wanted = os.W_OK | os.X_OK if place.is_dir() else os.W_OK
    return os.access(place, wanted, effective_ids=os.access in os.supports_effective_ids)
