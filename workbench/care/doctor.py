"""``doctor``: find what is intact, damaged or rebuildable, without writing anything."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.benchmarks.building.freezing import sets_finding
from workbench.care.rescuing import written
from workbench.care.store import anatomy
from workbench.core.database import column_files, events, migrations
from workbench.core.database.backup import backup, check, put_in_place
from workbench.core.database.connection import interruptibly
from workbench.core.database.failures import go_back
from workbench.core.database.looking import ReadOnlyDatabase, looked_at
from workbench.core.database.place import sidecar_path
from workbench.core.errors import Command, StoreError, WorkbenchError
from workbench.core.files import part_folder
from workbench.core.health import Finding, Repaired
from workbench.core.progress import Stopped, stepping
from workbench.core.project import Project, opened_project
from workbench.data.formats.source import path_text
from workbench.data.searching import index_finding
from workbench.labelling.ledger import recompute, states_differ
from workbench.measuring.columns import column_finding

_UNREADABLE = (WorkbenchError, anatomy.SQLError, ValueError, TypeError, LookupError, ArithmeticError)
"""Exceptions that a corrupted value may cause."""
_VALUES = (
    "checked against digests: texts, gold, models and types, label events; all others (verdicts and their scores, "
    "replies …) carry none: anything not named is sound in structure, types and rules"
)


def examine(path: Path) -> list[Finding]:
    """Check any file as a database, without writing to it.

    Raises:
        StoreError: The file doesn't exist.
    """
    anatomy.require_file(path)
    if not path.stat().st_size:
        what = f"it has 0 bytes: it is no longer a database. {go_back(path)}"
        return [Finding(name="file", ok=False, message=what)]
    try:
        with looked_at(path) as database:
            return interruptibly(lambda: _examined(path, database), database.interrupt_readers)
    except Stopped:
        raise
    except StoreError as error:
        # Its hint may be to run doctor.
        return [Finding(name="file", ok=False, message=f"{error.message} {go_back(path)}")]


def _examined(path: Path, database: ReadOnlyDatabase) -> list[Finding]:
    beside = anatomy.about_place(path)
    connection = database.reader()
    version = anatomy.version(connection)
    if version is None:
        # A partly damaged list of tables, or a truncated file, is read as far as possible.
        connection.execute("PRAGMA writable_schema = ON")
        version = anatomy.version(connection)
    if version is not None and anatomy.is_ours(connection) and (unknown := _unknown(version)):
        return [
            Finding(name="schema version", ok=False, message=unknown),
            _integrity(anatomy.integrity(connection)),
            *beside,
        ]
    trouble = anatomy.integrity(connection)
    if version is None:
        message = f"SQLite can't read it: {trouble}. {go_back(path)}"
        return [Finding(name="file", ok=False, message=message), *beside]
    if not anatomy.is_ours(connection):
        return [Finding(name="file", ok=False, message="it is an SQLite file, but not a workbench database"), *beside]
    if trouble:
        hurt = _hurt(connection) or [Finding(name="integrity", ok=False, message=trouble, remedy="repair")]
        unchecked = "not checked because of damage elsewhere; anything not named is sound in structure only"
        return [*hurt, *beside, Finding(name="contents", ok=False, message=unchecked)]
    return [
        _integrity(""),
        Finding(name="values", ok=True, message=_VALUES),
        *anatomy.about_rows(connection),
        *_contents(path, database, version),
        *beside,
    ]


def _unknown(version: int) -> str:
    oldest, latest = migrations.OLDEST, migrations.latest_version()
    if version > latest:
        return f"version {version}, this program knows up to {latest}: a newer workbench wrote it; install that one"
    if 1 <= version < oldest:
        released = "it was never released; the workbench that wrote it can export what is in it"
        return f"version {version}, this program needs {oldest} or newer: {released}"
    return ""


def _integrity(trouble: str) -> Finding:
    return Finding(name="integrity", ok=not trouble, message=trouble or "ok: every page, table and index")


def _hurt(connection: anatomy.Connection) -> list[Finding]:
    try:
        return anatomy.hurt_parts(connection)
    except StoreError as error:
        return [Finding(name="schema version", ok=False, message=str(error))]


def _contents(path: Path, database: ReadOnlyDatabase, version: int) -> list[Finding]:
    project = Project(path, database)
    derived: Sequence[tuple[str, Callable[[], Finding]]] = (
        ("texts", lambda: anatomy.finding(database.reader())),
        ("labels", lambda: events.finding(database.reader())),
        ("item states", lambda: _states(project)),
        ("columns", lambda: column_finding(project)),
        ("frozen sets", lambda: sets_finding(project)),
    )
    if version < migrations.latest_version():
        # The other checks apply to tables of this version.
        derived = derived[:1]
    found = [_run(name, check) for name, check in stepping(derived, "checking", "derived parts")]
    search = index_finding(project)
    return found if search is None else [*found, search]


def _run(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Stopped:
        raise
    except _UNREADABLE as error:
        return Finding(name=name, ok=False, message=f"it can't be checked: {error}", remedy="rescue")


def _states(project: Project) -> Finding:
    differing = states_differ(project)
    message = f"{differing:,} stored states are not what their events say" if differing else "ok"
    return Finding(name="item states", ok=not differing, message=message, remedy="repair" if differing else "")


# -- ``doctor --repair``: derived data is rebuilt; the previous file is kept.


_BESIDE = {"columns", "search"}
_IN_PLACE = {"schema", "item states", *_BESIDE}
"""Repairs that are possible while others work."""


class NotRepairedError(StoreError):
    """The damaged data is stored nowhere else in the file, so nothing can rebuild it."""

    exit_code = 3


def repair(path: Path) -> Repaired:
    """Rebuild what can be rebuilt, whole or not at all: indexes and the file itself, states, columns.

    Raises:
        NotRepairedError: Data would be lost; nothing was changed.
        StoreError: The database is open elsewhere, or can't be written.
    """
    wrong = [finding for finding in examine(path) if not finding.ok]
    lost = [finding for finding in wrong if finding.remedy == "rescue"]
    if lost:
        raise _refused(path, lost)
    names = [finding.name for finding in wrong if finding.remedy == "repair"]
    if not names:
        return Repaired(done=[], kept=[])
    done, kept = [], list[Path]()
    if not set(names) <= _IN_PLACE:
        kept = _rebuild(path)
        done.append(f"The file was rewritten ({', '.join(names)}); no row is lost.")
    elif set(names) - _BESIDE:
        kept = [_copy(path)]
        done += anatomy.put_right_in(path)
        if "item states" in names:
            with opened_project(path) as project:
                done.append(f"States of {recompute(project):,} tasks were derived from their events.")
    if set(names) & _BESIDE or not set(names) <= _IN_PLACE:
        # Files of another history are useless.
        shutil.rmtree(column_files.folder(path), ignore_errors=True)
    if set(names) & _BESIDE:
        done.append("The column files were removed; they are rewritten when needed.")
    return Repaired(done=done, kept=[path_text(place) for place in kept])


def _rebuild(path: Path) -> list[Path]:
    with part_folder(path) as part:
        temporary = part / path.name
        found = written(path, temporary, path)
        if not found.is_whole:
            raise _refused(path, [])
        check(temporary)
        return list(put_in_place(temporary, path, before="repair"))


def _copy(path: Path) -> Path:
    number = 1
    while sidecar_path(path, f".before-repair-{number}").exists():
        number += 1
    place = sidecar_path(path, f".before-repair-{number}")
    # Also a database that can't be opened any more because its triggers were changed.
    with looked_at(path) as database:
        backup(database, place)
    return place


def _refused(path: Path, lost: list[Finding]) -> NotRepairedError:
    named = "; ".join(f"{finding.name}: {finding.message}" for finding in lost[:3]) or "some rows can't be read"
    return NotRepairedError(
        f"{path}: {named}. It is stored nowhere else in the file; nothing was changed.",
        f"{go_back(path)} (or recover what can be read: {Command(f'rescue {shlex.quote(str(path))} NEW.db')})",
    )
