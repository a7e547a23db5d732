"""Liveness of a database's runner, its launch, and the notice in its lock file."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.errors import RunError, StoreError
from workbench.core.files import FileLock, append_own, is_locked, open_own, take_lock
from workbench.runs.store import runs
from workbench.runs.store.runs import LeaseRow, RunRow

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
        self.since = time.time()
        self.told = False
        self._began = time.monotonic()

    def meet(self, error: StoreError) -> None:
        """Record another failure, whose cause may differ."""
        if error.cause not in ("busy", self.error.cause):
            self.error, self.told = error, False

    @property
    def lasted(self) -> float:
        return time.monotonic() - self._began

    @property
    def is_worth_telling(self) -> bool:
        return self.error.cause != "busy" or self.lasted >= _BUSY_S

    def over(self) -> str:
        """Describe a resolved series: its start and end, and the error."""
        return f"nothing could be stored from {clock(self.since)} to {clock(time.time())}: {self.error.message}"


def clock(seconds: float) -> str:
    """Format a local time: ``"08:57"``, with the date unless it is today's."""
    try:
        at = datetime.fromtimestamp(seconds)
    except (ValueError, OverflowError, OSError):
        # The stored value may be anything.
        return "an unknown time"
    today = datetime.fromtimestamp(time.time())
    return f"{at:%H:%M}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M}"


# -- A file next to the database that its runner locks; it says why nothing can be stored.


_BYTES = 1024
_QUIET_S = 10.0
"""A runner without a heartbeat for this long is reported."""


class Notice(Struct, frozen=True):
    """A runner's notice while it may not be able to write the database.

    Attributes:
        since: When writing began to fail, in seconds since the epoch; None if it works.
        cause: The cause as `StoreError` names it.
    """

    since: float | None = None
    cause: str = ""


class Lock:
    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    @classmethod
    def take(cls, database: Path) -> Lock | None:
        """Take the lock; return None if another process has it.

        Raises:
            RunError: The file can't be locked.
        """
        place = lock_path(database)
        try:
            held = take_lock(place)
        except OSError as error:
            raise RunError(f"The file {place} can't be locked: {error.strerror}.", "Move it away.") from error
        if held is None:
            return None
        lock = cls(held)
        lock.say(Notice())
        return lock

    def say(self, notice: Notice) -> None:
        """Replace the notice, if that is possible."""
        if self._lock.descriptor is not None:
            with suppress(OSError):
                os.pwrite(self._lock.descriptor, msgspec.json.encode(notice).ljust(_BYTES), 0)

    def release(self) -> None:
        """Release the lock; the file stays, since another process may be about to take it."""
        self._lock.release(remove=False)


def lock_path(database: Path) -> Path:
    place = database.resolve()
    return place.with_name(f"{place.name}.runner.lock")


def look(database: Path) -> tuple[Notice, bool]:
    """Return the last holder's notice, and whether a process holds the lock now, or may hold it."""
    notice, place = Notice(), lock_path(database)
    with suppress(OSError), open_own(place) as file:
        notice = _notice(file.read(_BYTES))
    return notice, is_locked(place)


def _notice(text: bytes) -> Notice:
    try:
        return msgspec.json.decode(text, type=Notice)
    except msgspec.MsgspecError:
        return Notice()


def is_alive(row: LeaseRow | None, database: Path) -> bool:
    """Return whether the process that claims to be the runner is alive, even if blocked."""
    return row is not None and look(database)[1]


def living_runner(connection: sqlite3.Connection, database: Path) -> bool:
    """Return whether the runner is alive; one that has ended loses its claim."""
    if is_alive(runs.lease(connection), database):
        return True
    runs.drop_lease(connection)
    return False


def waiting(row: LeaseRow | None, database: Path) -> str | None:
    """Describe what a live runner waits for; None if it is working."""
    notice, held = look(database)
    if row is None or not held:
        return None
    if notice.since is not None:
        return f"{WAITING.get(notice.cause, 'waiting until it can store')} since {clock(notice.since)}"
    quiet = time.monotonic() - row.beat
    return None if quiet <= _QUIET_S else f"without a sign of life since {clock(time.time() - quiet)}"


# -- Trials, whose process holds a lock.


def trial_lock_path(database: Path, trial: str) -> Path:
    place = database.resolve()
    return place.with_name(f"{place.name}.{trial.replace('/', '-')}.lock")


def interrupted_trials(database: Database) -> list[RunRow]:
    """Return runs of trials that were interrupted by the end of their process."""
    return [
        run
        for run in runs.trials(database.reader())
        if not is_locked(trial_lock_path(database.path, run.verifier.name))
    ]


def remove_trial(database: Database, connection: sqlite3.Connection, trial: RunRow) -> None:
    """Delete the run of a trial, in the caller's transaction."""
    trial_lock_path(database.path, trial.verifier.name).unlink(missing_ok=True)
    runs.remove(connection, trial.id)


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
