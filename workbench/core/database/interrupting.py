"""SQL that takes long, where ctrl-C and whoever waits no more are heeded at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from workbench.core.progress import Listener, heard_by, listening

T = TypeVar("T")

_LOOK_S = 0.05


def interruptibly(work: Callable[[], T], interrupt: Callable[[], None], look: Callable[[], None] | None = None) -> T:
    """Do the work in a thread of its own: SQLite lets no signal through to the thread that it is called from.

    Args:
        interrupt: Ends the SQL under way; called until the work has ended.
        look: Called now and then while it lasts; what it raises ends the work.
    """
    listener = listening() or Listener()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            with heard_by(listener):
                found.append(work())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=copy_context().run, args=(run,))
    thread.start()
    try:
        while thread.is_alive():
            thread.join(_LOOK_S)
            listener.heed()
            if look is not None:
                look()
    except BaseException:
        listener.stop()
        while thread.is_alive():
            interrupt()
            thread.join(_LOOK_S)
        raise
    if failed:
        raise failed[0]
    return found[0]
