"""How runs stand: one look, or many until a run has ended."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.errors import RunError, UsageError
from workbench.core.project import Project
from workbench.core.run import ACTIVE, RunInfo
from workbench.runs.launch import ensure_runner, log_path
from workbench.runs.liveness import is_alive, living_runner, silence, waiting
from workbench.runs.store import provenance, test_results, usage
from workbench.runs.store import runs as stored_runs
from workbench.runs.store import verdicts as stored_verdicts
from workbench.runs.store.runs import LeaseRow, RunRow
from workbench.runs.store.verdict_calls import has_recorded

if TYPE_CHECKING:
    import sqlite3

_LOOK_S = 0.2
_RESTARTS = 3
_PACE_S = 10.0
_MOST_FAILURES = 5


def run_info(project: Project, run: int) -> RunInfo:
    """A run with its verdicts counted by word and by reason, and what they rest on.

    Raises:
        UsageError: There is no such run.
    """
    reader = project.database.reader()
    info = _summary(project, run_row(reader, run), stored_runs.lease(reader))
    verdicts = stored_verdicts.by_outcome(reader, run)
    reasons, recorded = stored_verdicts.by_reason(reader, run), has_recorded(reader, run)
    return structs.replace(
        info,
        verdicts=verdicts,
        reasons=reasons,
        timeouts=stored_verdicts.by_timeout(reader, run),
        failures=_failures(reader, run) if verdicts["error"] else [],
        recorded=recorded,
        isolations=test_results.levels(reader, run) or None,
        provenance=provenance.of_run(reader, run),
    )


def _failures(connection: sqlite3.Connection, run: int) -> list[str]:
    """The servers' and programs' own words on a run's errors, each with how often."""
    found = stored_verdicts.failures(connection, run, _MOST_FAILURES)
    return [f"{count:,} × {reason}: {words}" if words else f"{count:,} × {reason}" for reason, words, count in found]


def runs(project: Project) -> list[RunInfo]:
    """All runs, oldest first, without counts by word; cheap enough to ask every second."""
    reader = project.database.reader()
    lease = stored_runs.lease(reader)
    return [_summary(project, row, lease) for row in stored_runs.every(reader)]


def wait(project: Project, run: int, on_progress: Callable[[RunInfo], None] | None = None) -> RunInfo:
    """Wait until a run is no longer at work; a runner that died is replaced.

    Args:
        on_progress: Called a few times a second with the run as it stands.

    Raises:
        UsageError: There is no such run.
        RunError: No runner starts, or it ends again and again without a new verdict.
    """
    watch = Watch(project)
    starts, done = 0, -1
    while True:
        began = time.monotonic()
        info = watch.run(run)
        cost = time.monotonic() - began
        if on_progress is not None:
            on_progress(info)
        if info.state not in ACTIVE:
            return run_info(project, run)
        if info.done != done:
            starts, done = 0, info.done
        if not info.alive:
            starts += 1
            if starts > _RESTARTS:
                raise _give_up(project, run)
            ensure_runner(project.database)
        # At a million verdicts counting takes a while; leave the machine to the runner.
        time.sleep(max(_LOOK_S, 4 * cost))


class Watch:
    """Looks at runs again and again, and so knows how fast they are."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._seen: dict[int, list[tuple[float, int]]] = {}

    def run(self, run: int) -> RunInfo:
        """One run without counts by word, with its rate and the time it still needs.

        Raises:
            UsageError: There is no such run.
        """
        return self._paced(light_info(self._project, run))

    def runs(self) -> list[RunInfo]:
        """All runs, with the rate of those at work."""
        return [self._paced(info) for info in runs(self._project)]

    def _paced(self, info: RunInfo) -> RunInfo:
        if info.state != "running":
            self._seen.pop(info.run, None)
            return info
        now = time.monotonic()
        seen = self._seen.setdefault(info.run, [])
        seen.append((now, info.done))
        while len(seen) > 2 and seen[1][0] < now - _PACE_S:
            del seen[0]
        then, before = seen[0]
        if info.done <= before:
            return info
        rate = (info.done - before) / (now - then)
        return structs.replace(info, rate=rate, eta=(info.items - info.done) / rate)


def run_row(connection: sqlite3.Connection, run: int) -> RunRow:
    """A run's row.

    Raises:
        UsageError: There is no such run.
    """
    row = stored_runs.get(connection, run)
    if row is None:
        known = ", ".join(str(found.id) for found in stored_runs.every(connection)) or "none yet"
        raise UsageError(f"There is no run {run}.", f"Runs: {known}.")
    return row


def light_info(project: Project, run: int) -> RunInfo:
    """A run without counts by word.

    Raises:
        UsageError: There is no such run.
    """
    reader = project.database.reader()
    return _summary(project, run_row(reader, run), stored_runs.lease(reader))


def _summary(project: Project, row: RunRow, lease: LeaseRow | None) -> RunInfo:
    """What is known without counting by word; a complete run's verdicts were counted when it ended."""
    connection = project.database.reader()
    done = row.items if row.state == "complete" else stored_verdicts.count(connection, row.id)
    worked_on = row.state == "running" and lease is not None
    return RunInfo(
        run=row.id,
        verifier=row.verifier.name,
        kind=row.verifier.kind,
        version=row.version,
        selection=str(row.selection),
        state=row.state,
        request=row.request,
        items=row.items,
        done=done,
        workers=row.workers,
        pid=lease.pid if lease and worked_on else None,
        heartbeat=_timestamp(lease.heartbeat) if lease and worked_on else None,
        alive=is_alive(lease, project.path),
        waiting=_waiting(lease, project.path) if row.state in ACTIVE else None,
        trouble=row.trouble,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        completed_at=row.completed_at,
        message=row.message,
        usage=usage.get(connection, row.id),
    )


def _waiting(lease: LeaseRow | None, database: Path) -> str | None:
    return waiting(lease, database) or silence(lease, database)


def _timestamp(seconds: float) -> str | None:
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        # Whoever wrote it down may have written anything.
        return None
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _give_up(project: Project, run: int) -> RunError:
    message = f"The background runner ended {_RESTARTS} times without a new verdict."
    with project.database.write() as connection:
        if not living_runner(connection, project.path):
            stored_runs.settle(connection, run, "failed", message)
    return RunError(message, f"See {log_path(project.path)}.")
