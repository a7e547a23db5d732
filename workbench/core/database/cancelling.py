"""Long reads that another thread may end: a newer query makes the older one useless."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.core.errors import StoreError

_STEPS = 20_000
"""Virtual-machine steps of SQLite between two looks: well under a millisecond."""


class Cancelled(StoreError):
    """A read was ended before it was through."""


@contextmanager
def cancellable(connection: sqlite3.Connection, cancelled: Callable[[], bool]) -> Iterator[None]:
    """While inside, reads on the connection end soon after ``cancelled()`` has become true.

    Unlike ``Connection.interrupt`` this also ends a read that begins just after the call.

    Raises:
        Cancelled: The read was ended.
    """
    connection.set_progress_handler(cancelled, _STEPS)
    try:
        if cancelled():
            raise Cancelled("The read was cancelled.")
        yield
    except sqlite3.OperationalError as error:
        if cancelled():
            raise Cancelled("The read was cancelled.") from error
        raise
    finally:
        connection.set_progress_handler(None, 0)
