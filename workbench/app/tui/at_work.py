"""Whether somebody is at work in the app: keys pressed, time spent looking, and when a break is due."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple


class Elapsed(NamedTuple):
    """Times in milliseconds, and the keys pressed meanwhile."""

    open_ms: int
    focused_ms: int
    keys: int


class Stopwatch:
    """Counts from ``start``; a blurred terminal and idle time are left out of the focused time."""

    def __init__(self, work: AtWork) -> None:
        self._work = work
        self.start()

    def start(self) -> None:
        """Begin anew: an item has appeared."""
        self._started, self._looked, self._keys = self._work.now(), self._work.looked, self._work.keys

    def elapsed(self) -> Elapsed:
        """Everything since ``start``."""
        work = self._work
        return Elapsed(
            open_ms=round(1000 * (work.now() - self._started)),
            focused_ms=round(1000 * (work.looked - self._looked)),
            keys=work.keys - self._keys,
        )


IDLE_S: Final = 60.0
"""Seconds after the last key or mouse event at which nobody is taken to be looking any more."""

BREAK_S: Final = 300.0
"""Seconds without a key, a mouse event or the focus that are a break."""


class AtWork:
    """One person before the app, from its start on; the app tells it of every key, mouse event and change of focus.

    Attributes:
        keys: Keys pressed so far.
        acted_at: When the last key was pressed or the mouse clicked, by the clock.

    Args:
        clock: Seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._focused = True
        self._seen = clock()
        self._looked = 0.0
        self._rested = 0.0
        self._told = False
        self.keys = 0
        self.acted_at: float | None = None

    def now(self) -> float:
        """The clock's time."""
        return self._clock()

    def press(self, late: float = 0.0) -> None:
        """A key was pressed.

        Args:
            late: Seconds it has waited for the app.
        """
        self.click(late)
        self.keys += 1

    def click(self, late: float = 0.0) -> None:
        """The mouse was clicked; see `press`."""
        self.touch()
        self.acted_at = self._seen - late

    def touch(self) -> None:
        """Somebody is there."""
        away = self._clock() - self._seen
        self._looked = self.looked
        self._seen += away
        if away >= BREAK_S:
            self._rested, self._told = self._looked, False

    def focus(self, focused: bool) -> None:
        """The terminal has got or lost the focus."""
        if focused != self._focused:
            self.touch()
            self._focused = focused

    @property
    def looked(self) -> float:
        """Seconds somebody has looked so far; a blurred terminal and idle time are left out."""
        return self._looked + (min(self._clock() - self._seen, IDLE_S) if self._focused else 0.0)

    def needs_break(self, minutes: int) -> bool:
        """Whether a break is due: true once after so many minutes of looking since the last one; 0: never."""
        due = minutes > 0 and not self._told and self.looked - self._rested >= 60 * minutes
        self._told = self._told or due
        return due
