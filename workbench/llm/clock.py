"""Time and chance for the client, in one place so that tests can hold them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from typing import Any


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


# -- Time limits in an event loop that may stand still: job control, a frozen container, a debugger, a paused
# machine.


TICK_S = 0.25
"""How often it is looked whether the process stood still; what is later by as much again, did."""
READ_S = 1.0
"""A limit that ends just after the process stood still ends so much later, once: what came has to be read."""


class Awake:
    """How long an event loop has been at work; counts from ``async with`` on, and as any clock before and after.

    Attributes:
        stops: How often the loop was found to have stood still.
    """

    def __init__(self) -> None:
        self._lost = 0.0
        self._due: float | None = None
        self._tick: asyncio.TimerHandle | None = None
        self.stops = 0

    async def __aenter__(self) -> Awake:
        self._look()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._tick is not None:
            self._tick.cancel()
        self._lost += self._late()
        self._due = None

    def now(self) -> float:
        """Seconds of a clock that never goes back and stands still with the process."""
        return time.monotonic() - self._lost - self._late()

    @asynccontextmanager
    async def timeout(self, seconds: float) -> AsyncIterator[None]:
        """`asyncio.timeout`, of this clock's seconds.

        Raises:
            TimeoutError: The time was over, and nothing that had come was left unread.
        """
        loop = asyncio.get_running_loop()
        end, stops = self.now() + seconds, self.stops
        handle: asyncio.TimerHandle
        async with asyncio.timeout(None) as limit:

            def look() -> None:
                nonlocal end, stops, handle
                if self.stops > stops >= 0 and self.now() >= end:
                    end, stops = self.now() + READ_S, -1
                if (left := end - self.now()) > 0:
                    handle = loop.call_later(left, look)
                else:
                    # A turn later: whoever is about to be told of bytes that came is told first.
                    limit.reschedule(loop.time())

            handle = loop.call_later(seconds, look)
            try:
                yield
            finally:
                handle.cancel()

    async def wait(
        self, tasks: Collection[asyncio.Future[Any]], seconds: float | None, return_when: str = asyncio.ALL_COMPLETED
    ) -> None:
        """`asyncio.wait`, for so many of this clock's seconds at most; None waits on."""
        if seconds is None:
            await asyncio.wait(tasks, return_when=return_when)
            return
        with suppress(TimeoutError):
            async with self.timeout(seconds):
                await asyncio.wait(tasks, return_when=return_when)

    def _late(self) -> float:
        """Seconds that the loop stands still now."""
        return 0.0 if self._due is None else max(0.0, time.monotonic() - self._due - TICK_S)

    def _look(self) -> None:
        if late := self._late():
            self._lost += late
            self.stops += 1
        self._due = time.monotonic() + TICK_S
        self._tick = asyncio.get_running_loop().call_later(TICK_S, self._look)
