"""A backup in the place of a database: checked first, and what stood there is kept."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
from pathlib import Path

from workbench.care import restoring
from workbench.care.store.bringing_back import bring_back, is_database, row_counts
from workbench.core.database import logs
from workbench.core.database.failures import explained
from workbench.core.database.filesystem import require_local
from workbench.core.database.replacing import put_in_place
from workbench.core.database.users import beside, require_unused
from workbench.core.errors import FormatError, StoreError
from workbench.core.files import part_folder
from workbench.core.progress import BYTES, step
from workbench.data.formats.source import path_text
from workbench.interchange.model_archive import Restored

_CHUNK = 1 << 22


def restore(path: Path, target: Path) -> Restored:
    """Make a database of a backup or an archive; a backup takes the place of what stands at ``target``, which is kept.

    A database that another copy was put over by hand is restored from itself: as it stands in its file, without the
    log that isn't its own.

    Args:
        path: The backup or the archive.
        target: The database. An archive is read back only where nothing stands yet.

    Raises:
        FormatError: The archive is damaged, was written by a newer version, or ``path`` is neither.
        StoreError: The same of a backup; or somebody has one of the two open, or there is no room.
    """
    if not path.is_file() or not is_database(path):
        return restoring.restore(path, target)
    real = Path(os.path.realpath(target))
    itself = real.exists() and real.samefile(path)
    _require_source(path, itself=itself)
    _require_place(real, path)
    with part_folder(real) as part, explained(real):
        copy = part / real.name
        for end in ("",) if itself else ("", *logs.ENDS):
            if beside(path, end).exists():
                _copy(beside(path, end), beside(copy, end))
        schema = bring_back(copy, path)
        rows = row_counts(copy)
        if real.exists():
            shutil.copymode(real, copy)
        kept = put_in_place(copy, real)
    return Restored(
        database=path_text(target),
        rows=rows,
        left_out={},
        schema=schema,
        code_version=None,
        kept=tuple(map(path_text, kept)),
    )


def _require_source(path: Path, *, itself: bool) -> None:
    if not path.stat().st_size:
        raise FormatError(f"{path} has 0 bytes: it is no backup.", "Take another one.")
    if not itself:
        logs.require_own(path)
    elif logs.foreign_log(path) is None:
        raise StoreError(f"{path} is the database itself, and what lies beside it is its own.", "Name a backup of it.")
    try:
        require_unused(path)
    except StoreError as error:
        take = f"workbench backup {shlex.quote(str(path))} FILE"
        raise StoreError(error.message, f"{error.hint} Or take a backup of it: {take}") from error


def _require_place(target: Path, path: Path) -> None:
    if not target.parent.is_dir():
        raise StoreError(f"{target.parent}: there is no such folder.", "Make it first.")
    if os.path.lexists(target) and not stat.S_ISREG(target.lstat().st_mode):
        raise StoreError(f"{target} is no regular file.", "Name another file.")
    require_local(target.parent)
    require_unused(target)
    wanted, free = path.stat().st_size, shutil.disk_usage(target.parent).free
    if wanted > free:
        raise StoreError(
            f"{target}: the backup has {wanted >> 20:,} MiB and {free >> 20:,} MiB are free.", "Make room."
        )


def _copy(source: Path, target: Path) -> None:
    try:
        with source.open("rb") as file, target.open("xb") as copy, step("copying", source.stat().st_size, BYTES) as on:
            while held := file.read(_CHUNK):
                copy.write(held)
                on(len(held))
    except OSError as error:
        raise StoreError(f"{error.filename or target}: {error.strerror}.", "Nothing was replaced.") from error
