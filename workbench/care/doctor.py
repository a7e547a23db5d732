"""The command ``doctor``: find damage without writing anything, and repair what can be rebuilt."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

from workbench.benchmarks.building.freezing import sets_finding
from workbench.care.rescuing import copy_readable
from workbench.care.store import anatomy
from workbench.core.database import journal, migrations
from workbench.core.database.backup import backup, check, free_name, put_in_place
from workbench.core.database.connection import interruptibly
from workbench.core.database.failures import go_back
from workbench.core.database.looking import ReadOnlyDatabase, opened_read_only
from workbench.core.errors import Command, StoreError, WorkbenchError
from workbench.core.files import cache_folder, part_folder, remove_leftovers
from workbench.core.health import Finding, Repaired
from workbench.core.progress import Stopped, stepping
from workbench.core.project import Project, opened_project
from workbench.data.formats.source import path_text
from workbench.labelling.ledger import recompute, states_differ
from workbench.measuring.column_memory import column_finding

_UNREADABLE = (WorkbenchError, anatomy.SQLError, ValueError, TypeError, LookupError, ArithmeticError)
"""Exceptions that a corrupted value may cause."""


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
        with opened_read_only(path) as database:
            return interruptibly(lambda: _database_findings(path, database), database.interrupt_readers)
    except Stopped:
        raise
    except StoreError as error:
        # The error's hint may be to run doctor.
        return [Finding(name="file", ok=False, message=f"{error.message} {go_back(path)}")]


def _database_findings(path: Path, database: ReadOnlyDatabase) -> list[Finding]:
    connection, beside = database.reader(), anatomy.check_location(path)
    try:
        version = migrations.checked_version(connection, path)
    except StoreError as error:
        return [Finding(name="file", ok=False, message=f"{error.message} {error.hint}"), *beside]
    integrity = anatomy.integrity(connection)
    if not integrity.ok:
        return [integrity, *beside]
    if version < migrations.latest_version():
        return [integrity, *beside]
    schema = anatomy.schema_findings(connection)
    project = Project(path, database)
    checks: dict[str, Callable[[], Finding]] = {
        "foreign keys": lambda: anatomy.references(connection),
        "imports": lambda: anatomy.imports(connection),
        "texts": lambda: anatomy.texts(connection),
        "labels": lambda: anatomy.labels(connection),
        "journal": lambda: anatomy.journal_finding(connection, path),
        "item states": lambda: _states_finding(project),
        "columns": lambda: column_finding(project),
        "frozen sets": lambda: sets_finding(project),
    }
    found = [_run_check(name, checks[name]) for name in stepping(checks, "checking", "parts", len(checks))]
    return [integrity, *schema, *found, *beside]


def _run_check(name: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Stopped:
        raise
    except _UNREADABLE as error:
        return Finding(name=name, ok=False, message=f"it can't be checked: {error}", remedy="rescue")


def _states_finding(project: Project) -> Finding:
    differing = states_differ(project)
    message = f"{differing:,} stored states are not what their events say" if differing else "ok"
    return Finding(name="item states", ok=not differing, message=message, remedy="repair" if differing else "")


# -- ``doctor --repair``: derived data is rebuilt; the previous file is kept.


class NotRepairedError(StoreError):
    """The damaged data is stored nowhere else in the file, so nothing can rebuild it."""

    exit_code = 3


def repair(path: Path) -> Repaired:
    """Rebuild indexes, the file itself, derived states and columns; either all repairs are made or none.

    Raises:
        NotRepairedError: Data would be lost; nothing was changed.
        StoreError: The database is open elsewhere, or can't be written.
    """
    wrong = [finding for finding in examine(path) if not finding.ok]
    # A repair that was killed may have left its temporary folder.
    remove_leftovers(path.parent)
    lost = [f"{finding.name}: {finding.message}" for finding in wrong if finding.remedy == "rescue"]
    if lost:
        raise _unrepairable_error(path, lost)
    names = {finding.name for finding in wrong if finding.remedy == "repair"}
    done, kept = [], list[Path]()
    if "integrity" in names:
        kept = _rebuild(path)
        done.append("The file was rewritten with new indexes; no row is lost.")
    elif names - {"columns", "journal"}:
        kept = [_copy_before_repair(path)]
        done += anatomy.repair_schema(path)
        if "item states" in names:
            with opened_project(path) as project:
                done.append(f"States of {recompute(project):,} tasks were derived from their events.")
    if names & {"integrity", "columns"}:
        # Files of another history are useless.
        shutil.rmtree(cache_folder(path), ignore_errors=True)
    if "journal" in names:
        old = journal.set_aside(path, free_name(path, "repair"))
        kept = [*kept, old]
        back = Command(f"labels {shlex.quote(str(path))} import {shlex.quote(str(old))}")
        done.append(
            f"The next label begins a new journal, with all labels of the database. To import the old one: {back}"
        )
    if "columns" in names:
        done.append("The column files were removed; they are rewritten when needed.")
    return Repaired(done=done, kept=[path_text(place) for place in kept])


def _rebuild(path: Path) -> list[Path]:
    with part_folder(path) as part:
        temporary = part / path.name
        found = copy_readable(path, temporary, path)
        if not found.is_whole:
            raise _unrepairable_error(
                path, [f"rows of {table.table} are lost" for table in found.tables if not table.is_whole]
            )
        check(temporary)
        return list(put_in_place(temporary, path, before="repair"))


def _copy_before_repair(path: Path) -> Path:
    place = free_name(path, "repair")
    # Also a database that can't be opened any more because its triggers were changed.
    with opened_read_only(path) as database:
        backup(database, place)
    return place


def _unrepairable_error(path: Path, lost: list[str]) -> NotRepairedError:
    return NotRepairedError(
        f"{path}: {'; '.join(lost[:3]) or 'values have changed'}. The file has no other copy of them; nothing was "
        "changed.",
        f"{go_back(path)} (or recover what can be read: {Command(f'rescue {shlex.quote(str(path))} NEW.db')})",
    )
