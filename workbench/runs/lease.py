"""One runner per database: it holds the lock on a file next to it, and each of its transactions checks that it does.

A replaced runner detects that before it can store anything. The lock is free once its process is gone; a blocked one
(a suspended machine, a debugger, a full disk) counts as alive.
"""

from __future__ import annotations

import logging
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.errors import Command, RunError, StoreError
from workbench.core.files import FileLock, append_own, is_locked, open_own, take_lock
from workbench.runs.store import runs

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


# -- The file that the runner locks; it names the process, and says why nothing can be stored.


_BYTES = 1024
_QUIET_S = 10.0
"""A runner without a heartbeat for this long is reported."""


class Notice(Struct, frozen=True):
    """The content of a runner's file.

    Attributes:
        pid: Its process; None if that is unknown.
        heartbeat: Time of its last transaction, in seconds since the epoch.
        beat: The same time by `time.monotonic`, which users can't set and all processes of a boot share.
        since: When writing began to fail, in seconds since the epoch; None if it works.
        cause: The cause as `StoreError` names it.
    """

    pid: int | None = None
    heartbeat: float = 0.0
    beat: float = math.inf
    since: float | None = None
    cause: str = ""


def lock_path(database: Path) -> Path:
    place = database.resolve()
    return place.with_name(f"{place.name}.runner.lock")


def trial_lock_path(database: Path, trial: str) -> Path:
    """Return the file that the process of a trial locks."""
    place = database.resolve()
    return place.with_name(f"{place.name}.{trial.replace('/', '-')}.lock")


def look(database: Path) -> tuple[Notice, bool]:
    """Return the last holder's notice, and whether a process holds the lock now, or may hold it."""
    notice, place = Notice(), lock_path(database)
    with suppress(OSError, msgspec.MsgspecError), open_own(place) as file:
        notice = msgspec.json.decode(file.read(_BYTES), type=Notice)
    return notice, is_locked(place)


def is_alive(database: Path) -> bool:
    """Return whether the database has a runner, even if it is blocked."""
    return is_locked(lock_path(database))


def waiting(notice: Notice) -> str | None:
    """Describe what a live runner waits for; None if it is working."""
    if notice.since is not None:
        return f"{WAITING.get(notice.cause, 'waiting until it can store')} since {clock(notice.since)}"
    quiet = time.monotonic() - notice.beat
    return None if quiet <= _QUIET_S else f"without a sign of life since {clock(time.time() - quiet)}"


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
        RunError: The runner doesn't start. `wait` replaces one that starts and then dies.
    """
    if is_alive(database.path):
        return
    process = _spawn(database.path)
    # The starter has to reap the process when it ends; the app may outlive many runners.
    threading.Thread(target=process.wait, name="runner-end", daemon=True).start()
    patience = time.monotonic() + _START_S
    while not is_alive(database.path):
        if process.returncode is not None:
            if process.returncode == 0 or look(database.path)[0].pid == process.pid:
                return
            raise RunError(
                f"The background runner ended with exit code {process.returncode}: {_last_line(database.path)}",
                f"More in {log_path(database.path)}.",
            )
        if time.monotonic() > patience:
            raise RunError("The background runner doesn't start.", f"See {log_path(database.path)}.")
        time.sleep(_POLL_S)


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


# -- The claim to be the runner.


_BEAT_S = 1.0
_PAUSE_S = 0.5
_GLANCE_S = 0.2
_FINAL_WAIT_S = 10.0
"""An ending process waits this long for other writers: its results have been paid for."""
Result = TypeVar("Result")
_log = logging.getLogger("workbench.runner")


class LeaseLost(Exception):
    """Another process has become the runner."""


class Postponed(Exception):
    """The run waits for an event that needs no action here, and another run is ready."""


class Lease:
    """This process's claim to be the runner of a database.

    Attributes:
        ending: Whether this process is to end: then it waits only briefly for other writers, and not for the disk.
    """

    def __init__(self, database: Database, lock: FileLock) -> None:
        self._database = database
        self._lock = lock
        self._trouble: Trouble | None = None
        self.ending = False
        self._say()

    @classmethod
    def acquire(cls, database: Database) -> Lease | None:
        """Claim to be the runner; return None if another runner is alive.

        Raises:
            RunError: The lock's file can't be locked.
        """
        place, until = lock_path(database.path), time.monotonic() + _GLANCE_S
        try:
            while (lock := take_lock(place)) is None:
                # Who looks at the lock holds it for an instant.
                if time.monotonic() > until:
                    return None
                time.sleep(_PAUSE_S / 10)
        except OSError as error:
            raise RunError(f"The file {place} can't be locked: {error.strerror}.", "Move it away.") from error
        return cls(database, lock)

    @contextmanager
    def write(self, *, patient: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a transaction that only the runner gets.

        Args:
            patient: Whether to wait for seconds while another process locks the database; else fail soon.

        Raises:
            LeaseLost: This process is no longer the runner.
            StoreError: The database could not be written.
        """
        try:
            with self._database.write(patient=patient) as connection:
                if not self._lock.is_held:
                    raise LeaseLost
                if self._trouble is not None and self._trouble.told:
                    runs.note_trouble(connection, self._trouble.over())
                yield connection
        except StoreError as error:
            self._meet(error)
            raise
        self._say()
        self._recover()

    def store(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run work in one transaction, and retry while others write or the disk is full.

        Raises:
            LeaseLost: This process is no longer the runner.
            StoreError: The database can't be written; see `gives_up`.
        """
        while True:
            try:
                with self.write() as connection:
                    return work(connection)
            except StoreError as error:
                if self.gives_up(error):
                    raise
            time.sleep(_PAUSE_S)

    def gives_up(self, error: StoreError) -> bool:
        """Return whether to stop waiting after a transaction failed with this error."""
        if error.cause == "busy":
            return self.ending and self._trouble is not None and self._trouble.lasted > _FINAL_WAIT_S
        return self.ending or error.cause not in WAITING

    @property
    def trouble(self) -> Trouble | None:
        """Return what has prevented transactions for longer than ordinary contention, else None."""
        trouble = self._trouble
        return trouble if trouble is not None and trouble.is_worth_telling else None

    def beat(self) -> None:
        if time.monotonic() - self._beaten >= _BEAT_S:
            self.store(lambda _: None)

    def end_if_idle(self) -> bool:
        """Give up the claim unless a run is queued, in one transaction: a run that is queued later finds no runner."""

        def end(connection: sqlite3.Connection) -> bool:
            if runs.waiting(connection):
                return False
            self.release()
            return True

        return self.store(end)

    def end(self) -> None:
        """Give up the claim; the current run waits for the next runner."""
        try:
            self.store(runs.put_back)
        finally:
            self.release()

    def release(self) -> None:
        self._lock.release()

    def _meet(self, error: StoreError) -> None:
        if self._trouble is None:
            self._trouble = Trouble(error)
        trouble = self._trouble
        trouble.meet(error)
        if not trouble.told and trouble.is_worth_telling:
            trouble.told = True
            _log.warning("nothing can be stored: %s", trouble.error)
            self._say(trouble.since, trouble.error.cause)

    def _recover(self) -> None:
        if self._trouble is None:
            return
        trouble, self._trouble = self._trouble, None
        if trouble.told:
            # The disk may have had no room for the first message.
            _log.warning("stored again; %s", trouble.over())

    def _say(self, since: float | None = None, cause: str = "") -> None:
        """Replace the notice, if that is possible."""
        self._beaten = time.monotonic()
        if self._lock.descriptor is not None:
            notice = Notice(os.getpid(), time.time(), self._beaten, since, cause)
            with suppress(OSError):
                os.pwrite(self._lock.descriptor, msgspec.json.encode(notice).ljust(_BYTES), 0)


# -- This process as the database's runner, for a caller that waits.


_PATIENCE_S = 5.0
"""A runner ends shortly after its last run; after this time it is gone."""


@contextmanager
def claim_runner(database: Database) -> Iterator[Lease]:
    """Claim to be the database's runner; a runner for queued runs is started afterwards.

    Raises:
        RunError: Another process is working on the database.
    """
    until = time.monotonic() + _PATIENCE_S
    while (lease := Lease.acquire(database)) is None:
        if runs.waiting(database.reader()) or time.monotonic() > until:
            raise RunError("A run is active on this database.", "Wait for it, or pause it", Command("runs DB"))
        time.sleep(_POLL_S)
    try:
        yield lease
    finally:
        with suppress(LeaseLost):
            lease.end()
        if runs.waiting(database.reader()):
            ensure_runner(database)
