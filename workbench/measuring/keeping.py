"""Keeps the matters that need metrics in a file until the database changes: they take longer than all others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.config.file import file_of
from workbench.core.database.place import sidecar_path
from workbench.core.files import cache_folder, cached_file, read_cached
from workbench.core.project import Project
from workbench.core.status import Matter

_MAX_BYTES: Final = 2**20
_UNSURE_SECONDS: Final = 2
"""Age below which a file's time doesn't tell a change from the next one."""


class _KnownMatters(Struct, frozen=True):
    state: str
    matters: list[Matter]


def state_of(project: Project) -> str:
    """Identify what matters are found from: code, settings and the database; "" while one of them is being written."""
    place, about = project.path.resolve(), list[os.stat_result]()
    for path in (place, sidecar_path(place, "-wal"), file_of(project.path), *Path(__file__).parents[1].rglob("*.py")):
        with suppress(FileNotFoundError):
            about.append(path.stat())
    if time.time() - max((one.st_mtime for one in about), default=0.0) < _UNSURE_SECONDS:
        return ""
    return blake2b(repr([(one.st_mtime_ns, one.st_size) for one in about]).encode()).hexdigest()


def cached_matters(project: Project, state: str, find: Callable[[], list[Matter]]) -> list[Matter]:
    path = cache_folder(project.path) / "briefing.json"
    with suppress(OSError, msgspec.MsgspecError):
        known = msgspec.json.decode(read_cached(path, _MAX_BYTES), type=_KnownMatters)
        if known.state == state:
            return known.matters
    found = find()
    if state:
        with suppress(OSError), cached_file(path) as file:
            file.write(msgspec.json.encode(_KnownMatters(state, found)))
    return found
