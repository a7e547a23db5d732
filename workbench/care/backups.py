"""Back up a database, restore it, and check the environment."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import closing
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.care.doctor import examine
from workbench.care.store.rescuing import is_database, prepare_backup
from workbench.core.database import journal
from workbench.core.database.backup import backup, copy_pages, free_name, put_in_place
from workbench.core.database.connection import Database
from workbench.core.database.failures import explained
from workbench.core.database.looking import ReadOnlyDatabase, file_state, opened_read_only
from workbench.core.database.place import LOGS, held_alone, require_local, sidecar_path
from workbench.core.errors import FormatError, StoreError, VerifierError, opt
from workbench.core.files import part_folder, require_input
from workbench.core.health import Finding
from workbench.data.formats.source import path_text
from workbench.interchange.records import Restored
from workbench.interchange.store.archiving import row_counts

if TYPE_CHECKING:
    from workbench.verifiers.execution.levels import LevelStatus


_MAX_NAMED = 3
"""Maximum number of successful attacks that are named; all are counted."""
MIN_FREE_BYTES = 512 * 2**20
"""Free disk bytes below which a finding is reported."""


def backup_of(path: Path, target: Path, *, force: bool = False, discard: bool = False) -> int:
    """Write a checked copy of a database that may be impossible to open, also on a full or read-only disk.

    Returns:
        Its size in bytes.

    Raises:
        StoreError: See ``workbench.core.database.backup``, and ``workbench.core.database.connection.Database``.
    """
    try:
        with explained(path), closing(Database(path)) as database:
            return backup(database, target, force=force, discard=discard)
    except StoreError as error:
        if error.cause not in ("space", "disk", "access"):
            raise
    # SQLite reads a log only with room for an index next to it.
    real = Path(os.path.realpath(path))
    ReadOnlyDatabase(real).require_other(target)
    with part_folder(target.with_name(f"{target.name}-read")) as part:
        before = file_state(real)
        for file in (one for end in ("", *LOGS) if (one := sidecar_path(real, end)).exists()):
            shutil.copyfile(file, part / file.name)
        if file_state(real) != before:
            raise StoreError(f"{path}: it has changed in the meantime.", "Try again.")
        with opened_read_only(part / real.name) as database:
            return backup(database, target, force=force, discard=discard)


def diagnosis(path: Path) -> list[Finding]:
    """Check a database file, however damaged, and the environment; nothing is written.

    Raises:
        StoreError: The file doesn't exist.
    """
    return [*examine(path), _disk_finding(path), *_environment_findings()]


def check_sandbox() -> list[Finding]:
    """Attack each isolation level of the sandbox; takes some seconds.

    A level that is unavailable here is not a fault; one that is available and lets an attack through is.
    """
    from workbench.verifiers.execution.levels import survey, survey_scratch

    surveyed = survey()
    best = next((found.level for found in surveyed if found.holds), None)
    used = f"solutions are run at {best}" if best else f"solutions are not run without {opt.allow_unsafe_execution}"
    levels = [_level_finding(f"sandbox {one.level}", one) for one in surveyed]
    scratch = _level_finding("scratch folder", survey_scratch())
    return [*levels, scratch, Finding(name="sandbox", ok=True, message=used), *_language_findings()]


def _level_finding(name: str, found: LevelStatus) -> Finding:
    if found.unusable is not None:
        return Finding(name=name, ok=True, message=f"can't be used here: {found.unusable}")
    through = [result for result in found.results if not result.held]
    message = f"{len(found.results) - len(through)} of {len(found.results)} attacks held"
    text = "; ".join(f"{result.name}: {', '.join(result.wrong)}" for result in through[:_MAX_NAMED])
    text += f"; and {len(through) - _MAX_NAMED} more" if len(through) > _MAX_NAMED else ""
    return Finding(name=name, ok=not through, message=f"{message}; through came {text}" if through else message)


def _language_findings() -> list[Finding]:
    from workbench.verifiers.execution.runners import languages, version_of

    found = []
    for language in languages():
        try:
            found.append(Finding(name=f"runner {language}", ok=True, message=version_of(language)))
        except VerifierError as error:
            found.append(Finding(name=f"runner {language}", ok=True, message=error.message))
    return found


def _disk_finding(path: Path) -> Finding:
    free = shutil.disk_usage(path.parent).free
    ok = free >= MIN_FREE_BYTES
    return Finding(name="free disk", ok=ok, message="ok" if ok else f"only {free / 2**20:.0f} MiB left")


def _environment_findings() -> list[Finding]:
    found = [Finding(name="python", ok=sys.version_info >= (3, 11), message=sys.version.split()[0])]
    for name in ("textual", "math-verify", "sympy", "numpy"):
        try:
            found.append(Finding(name=name, ok=True, message=metadata.version(name)))
        except metadata.PackageNotFoundError:
            found.append(Finding(name=name, ok=False, message="not installed"))
    return found


# -- Replacing a database by a backup: checked first, and the replaced file is kept.


def restore_backup(path: Path, target: Path) -> Restored:
    """Create a database from a backup or an archive; the file at ``target`` is replaced, and kept.

    Args:
        path: The backup or the archive.

    Raises:
        FormatError: ``path`` is not a database.
        StoreError: The backup is damaged or of a newer version; the file at ``target`` is open; or the disk is full.
    """
    require_input(path)
    if not path.is_file() or not is_database(path):
        raise FormatError(f"{path} is not a database.", "Name a backup, or an archive of this version.")
    real = Path(os.path.realpath(target))
    _require_source(path, real)
    _require_place(real)
    with part_folder(real) as part, explained(real):
        copy = part / real.name
        with opened_read_only(path) as database:
            copy_pages(database, copy)
        made = prepare_backup(copy, path, real)
        rows = row_counts(copy)
        if real.exists():
            shutil.copymode(real, copy)
        name = free_name(real, "restore")
        kept = put_in_place(copy, real)
        if made.lacking and journal.path_of(real).exists():
            kept = (*kept, journal.set_aside(real, name))
    return Restored(
        database=path_text(target),
        rows=rows,
        schema=made.version,
        beyond=made.beyond,
        kept=tuple(map(path_text, kept)),
    )


def _require_source(path: Path, target: Path) -> None:
    if not path.stat().st_size:
        raise FormatError(f"{path} has 0 bytes: it is not a backup.", "Use another one.")
    if target.exists() and target.samefile(path):
        raise StoreError(f"{path} is the database itself.", "Name a backup of it.")


def _require_place(target: Path) -> None:
    if os.path.lexists(target) and not stat.S_ISREG(target.lstat().st_mode):
        raise StoreError(f"{target} is not a regular file.", "Name another file.")
    require_local(target.parent)
    if target.exists():
        # A large backup is not copied in vain.
        with held_alone(target):
            pass
