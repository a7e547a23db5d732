"""Memory of a process that runs for hours: freed memory is returned, and long-lived objects are not scanned again."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast
from weakref import WeakSet

from textual.worker import Worker, active_worker

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""The parameters M_MMAP_THRESHOLD and M_ARENA_MAX of glibc's ``mallopt``."""

Result = TypeVar("Result")


class Garbage:
    """Collects garbage after a screen was closed, so that it doesn't happen between two keys.

    A full collection visits every object, and most objects belong to imported modules: with all screens opened once, it
    pauses the app for 200 ms. These objects are frozen (`gc.freeze`) after their import, which shortens the pause to 30
    ms.
    """

    def __init__(self) -> None:
        self._modules = 0
        self._left: WeakSet[object] = WeakSet()

    def leave(self, screen: object) -> None:
        self._left.add(screen)

    def collect(self, alone: bool) -> bool:
        """Collect garbage, and freeze the surviving objects if modules have been imported since the last freeze.

        A frozen object that is part of a reference cycle is never freed. So nothing is frozen while a closed screen is
        alive; it stays alive until its last timer has fired.

        Args:
            alone: Whether only the screens that are never closed are open.

        Returns:
            Whether all closed screens have been freed.
        """
        gc.collect()
        if alone and not self._left and len(sys.modules) > self._modules:
            gc.freeze()
            self._modules = len(sys.modules)
        return not self._left


def configure_memory() -> Garbage:
    """Return freed arrays to the system, and run the garbage collector rarely outside `Garbage.collect`.

    By default, glibc raises the size from which it returns blocks whenever such a block is freed, and lets each thread
    keep an arena. Here it returns each block of 256 KiB or more, and has two arenas.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 2**18)
        library.mallopt(_ARENA_MAX, 2)
    gc.freeze()
    gc.set_threshold(10_000, 50, 20)
    gc.enable()
    return Garbage()


def release_worker_after(work: Callable[[], Result]) -> Callable[[], Result]:
    """Wrap a thread's work so that the thread's context no longer refers to the Textual worker afterwards; an idle
    thread would keep the worker, and so its screen, alive.
    """

    def run() -> Result:
        try:
            return work()
        finally:
            active_worker.set(cast("Worker[object]", None))

    return run
