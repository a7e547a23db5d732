"""Time and randomness for the client, in one place so that tests can control them."""

from __future__ import annotations

import asyncio
import random
import time


class Clock:
    """Real time and randomness."""

    def now(self) -> float:
        """Return the seconds of a monotonic clock."""
        return time.monotonic()

    def date(self) -> float:
        """Return seconds since 1970, to compare with dates that servers send."""
        return time.time()

    def jitter(self, longest: float) -> float:
        """Return a random waiting time of at most ``longest`` seconds."""
        return random.uniform(0.0, longest)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
