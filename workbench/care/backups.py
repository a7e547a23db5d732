"""Backup and doctor."""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.care.doctor import examine
from workbench.core.database.backup import backup as write_backup
from workbench.core.database.connection import Database
from workbench.core.database.failures import explained
from workbench.core.database.looking import looked_at
from workbench.core.errors import StoreError, VerifierError
from workbench.core.files import part_folder
from workbench.core.health import Finding
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.verifiers.execution.levels import LevelStatus

_SHOWN = 3
"""Attacks that came through are named up to so many, and counted beyond."""

LITTLE_SPACE = 512 * 2**20
"""Less free disk than this many bytes is reported."""


def backup(project: Project, target: Path, *, force: bool = False, discard: bool = False) -> int:
    """Write a checked copy of the database; returns its size in bytes.

    Args:
        force: Replace what stands there, unless it is a good copy with more in it, or of another project.
        discard: Replace that, too.

    Raises:
        StoreError: See ``workbench.core.database.backup``.
    """
    return write_backup(project.database, target, force=force, discard=discard)


def backup_of(path: Path, target: Path, *, force: bool = False, discard: bool = False) -> int:
    """As `backup`, for a database that may not be open; one on a full or read-only disk is copied all the same.

    Raises:
        StoreError: See ``workbench.core.database.backup``, and ``workbench.core.database.connection.Database``.
    """
    try:
        with explained(path), closing(Database(path)) as database:
            return write_backup(database, target, force=force, discard=discard)
    except StoreError as error:
        if error.cause not in ("space", "disk", "access"):
            raise
    # SQLite opens a database only where it has room for files beside it.
    with part_folder(target.with_name(f"{target.name}-read")) as part, looked_at(path, part) as database:
        return write_backup(database, target, force=force, discard=discard)


def doctor(project: Project) -> list[Finding]:
    """Check a database (pages, tables, texts, states) and the environment."""
    return diagnosis(project.path)


def diagnosis(path: Path) -> list[Finding]:
    """Check a database file, however hurt it is, and the environment; nothing is written.

    Raises:
        StoreError: There is no such file.
    """
    return [*examine(path), _disk(path), *_environment()]


def sandbox() -> list[Finding]:
    """Attack each level of the sandbox that solutions are run in, which takes some seconds.

    A level that can't be used here is no fault; one that can be and lets an attack through is.
    """
    from workbench.verifiers.execution.levels import survey

    surveyed = survey()
    best = next((found.level for found in surveyed if found.holds), None)
    used = f"solutions are run at {best}" if best else "solutions are not run without --allow-unsafe-execution"
    return [*map(_level, surveyed), Finding(name="sandbox", ok=True, message=used), *_languages()]


def _level(found: LevelStatus) -> Finding:
    name = f"sandbox {found.level}"
    if found.unusable is not None:
        return Finding(name=name, ok=True, message=f"can't be used here: {found.unusable}")
    through = [result for result in found.results if not result.held]
    message = f"{len(found.results) - len(through)} of {len(found.results)} attacks held"
    told = "; ".join(f"{result.name}: {', '.join(result.wrong)}" for result in through[:_SHOWN])
    told += f"; and {len(through) - _SHOWN} more" if len(through) > _SHOWN else ""
    return Finding(name=name, ok=not through, message=f"{message}; through came {told}" if through else message)


def _languages() -> list[Finding]:
    """Which languages besides Python solutions can be in."""
    from workbench.verifiers.execution.runners import languages, version_of

    found = []
    for language in languages():
        try:
            found.append(Finding(name=f"runner {language}", ok=True, message=version_of(language)))
        except VerifierError as error:
            found.append(Finding(name=f"runner {language}", ok=True, message=error.message))
    return found


def _disk(path: Path) -> Finding:
    free = shutil.disk_usage(path.parent).free
    ok = free >= LITTLE_SPACE
    return Finding(name="free disk", ok=ok, message="ok" if ok else f"only {free / 2**20:.0f} MiB left")


def _environment() -> list[Finding]:
    found = [Finding(name="python", ok=sys.version_info >= (3, 11), message=sys.version.split()[0])]
    for name in ("textual", "math-verify", "sympy", "sqlite-utils", "numpy"):
        try:
            found.append(Finding(name=name, ok=True, message=metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append(Finding(name=name, ok=False, message="not installed"))
    return found
