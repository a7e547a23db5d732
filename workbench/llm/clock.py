"""Time and randomness for the client, in one place so that tests can control them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from types import TracebackType
from typing import Any


class Clock:
    """Real time and randomness.

    Args:
        seconds: A monotonic clock.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds

    def now(self) -> float:
        return self._seconds()

    def date(self) -> float:
        """Return seconds since 1970, to compare with dates that servers send."""
        return time.time()

    def jitter(self, longest: float) -> float:
        """Return a random waiting time of at most ``longest`` seconds."""
        return random.uniform(0.0, longest)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


# -- Timeouts in an event loop that may be suspended: job control, a frozen container, a debugger, a paused
# machine.


TICK_S = 0.25
"""Interval of the check for a suspension; a check that is late by one more interval indicates one."""
READ_S = 1.0
"""A timeout that ends right after a suspension is extended once by this, so that received data is read."""


class Awake:
    """A clock that counts only the time an event loop has been running, inside ``async with``; else a plain clock.

    Attributes:
        stops: How often the loop was found to have been blocked or suspended.
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
        """Return the seconds of a monotonic clock that pauses while the process is suspended."""
        return time.monotonic() - self._lost - self._late()

    def timeout(self, seconds: float) -> AwakeTimeout:
        """Return an `asyncio.timeout` in this clock's seconds.

        Raises:
            TimeoutError: The time is up, and all received data was read.
        """
        return AwakeTimeout(self, seconds)

    async def wait(
        self, tasks: Collection[asyncio.Future[Any]], seconds: float | None, return_when: str = asyncio.ALL_COMPLETED
    ) -> None:
        """Wait as `asyncio.wait` does, for at most ``seconds`` of this clock; None waits without limit."""
        if seconds is None:
            await asyncio.wait(tasks, return_when=return_when)
            return
        with suppress(TimeoutError):
            async with self.timeout(seconds):
                await asyncio.wait(tasks, return_when=return_when)

    def _late(self) -> float:
        return 0.0 if self._due is None else max(0.0, time.monotonic() - self._due - TICK_S)

    def _look(self) -> None:
        if late := self._late():
            self._lost += late
            self.stops += 1
        self._due = time.monotonic() + TICK_S
        self._tick = asyncio.get_running_loop().call_later(TICK_S, self._look)


class AwakeTimeout:
    def __init__(self, awake: Awake, seconds: float) -> None:
        self._awake, self._seconds = awake, seconds
        self._limit = asyncio.timeout(None)
        self._is_longer = False

    async def __aenter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end, self._stops = self._awake.now() + self._seconds, self._awake.stops
        await self._limit.__aenter__()
        self._handle = self._loop.call_later(self._seconds, self._look)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._handle.cancel()
        await self._limit.__aexit__(kind, error, trace)

    def _look(self) -> None:
        now = self._awake.now()
        if not self._is_longer and self._awake.stops > self._stops and now >= self._end:
            self._end, self._is_longer = now + READ_S, True
        if (left := self._end - now) > 0:
            self._handle = self._loop.call_later(left, self._look)
        else:
            # One turn of the event loop later: pending data callbacks run first.
            self._limit.reschedule(self._loop.time())
