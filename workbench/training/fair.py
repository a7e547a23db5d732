"""Fair queueing: clients take turns."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

CLIENT: ContextVar[str] = ContextVar("client", default="")
"""The client of the current task; requests of the same client share its turns."""


class FairLine:
    """A limited number of slots; waiting clients get one slot in turn, however many of their items wait.

    Args:
        places: Maximum number of slots in use at a time.
    """

    def __init__(self, places: int) -> None:
        self._free = self._places = places
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def widen(self, places: int) -> None:
        more, self._places = places - self._places, max(places, self._places)
        for _ in range(more):
            self._free_slot()

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        await self._wait_for_slot()
        try:
            yield
        finally:
            self._free_slot()

    async def _wait_for_slot(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(CLIENT.get(), deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free_slot()
            raise

    def _free_slot(self) -> None:
        while self._waiting:
            client, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            if turns:
                self._waiting.move_to_end(client)
            else:
                del self._waiting[client]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class StageTimes:
    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.count: Counter[str] = Counter()

    @contextmanager
    def of(self, stage: str, items: int = 1) -> Iterator[None]:
        """Add the duration of the block to a stage's time.

        Args:
            items: Number of items that the block processes.
        """
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - began
            self.count[stage] += items
