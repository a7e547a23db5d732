"""Time and chance for the client, in one place so that tests can hold them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable


class Clock:
    """The real ones.

    Args:
        seconds: A clock that never goes back.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds

    def now(self) -> float:
        """Seconds of a clock that never goes back."""
        return self._seconds()

    def date(self) -> float:
        """Seconds since 1970, for the dates that servers give."""
        return time.time()

    def jitter(self, longest: float) -> float:
        """A waiting time up to a longest one, in seconds."""
        return random.uniform(0.0, longest)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
