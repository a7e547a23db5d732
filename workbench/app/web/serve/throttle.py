"""A limit on attempts that fail."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable


class Throttle:
    """Counts failures by who had them, and remembers only so many.

    Args:
        most: Failures within ``window_s`` after which someone has to wait.
        size: How many different ones are remembered; the longest quiet is forgotten.
    """

    def __init__(
        self,
        *,
        most: int = 10,
        window_s: float = 60.0,
        size: int = 1_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._window_s, self._size, self._clock = most, window_s, size, clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def is_closed(self, who: str) -> bool:
        """Whether they have to wait."""
        failures = self._failures.get(who)
        if failures is None:
            return False
        while failures and failures[0] <= self._clock() - self._window_s:
            failures.popleft()
        return len(failures) >= self._most

    def failed(self, who: str) -> None:
        """Note a failure."""
        self._failures.setdefault(who, deque(maxlen=self._most)).append(self._clock())
        self._failures.move_to_end(who)
        if len(self._failures) > self._size:
            self._failures.popitem(last=False)
