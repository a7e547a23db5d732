"""One runner per database: it holds a file lock, and a row names it; every transaction of a runner checks the row.

A replaced runner detects that before it can store anything. The lock is free once its process is gone; a blocked one
(a suspended machine, a debugger, a full disk) counts as alive.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from workbench.core.database.connection import Database
from workbench.core.errors import Command, RunError, StoreError
from workbench.runs.liveness import WAITING, Lock, Notice, Trouble, ensure_runner
from workbench.runs.store import runs
from workbench.runs.store.runs import LeaseRow

if TYPE_CHECKING:
    import sqlite3


_BEAT_S = 1.0
_PAUSE_S = 0.5
_GLANCE_S = 0.2
_HANDOVER_S = 5.0
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

    def __init__(self, database: Database, row: LeaseRow, lock: Lock) -> None:
        self._database = database
        self._row = row
        self._lock = lock
        self._beaten = time.monotonic()
        self._trouble: Trouble | None = None
        self.ending = False

    @classmethod
    def acquire(cls, database: Database) -> Lease | None:
        """Claim to be the runner; return None if another runner is alive.

        Raises:
            RunError: The lock's file can't be locked.
        """
        began = time.monotonic()
        while (lock := Lock.take(database.path)) is None:
            # Who looks at the lock holds it for an instant. A runner without a row is just beginning or ending.
            patience = _HANDOVER_S if runs.lease(database.reader()) is None else _GLANCE_S
            if time.monotonic() > began + patience:
                return None
            time.sleep(_PAUSE_S / 10)
        try:
            row = LeaseRow.new(os.getpid())
            with database.write() as connection:
                runs.put_lease(connection, row)
        except BaseException:
            lock.release()
            raise
        return cls(database, row, lock)

    @contextmanager
    def write(self, *, patient: bool = True) -> Iterator[sqlite3.Connection]:
        """Open a transaction that only the runner gets.

        Args:
            patient: Whether to wait for seconds while another process locks the database; else fail soon.

        Raises:
            LeaseLost: This process is no longer the runner.
            StoreError: The database could not be written.
        """
        row = self._row.renewed()
        try:
            with self._database.write(patient=patient) as connection:
                if not runs.renew_lease(connection, row):
                    raise LeaseLost
                if self._trouble is not None and self._trouble.told:
                    runs.note_trouble(connection, self._trouble.over())
                yield connection
        except StoreError as error:
            self._meet(error)
            raise
        self._row = row
        self._beaten = time.monotonic()
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
            runs.drop_lease(connection)
            return True

        if ended := self.store(end):
            self.release()
        return ended

    def end(self) -> None:
        """Give up the claim; the current run waits for the next runner."""

        def end(connection: sqlite3.Connection) -> None:
            runs.put_back(connection)
            runs.drop_lease(connection)

        try:
            self.store(end)
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
            self._lock.say(Notice(trouble.since, trouble.error.cause))

    def _recover(self) -> None:
        if self._trouble is None:
            return
        trouble, self._trouble = self._trouble, None
        if trouble.told:
            # The disk may have had no room for the first message.
            _log.warning("stored again; %s", trouble.over())
            self._lock.say(Notice())


# -- This process as the database's runner, for a caller that waits.


_PATIENCE_S = 5.0
"""A runner ends shortly after its last run; after this time it is gone."""
_POLL_S = 0.05


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
