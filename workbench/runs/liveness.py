"""Whether a database's runner lives, and what can be said of one that is quiet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core import processes
from workbench.runs.lock import Notice, look
from workbench.runs.store import runs
from workbench.runs.store.runs import LeaseRow
from workbench.runs.trouble import WAITING, clock

if TYPE_CHECKING:
    import sqlite3

DEAD_AFTER_S = 10.0
"""A runner without a sign of life for so long is quiet; one that can't be seen from here may be dead then."""


def is_alive(row: LeaseRow | None, database: Path) -> bool:
    """Whether the process that claims to be the runner lives, though it may stand still.

    Of a process on another machine only its heartbeat tells.
    """
    if row is None:
        return False
    life = _life(row, database)
    return life == "lives" or (life == "elsewhere" and abs(processes.wall() - row.heartbeat) <= DEAD_AFTER_S)


def is_gone(row: LeaseRow, database: Path) -> bool:
    """Whether the process that claims to be the runner has certainly ended."""
    return _life(row, database) == "gone"


def living_runner(connection: sqlite3.Connection, database: Path) -> bool:
    """Whether the runner is alive; one that has ended loses its claim."""
    row = runs.lease(connection)
    if is_alive(row, database):
        return True
    if row is not None and is_gone(row, database):
        runs.drop_lease(connection)
    return False


def waiting(row: LeaseRow | None, database: Path) -> str | None:
    """What a runner that lives waits for, in words; None while it goes on."""
    if row is None or row.process is None or not is_alive(row, database):
        return None
    notice, _ = look(database)
    if notice is not None and notice.process == row.process and notice.since is not None:
        return _words(notice)
    if processes.life(row.process) != "lives":
        return None
    quiet = 0.0 if row.beat is None else processes.uptime() - row.beat
    since = clock(processes.wall() - quiet)
    if processes.is_stopped(row.process):
        return f"stopped since {since}; it goes on with: kill -CONT {row.process.pid}"
    return f"without a sign of life since {since}" if quiet > DEAD_AFTER_S else None


def silence(row: LeaseRow | None, database: Path) -> str | None:
    """What is known of a runner that shows no life and may live all the same; None of any other."""
    if row is None or is_alive(row, database) or is_gone(row, database):
        return None
    return f"its runner, elsewhere, was last heard of at {clock(row.heartbeat)}"


def _life(row: LeaseRow, database: Path) -> processes.Life:
    if row.process is None:
        # A program of version 8 wrote it: only its heartbeat tells.
        return "elsewhere"
    process = row.process
    here = bool(process.boot) and process.boot == processes.boot_id()
    life = processes.life_at(process, database)
    if life == "lives" or (life == "gone" and here):
        return life
    notice, held = look(database)
    said = notice is not None and notice.process == process
    if said and held:
        return "lives"
    return "gone" if life == "gone" or (said and here) else "elsewhere"


def _words(notice: Notice) -> str:
    what = next((words for cause, words in WAITING.items() if cause == notice.cause), "waiting until it can store")
    return f"{what} since {clock(notice.since or 0)}"
