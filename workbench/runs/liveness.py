"""Liveness of a database's runner, its launch, and the notice in its lock file."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from workbench.core import processes
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, StoreError
from workbench.core.files import append_own, open_own, opened_own
from workbench.core.processes import Process
from workbench.runs.store import runs
from workbench.runs.store.runs import LeaseRow

if TYPE_CHECKING:
    import sqlite3


# -- Why a runner can't store, since when, and how that is reported.


_BUSY_S = 10.0
"""Other processes may lock a database for this long before it is reported."""
WAITING: Mapping[str, str] = {
    "space": "waiting for space",
    "disk": "waiting for the disk",
    "busy": "waiting for another process, which keeps the database locked",
}
"""The reported state of a runner whose transactions fail, by the cause that `StoreError` names; others end its work."""


class Trouble:
    """A series of failing transactions.

    Attributes:
        error: The error of the last transaction, except for ordinary contention.
        since: When the first transaction failed, in seconds since the epoch.
        told: Whether it has been reported.
    """

    def __init__(self, error: StoreError) -> None:
        self.error = error
        self.since = processes.wall_clock()
        self.told = False
        self._began = processes.uptime()

    def meet(self, error: StoreError) -> None:
        """Record another failure, whose cause may differ."""
        if error.cause not in ("busy", self.error.cause):
            self.error, self.told = error, False

    @property
    def lasted(self) -> float:
        return processes.uptime() - self._began

    @property
    def is_worth_telling(self) -> bool:
        return self.error.cause != "busy" or self.lasted >= _BUSY_S

    def over(self) -> str:
        """Describe a resolved series: its start and end, and the error."""
        return (
            f"nothing could be stored from {clock(self.since)} to {clock(processes.wall_clock())}: {self.error.message}"
        )


def clock(seconds: float) -> str:
    """Format a local time: ``"08:57"``, with the date unless it is today's."""
    try:
        at = datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        # The stored value may be anything.
        return "an unknown time"
    today = datetime.fromtimestamp(processes.wall_clock())
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M}"


# -- A file next to the database that the runner locks, with a notice of why it can't store.


_BYTES = 1024
_TRIES = 20
_PAUSE_S = 0.01


class Notice(Struct, frozen=True):
    """A runner's notice while it may not be able to write the database.

    Attributes:
        since: When writing began to fail, in seconds since the epoch; None if it works.
        cause: The cause as `StoreError` names it.
    """

    process: Process
    since: float | None = None
    cause: str = ""


class Lock:
    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    @classmethod
    def take(cls, database: Path, process: Process) -> Lock | None:
        """Take the lock; return None if that isn't possible: then only heartbeats show liveness."""
        try:
            lock = cls(handle := opened_own(lock_path(database), os.O_RDWR | os.O_CREAT))
        except OSError:
            return None
        if _locked(handle, fcntl.LOCK_EX, _TRIES) and lock.say(Notice(process)):
            return lock
        lock.release()
        return None

    def say(self, notice: Notice) -> bool:
        """Replace the notice; return False if it can't be written."""
        if self._handle is None:
            return False
        try:
            return os.pwrite(self._handle, msgspec.json.encode(notice).ljust(_BYTES), 0) == _BYTES
        except OSError:
            return False

    def release(self) -> None:
        """Release the lock; the file stays, since another process may be about to take it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def lock_path(database: Path) -> Path:
    place = database.resolve()
    return place.with_name(f"{place.name}.runner.lock")


def look(database: Path) -> tuple[Notice | None, bool]:
    """Return the last holder's notice, and whether a process holds the lock now."""
    try:
        with open_own(lock_path(database)) as file:
            return _notice(file.read(_BYTES)), not _locked(file.fileno(), fcntl.LOCK_SH, 1)
    except OSError:
        return None, False


def _notice(text: bytes) -> Notice | None:
    try:
        return msgspec.json.decode(text, type=Notice)
    except msgspec.MsgspecError:
        return None


def _locked(handle: int, kind: int, tries: int) -> bool:
    for left in reversed(range(tries)):
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if left:
                time.sleep(_PAUSE_S)
        except OSError:
            # This file system has no such locks.
            return kind == fcntl.LOCK_SH
        else:
            return True
    return False


DEAD_AFTER_S = 10.0
"""A runner without a heartbeat for this long is silent; if its process can't be observed from here it may be dead."""


def is_alive(row: LeaseRow | None, database: Path) -> bool:
    """Return whether the process that claims to be the runner is alive, even if blocked.

    For a process on another machine only its heartbeat is available.
    """
    if row is None:
        return False
    life = _life(row, database)
    return life == "lives" or (life == "elsewhere" and abs(processes.wall_clock() - row.heartbeat) <= DEAD_AFTER_S)


def is_gone(row: LeaseRow, database: Path) -> bool:
    """Return whether the process that claims to be the runner has certainly ended."""
    return _life(row, database) == "gone"


def living_runner(connection: sqlite3.Connection, database: Path) -> bool:
    """Return whether the runner is alive; one that has ended loses its claim."""
    row = runs.lease(connection)
    if is_alive(row, database):
        return True
    if row is not None and is_gone(row, database):
        runs.drop_lease(connection)
    return False


def waiting(row: LeaseRow | None, database: Path) -> str | None:
    """Describe what a live runner waits for; None if it is working."""
    if row is None or not is_alive(row, database):
        return None
    notice, _ = look(database)
    if notice is not None and notice.process == row.process and notice.since is not None:
        return f"{WAITING.get(notice.cause, 'waiting until it can store')} since {clock(notice.since)}"
    quiet = processes.uptime() - row.beat
    if quiet <= DEAD_AFTER_S or processes.life_of(row.process) != "lives":
        return None
    return f"without a sign of life since {clock(processes.wall_clock() - quiet)}"


def silence(row: LeaseRow | None, database: Path) -> str | None:
    """Describe a runner that may be alive but has no recent heartbeat, else None."""
    if row is None or is_alive(row, database) or is_gone(row, database):
        return None
    return f"its runner, elsewhere, was last heard of at {clock(row.heartbeat)}"


def _life(row: LeaseRow, database: Path) -> processes.Life:
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


# -- Starting the runner: a separate process that outlives its starter.


_START_S = 30.0
_POLL_S = 0.02
_LOG_BYTES = 1_000_000
_LAST_BYTES = 10_000


def log_path(database: Path) -> Path:
    return database.with_name(f"{database.name}.runner.log")


def ensure_runner(database: Database) -> None:
    """Start a runner unless one is alive; to be called after the run was queued.

    Raises:
        RunError: The runner doesn't start.
    """
    if is_alive(runs.lease(database.reader()), database.path):
        return
    process = _spawn(database.path)
    # The starter has to reap the process when it ends; the app may outlive many runners.
    threading.Thread(target=process.wait, name="runner-end", daemon=True).start()
    patience = time.monotonic() + _START_S
    while not _has_started(database, process.pid):
        if process.returncode is not None:
            if process.returncode == 0:
                return
            raise RunError(
                f"The background runner ended with exit code {process.returncode}: {_last_line(database.path)}",
                f"More in {log_path(database.path)}.",
            )
        if time.monotonic() > patience:
            raise RunError("The background runner doesn't start.", f"See {log_path(database.path)}.")
        time.sleep(_POLL_S)


def _has_started(database: Database, pid: int) -> bool:
    row = runs.lease(database.reader())
    return row is not None and (row.pid == pid or is_alive(row, database.path))


def _spawn(database: Path) -> subprocess.Popen[bytes]:
    try:
        with append_own(log_path(database), _LOG_BYTES) as stream:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "workbench.runs.runner", os.fspath(database.resolve())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                start_new_session=True,
                close_fds=True,
            )
    except OSError as error:
        where = f" {error.filename}:" if error.filename else ""
        raise RunError(f"The background runner can't be started:{where} {error.strerror or error}.") from error


def _last_line(database: Path) -> str:
    try:
        with open_own(log_path(database)) as log:
            log.seek(max(os.fstat(log.fileno()).st_size - _LAST_BYTES, 0))
            lines = log.read(_LAST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError as error:
        return f"its log can't be read: {error.strerror}"
    return lines[-1] if lines else "it left no message"
