"""``doctor``: what is whole, what is hurt, what can be made anew; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.benchmarks.building.checking import sets_finding
from workbench.care.store import anatomy, check_texts, checks
from workbench.care.store.pages import PageFile
from workbench.care.store.rescuing import version_of
from workbench.core.database import event_digests, logs, migrations
from workbench.core.database.failures import go_back
from workbench.core.database.interrupting import interruptibly
from workbench.core.database.looking import LookedAt, looked_at
from workbench.core.errors import StoreError, WorkbenchError
from workbench.core.health import Finding
from workbench.core.progress import Stopped, stepping
from workbench.core.project import Project
from workbench.labelling.ledger import states_differ
from workbench.measuring.column_check import column_finding

_UNREADABLE = (WorkbenchError, checks.SQLError, ValueError, TypeError, LookupError, ArithmeticError)
"""What a value that is not what was stored may lead to."""

_VALUES = (
    "checked against digests: texts, gold, models and types{}; all others ({}verdicts and their scores, replies …) "
    "carry none: what is not named is whole by structure, types and rules"
)


def examine(path: Path) -> list[Finding]:
    """Check a database file: whatever it is, it is only read.

    Raises:
        StoreError: There is no such file.
    """
    checks.require_file(path)
    if not path.stat().st_size:
        what = f"it has 0 bytes: it is no database any more. {go_back(path)}"
        return [Finding(name="file", ok=False, message=what)]
    try:
        with looked_at(path) as database:
            return [*_log(path), *interruptibly(lambda: _examined(path, database), database.interrupt_readers)]
    except Stopped:
        raise
    except StoreError as error:
        # Its hint may be to run doctor.
        return _hurt(path, None) or [Finding(name="file", ok=False, message=error.message)]


def _examined(path: Path, database: LookedAt) -> list[Finding]:
    beside = checks.about_place(path)
    connection = database.reader()
    version = checks.version(connection)
    if version is not None and version > migrations.latest_version() and checks.is_ours(connection):
        known = migrations.latest_version()
        newer = f"version {version}, this program knows up to {known}: a newer workbench wrote it; install that one"
        return [
            Finding(name="schema version", ok=False, message=newer),
            _integrity(anatomy.integrity(connection)),
            *beside,
        ]
    trouble = anatomy.integrity(connection)
    hurt = _hurt(path, database) if trouble or not checks.is_ours(connection) else []
    if trouble and not hurt:
        hurt = [Finding(name="integrity", ok=False, message=trouble, remedy="repair")]
    if hurt:
        unchecked = "not checked: what is hurt comes first; what is not named is whole by structure alone"
        return [*hurt, *beside, Finding(name="contents", ok=False, message=unchecked)]
    if not checks.is_ours(connection):
        return [Finding(name="file", ok=False, message="it is an SQLite file, but no workbench database"), *beside]
    return [
        _integrity(""),
        _values(version or 0),
        *checks.about_rows(connection),
        *_contents(path, database, version or 0),
        *beside,
    ]


def _log(path: Path) -> list[Finding]:
    """The log of another copy: what is said of the rest is said of the file alone then."""
    try:
        logs.require_own(path)
    except StoreError as error:
        return [Finding(name="log", ok=False, message=str(error))]
    return []


def _values(version: int) -> Finding:
    covered = version >= event_digests.SINCE
    words = (", label events", "") if covered else ("", "labels and their notes, ")
    return Finding(name="values", ok=True, message=_VALUES.format(*words))


def _integrity(trouble: str) -> Finding:
    return Finding(name="integrity", ok=not trouble, message=trouble or "ok: every page, table and index")


def _hurt(path: Path, database: LookedAt | None) -> list[Finding]:
    """What is hurt, part by part; nothing where there is no table of ours to be found."""
    with PageFile(path, logs.own_log(path)) as file:
        try:
            version = version_of(file)
        except StoreError as error:
            return [Finding(name="schema version", ok=False, message=str(error))]
        connection = None if database is None else database.reader()
        return anatomy.hurt_parts(file, version, connection if connection and checks.can_read(connection) else None)


def _contents(path: Path, database: LookedAt, version: int) -> list[Finding]:
    project = Project(path, database)
    derived: Sequence[tuple[str, Callable[[], Finding]]] = (
        ("texts", lambda: check_texts.finding(database.reader())),
        ("labels", lambda: event_digests.finding(database.reader())),
        ("item states", lambda: _states(project)),
        ("columns", lambda: column_finding(project)),
        ("frozen sets", lambda: sets_finding(project)),
    )
    if version < migrations.latest_version():
        # The rest is of this version's tables.
        derived = derived[:1]
    return [_run(name, check) for name, check in stepping(derived, "checking", "derived parts")]


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
