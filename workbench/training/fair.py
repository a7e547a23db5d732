"""Fair queueing: the most urgent client is served first; clients of equal urgency take turns."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from msgspec import Struct

DEFAULT_URGENCY = 3
"""The default urgency, of 0 (first) to 7 (RFC 9218)."""


class Asker(Struct, frozen=True):
    """A client.

    Attributes:
        client: The client's name; requests with the same name share its turns.
        urgency: From 0 (first) to 7.
    """

    client: str = ""
    urgency: int = DEFAULT_URGENCY


ASKER: ContextVar[Asker] = ContextVar("asker", default=Asker())  # noqa: B039
"""The client of the current task."""


class FairLine:
    """A limited number of slots; clients wait for one, the most urgent first.

    Clients of equal urgency get one slot in turn, however many of their items wait.

    Args:
        places: Maximum number of slots in use at a time.
    """

    def __init__(self, places: int) -> None:
        self._free = self._places = places
        self._waiting: dict[int, OrderedDict[str, deque[asyncio.Future[None]]]] = {}

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
        asker = ASKER.get()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(asker.urgency, OrderedDict()).setdefault(asker.client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._free_slot()
            raise

    def _free_slot(self) -> None:
        for urgency in sorted(self._waiting):
            clients = self._waiting[urgency]
            while clients:
                client, turns = next(iter(clients.items()))
                turn = turns.popleft()
                if turns:
                    clients.move_to_end(client)
                else:
                    del clients[client]
                if not turn.done():
                    turn.set_result(None)
                    return
            del self._waiting[urgency]
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
