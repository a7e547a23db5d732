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
"""Of glibc's mallopt."""

Result = TypeVar("Result")


class Garbage:
    """Schedules garbage collection when a screen has been left, not between two keys.

    A full collection looks at every object, and most objects are those of modules: with all screens opened once it
    is felt as a pause of 200 ms. They are set aside once they are imported; then it takes 30.
    """

    def __init__(self) -> None:
        self._modules = 0
        self._left: WeakSet[object] = WeakSet()

    def leave(self, screen: object) -> None:
        self._left.add(screen)

    def collect(self, alone: bool) -> bool:
        """Collect garbage, and freeze the surviving objects if modules have been imported since.

        An object frozen as part of a cycle is never freed: nothing is frozen while a left screen is alive, which it is
        until its last timer has run out.

        Args:
            alone: No screen is open but those that stay.

        Returns:
            Whether all screens that were left are gone.
        """
        gc.collect()
        if alone and not self._left and len(sys.modules) > self._modules:
            gc.freeze()
            self._modules = len(sys.modules)
        return not self._left


def process_of_its_own() -> Garbage:
    """Have freed arrays returned to the system, and garbage collected mostly on request."""
    _give_back_arrays()
    gc.freeze()
    gc.set_threshold(10_000, 50, 20)
    gc.enable()
    return Garbage()


def let_go(work: Callable[[], Result]) -> Callable[[], Result]:
    """Wrap work for a thread so that it drops its worker at the end; an idle thread would keep it, and its screen,
    alive.
    """

    def run() -> Result:
        try:
            return work()
        finally:
            active_worker.set(cast("Worker[object]", None))

    return run


def _give_back_arrays() -> None:
    """Allocate long arrays on their own, so that each is returned when freed, and let threads share arenas.

    Left alone, glibc raises that length with every array that is freed, and keeps what each thread once needed.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 2**18)
        library.mallopt(_ARENA_MAX, 2)
