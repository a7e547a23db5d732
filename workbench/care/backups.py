"""Back up a database, restore it from archives and backups, and check the environment."""

from __future__ import annotations

import os
import shlex
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from heapq import merge
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from workbench.benchmarks.building import comparing
from workbench.care.doctor import examine
from workbench.care.store.rescuing import is_database, prepare_backup, row_counts
from workbench.core.database import migrations, schema, sets
from workbench.core.database.backup import backup, check, put_in_place
from workbench.core.database.connection import Database
from workbench.core.database.failures import explained
from workbench.core.database.looking import opened_read_only
from workbench.core.database.place import LOGS, require_local, require_nothing, require_unused, sidecar_path
from workbench.core.errors import Command, FormatError, StoreError, UsageError, VerifierError, opt
from workbench.core.files import part_folder
from workbench.core.health import Finding
from workbench.core.progress import BYTES, step
from workbench.core.project import opened_project
from workbench.core.sets import SetName
from workbench.data.formats.source import path_text
from workbench.interchange.archive import Archive, opened_archive, require_event
from workbench.interchange.records import Manifest, Member, Restored
from workbench.interchange.store.archiving import CALLS, EVENTS, PARTS, ArchiveRefused, ArchiveTable, NewDatabase
from workbench.labelling.ledger import recompute

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
    # SQLite can open a database only if there is room for files next to it.
    with part_folder(target.with_name(f"{target.name}-read")) as part, opened_read_only(path, part) as database:
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


def check_node_sandboxes(address: str) -> list[Finding]:
    """Run `check_sandbox` on every node of a Ray cluster; the node's name precedes its findings.

    Raises:
        UsageError: The address is not valid for a cluster, or Ray is not installed.
        RunError: The cluster doesn't exist, or has no working node.
    """
    # Import Ray only if there is a cluster.
    from workbench.runs.cluster import call_on_nodes

    found = list[Finding]()
    for name, told in call_on_nodes(address, check_sandbox):
        if isinstance(told, list):
            found += (structs.replace(one, name=f"node {name}: {one.name}") for one in told)
        else:
            found.append(Finding(name=f"node {name}", ok=False, message=f"can't be attacked: {told}"))
    return found


def _level_finding(name: str, found: LevelStatus) -> Finding:
    if found.unusable is not None:
        return Finding(name=name, ok=True, message=f"can't be used here: {found.unusable}")
    through = [result for result in found.results if not result.held]
    message = f"{len(found.results) - len(through)} of {len(found.results)} attacks held"
    told = "; ".join(f"{result.name}: {', '.join(result.wrong)}" for result in through[:_MAX_NAMED])
    told += f"; and {len(through) - _MAX_NAMED} more" if len(through) > _MAX_NAMED else ""
    return Finding(name=name, ok=not through, message=f"{message}; through came {told}" if through else message)


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


# -- Reading an archive back into a new database.


_Row = tuple[Any, ...]


def restore(path: Path, target: Path) -> Restored:
    """Create a database from an archive: fill its tables, then derive all states. It appears whole or not at all.

    An archive with an earlier version of the tables is migrated as a database of that version would be.

    Args:
        path: The archive.
        target: The new database; the path must not exist.

    Raises:
        FormatError: The archive is damaged, was written by a newer version, or is not an archive.
        StoreError: ``target`` exists or can't be written.
    """
    require_nothing(target)
    with opened_archive(path) as archive:
        manifest = archive.manifest
        _require_readable(path, manifest)
        _require_room(target, manifest)
        with part_folder(target) as part, explained(target):
            temporary = part / target.name
            _fill_database(archive, temporary)
            _derive_states(temporary)
            _require_valid_sets(archive, temporary)
            check(temporary)
            # In the meantime another process may have created the path.
            require_nothing(target)
            kept = put_in_place(temporary, target)
    return Restored(
        database=path_text(target),
        rows={member.name: member.lines for member in manifest.members},
        left_out=manifest.left_out,
        schema=manifest.schema,
        code_version=manifest.code_version,
        kept=tuple(map(path_text, kept)),
    )


def _require_readable(path: Path, manifest: Manifest) -> None:
    if manifest.schema > migrations.latest_version():
        raise FormatError(
            f"{path}: its tables have version {manifest.schema}; this program knows up to "
            f"{migrations.latest_version()}.",
            "It was written by a newer workbench: install that one.",
        )
    there = {part.name for part in schema.parts(manifest.schema)}
    known = {part.name for part in PARTS if part.table in there}
    names = {member.name for member in manifest.members}
    wrong = names - known or known - names - set(CALLS)
    if manifest.schema < migrations.OLDEST or wrong:
        differing = ", ".join(sorted(wrong)) or f"version {manifest.schema} of the tables"
        raise FormatError(f"{path}: workbench did not write this: {differing}.", "Get another copy of it.")


def _require_room(target: Path, manifest: Manifest) -> None:
    require_local(target.parent)
    wanted = sum(member.bytes for member in manifest.members)
    free = shutil.disk_usage(target.parent).free
    if wanted > free:
        raise StoreError(
            f"{target}: the archive holds {wanted >> 20:,} MiB of rows, but only {free >> 20:,} MiB are free.",
            "Free some space.",
        )


def _fill_database(archive: Archive, path: Path) -> None:
    new = NewDatabase(path, archive.manifest.schema)
    reading = _ArchiveReading(archive, new)
    try:
        new.fill(reading.parts())
    except ArchiveRefused as error:
        raise reading.refused(str(error)) from error
    new.bring_up_to_date()


def _derive_states(database: Path) -> None:
    with opened_project(database) as project:
        recompute(project)


def _require_valid_sets(archive: Archive, database: Path) -> None:
    with opened_project(database) as project:
        for found in sets.all_sets(project.database.reader()):
            try:
                SetName.parse(found.name)
                comparing.settings_of(found)
                comparing.report_of(found)
            except (StoreError, UsageError) as error:
                raise archive.damaged(f"a set is invalid: {error}") from error


class _PlacedRow(NamedTuple):
    member: Member
    line: int
    row: _Row


class _ArchiveReading:
    def __init__(self, archive: Archive, new: NewDatabase) -> None:
        self._archive, self._new = archive, new
        self._members = {member.name: member for member in archive.manifest.members}
        self._last: _PlacedRow | None = None

    def parts(self) -> Iterator[tuple[ArchiveTable, Iterable[_Row]]]:
        parts = [part for part in PARTS if part.name in self._members]
        for part in parts:
            self._require_columns(part)
        for part in parts:
            if part.name == EVENTS[0]:
                yield part, self._event_rows()
            elif part.name not in EVENTS:
                yield part, self._remember_last(self._member_rows(part.name))
        self._last = None

    def _event_rows(self) -> Iterator[_Row]:
        names = list(self._members[EVENTS[0]].columns)
        for row in self._remember_last(merge(*map(self._member_rows, EVENTS), key=lambda placed: placed.row[0])):
            require_event(dict(zip(names, row, strict=True)))
            yield row

    def refused(self, why: str) -> FormatError:
        last = self._last
        return self._archive.damaged(why) if last is None else self._archive.damaged(why, last.member, last.line)

    def _require_columns(self, part: ArchiveTable) -> None:
        member, wanted = self._members[part.name], self._new.columns(part)
        if list(member.columns.items()) != list(wanted.items()):
            differing = ", ".join(sorted(member.columns.keys() ^ wanted.keys())) or "their kinds or their order"
            raise self._archive.damaged(f"its columns are not those of its table: {differing}", member)

    def _member_rows(self, name: str) -> Iterator[_PlacedRow]:
        member = self._members[name]
        return (_PlacedRow(member, number, row) for number, row in self._archive.rows(member))

    def _remember_last(self, rows: Iterable[_PlacedRow]) -> Iterator[_Row]:
        for placed in rows:
            self._last = placed
            yield placed.row


# -- Replacing a database by a backup: checked first, and the replaced file is kept.


_CHUNK = 1 << 22


def restore_backup(path: Path, target: Path) -> Restored:
    """Create a database from a backup or an archive; a backup replaces the file at ``target``, which is kept.

    Args:
        path: The backup or the archive.
        target: The database. An archive is restored only to a path that doesn't exist.

    Raises:
        FormatError: The archive is damaged, was written by a newer version, or ``path`` is neither.
        StoreError: The backup is damaged or of a newer version; one of the two files is open; or the disk is full.
    """
    if not path.is_file() or not is_database(path):
        return restore(path, target)
    real = Path(os.path.realpath(target))
    _require_source(path, real)
    _require_place(real)
    with part_folder(real) as part, explained(real):
        copy = part / real.name
        for end in ("", *LOGS):
            if sidecar_path(path, end).exists():
                _copy_file(sidecar_path(path, end), sidecar_path(copy, end))
        schema = prepare_backup(copy, path)
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


def _require_source(path: Path, target: Path) -> None:
    if not path.stat().st_size:
        raise FormatError(f"{path} has 0 bytes: it is not a backup.", "Use another one.")
    if target.exists() and target.samefile(path):
        raise StoreError(f"{path} is the database itself.", "Name a backup of it.")
    try:
        require_unused(path)
    except StoreError as error:
        take = Command(f"backup {shlex.quote(str(path))} FILE")
        raise StoreError(error.message, f"{error.hint} Or make a backup of it", command=take) from error


def _require_place(target: Path) -> None:
    if os.path.lexists(target) and not stat.S_ISREG(target.lstat().st_mode):
        raise StoreError(f"{target} is not a regular file.", "Name another file.")
    require_local(target.parent)
    require_unused(target)


def _copy_file(source: Path, target: Path) -> None:
    try:
        with source.open("rb") as file, target.open("xb") as copy, step("copying", source.stat().st_size, BYTES) as on:
            while held := file.read(_CHUNK):
                copy.write(held)
                on(len(held))
    except OSError as error:
        raise StoreError(f"{error.filename or target}: {error.strerror}.", "Nothing was replaced.") from error
