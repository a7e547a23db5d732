"""The rate of a run, estimated from periodic observations."""

from __future__ import annotations

from collections import deque
from typing import Final

_WINDOW_S: Final = 60.0
"""Length of the look-back window, in seconds."""
_LEAST_STEPS: Final = 3
_LEAST_S: Final = 5.0
"""Observations needed before a run's end is estimated."""
_LONGEST_PAUSE: Final = 5.0
"""A run counts as stalled after this many times its usual interval between commits."""


class RunPace:
    """The rate of one run.

    Verdicts are committed in groups, so their number stalls and then jumps. The rate is computed only from moments at
    which the number has grown.
    """

    def __init__(self) -> None:
        self._steps: deque[tuple[float, int]] = deque()
        self._begin: int | None = None

    def observe(self, now: float, done: int) -> None:
        """Record the number of finished items; times are seconds of a monotonic clock."""
        if self._begin is None or (self._steps and done < self._steps[-1][1]):
            self._steps.clear()
            self._begin = done
        elif done > (self._steps[-1][1] if self._steps else self._begin):
            self._steps.append((now, done))
        while len(self._steps) > _LEAST_STEPS and self._steps[1][0] < now - _WINDOW_S:
            self._steps.popleft()

    def rate(self, now: float) -> float | None:
        if len(self._steps) < 2:
            return None
        (first, before), (last, done) = self._steps[0], self._steps[-1]
        took = last - first
        if not took or now - last > _LONGEST_PAUSE * max(took / (len(self._steps) - 1), 1.0):
            return None
        return (done - before) / took

    def remaining_seconds(self, now: float, items: int) -> float | None:
        """Return the seconds until ``items`` are done; None if the rate is unknown, or too little has been observed."""
        rate = self.rate(now)
        if rate is None or len(self._steps) < _LEAST_STEPS or self._steps[-1][0] - self._steps[0][0] < _LEAST_S:
            return None
        last, done = self._steps[-1]
        return max((items - done) / rate - (now - last), 0.0)
