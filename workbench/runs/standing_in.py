"""This process as a database's runner, for work that its caller waits for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from workbench.core.database.connection import Database
from workbench.core.errors import RunError
from workbench.runs.launch import ensure_runner
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.store import runs

_PATIENCE_S = 5.0
"""A runner stays for a moment when its last run has ended; it is gone by then."""

_LOOK_S = 0.05


@contextmanager
def standing_in(database: Database) -> Iterator[Lease]:
    """The claim to be the database's runner; runs that were queued meanwhile get one of their own afterwards.

    Raises:
        RunError: Another process is at work on the database.
    """
    until = time.monotonic() + _PATIENCE_S
    while (lease := Lease.acquire(database)) is None:
        if runs.waiting(database.reader()) or time.monotonic() > until:
            raise RunError("A run is at work on this database.", "Wait for it, or pause it: workbench runs DB")
        time.sleep(_LOOK_S)
    try:
        yield lease
    finally:
        with suppress(LeaseLost):
            lease.end()
        if runs.waiting(database.reader()):
            ensure_runner(database)
