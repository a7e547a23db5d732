"""How long an item has been open, and how long somebody was looking."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

IDLE_S: Final = 60.0
"""Seconds after the last key or mouse event at which nobody is taken to be looking any more."""


class Elapsed(NamedTuple):
    """Times in milliseconds."""

    open_ms: int
    focused_ms: int


class Stopwatch:
    """Counts from ``start``; a blurred terminal and idle time are left out of the focused time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._focused = True
        self.start()

    def start(self) -> None:
        """Begin anew: an item has appeared."""
        self._started = self._seen = self._clock()
        self._looked = 0.0

    def touch(self) -> None:
        """Somebody has pressed a key or moved the wheel."""
        self._looked += self._since_seen()
        self._seen = self._clock()

    def focus(self, focused: bool) -> None:
        """The terminal has got or lost the focus."""
        self.touch()
        self._focused = focused

    def elapsed(self) -> Elapsed:
        """Both times so far."""
        looked = self._looked + self._since_seen()
        return Elapsed(round(1000 * (self._clock() - self._started)), round(1000 * looked))

    def _since_seen(self) -> float:
        return min(self._clock() - self._seen, IDLE_S) if self._focused else 0.0
