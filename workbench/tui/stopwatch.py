"""How long, and with how many keys, an item has been looked at."""

from __future__ import annotations

from typing import NamedTuple

from workbench.tui.at_work import AtWork


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
