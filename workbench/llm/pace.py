"""How fast a run asks: requests and tokens a minute, and calls in flight."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from math import ceil

from workbench.llm.budget import CallEstimate
from workbench.llm.clock import Clock
from workbench.llm.records import Usage
from workbench.llm.server import Limits

START = 20
"""Calls in flight at first, on servers whose owner limits rates."""

LEAST = 4
"""Calls in flight however often the server refuses."""

COOLDOWN_S = 15.0
"""After a cut the refusals of calls that were in flight already say nothing new for so long."""

LEAST_TOKENS = 1000
"""A minute; a lower rate of a server's is not believed, for it would let no call through."""

_RATE = re.compile(r"[0-9]{1,12}")
_BURST_S = 0.25
_LOOK_S = 0.5
_LONGEST_DEBT_S = 60.0


class Bucket:
    """A token bucket as a schedule: what is taken moves the time at which the next may go.

    It is filled for a quarter of a second, so that sleeping too long costs nothing, and that much slower: no minute
    sees more than its rate, except by the size of one request. Whatever was taken is forgotten after a minute.
    """

    def __init__(self, per_minute: float | None, clock: Clock) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._next = clock.now()

    async def ready(self) -> None:
        """Wait until something may go; for one at a time."""
        while self.per_minute is not None and (wait := self._next - self._clock.now()) > 0:
            # What is corrected meanwhile shortens the wait.
            await self._clock.sleep(min(wait, _LOOK_S))

    def take(self, amount: float = 1.0) -> None:
        """Let so much go."""
        self._next = max(self._next, self._clock.now() - _BURST_S)
        self.correct(amount)

    def correct(self, amount: float) -> None:
        """Take so much more after the fact; less when negative."""
        if self.per_minute is not None:
            self._next = min(self._next + amount * self._interval(), self._clock.now() + _LONGEST_DEBT_S)

    def _interval(self) -> float:
        assert self.per_minute is not None
        return 60.0 / self.per_minute * 60.0 / (60.0 - _BURST_S)


class RateLimiter:
    """Requests and tokens a minute; a rate that nobody gave is taken from the server's headers.

    A reply is reckoned with as many tokens as replies had of late: holding the most that each may have would leave
    most of the rate unused.
    """

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._requests = Bucket(limits.rpm, clock)
        self._tokens = Bucket(limits.tpm, clock)
        self._usual: float | None = None
        self._turn = asyncio.Lock()

    async def take(self, estimate: CallEstimate) -> int:
        """Wait until a request may go; returns the tokens it is reckoned with."""
        async with self._turn:
            await self._requests.ready()
            await self._tokens.ready()
            usual = estimate.completion if self._usual is None else min(estimate.completion, ceil(self._usual))
            self._requests.take()
            self._tokens.take(estimate.prompt + usual)
        return estimate.prompt + usual

    def correct(self, reckoned: int, usage: Usage) -> None:
        """A reply came: what it took is known, unless the server doesn't tell."""
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        if prompt is None or completion is None:
            return
        self._usual = completion if self._usual is None else 0.9 * self._usual + 0.1 * completion
        self._tokens.correct(prompt + completion - reckoned)

    def seed(self, requests: str | None, tokens: str | None) -> None:
        """Take over ``x-ratelimit-limit-requests`` and ``x-ratelimit-limit-tokens`` where no rate was given."""
        for bucket, said, least in ((self._requests, requests, 1), (self._tokens, tokens, LEAST_TOKENS)):
            if bucket.per_minute is None and said is not None and _RATE.fullmatch(said) and int(said) >= least:
                bucket.per_minute = float(said)


class ConcurrencyLimiter:
    """How many calls may be in flight: additive growth, multiplicative cut, as inspect_ai's adaptive connections.

    It doubles a round (as many replies as the limit) until the first refusal, then grows by a twentieth a round. A
    refusal (429) cuts it to four fifths, once in `COOLDOWN_S` whatever the server asks to wait: a stream of refusals
    goes on cutting, and replies go on counting.
    """

    def __init__(self, start: int, most: int, clock: Clock) -> None:
        self.limit = min(start, most)
        self.busy = 0
        self._most = most
        self._least = min(LEAST, most)
        self._clock = clock
        self._doubles = True
        self._good = 0
        self._calm_until = clock.now()
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if self.busy < self.limit and not self._waiting:
            self.busy += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove(turn)
            else:
                self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self.busy -= 1
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.busy < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.busy += 1
                turn.set_result(None)

    def succeeded(self) -> None:
        """A reply came; it counts when the limit was what held others back."""
        if self.busy < self.limit:
            return
        self._good += 1
        if self._good >= self.limit:
            grown = self.limit * 2 if self._doubles else max(self.limit + 1, int(self.limit * 1.05))
            self.limit = min(self._most, grown)
            self._good = 0
            self._admit()

    def refused(self) -> None:
        """The server said 429."""
        self._doubles = False
        now = self._clock.now()
        if now >= self._calm_until:
            self._calm_until = now + COOLDOWN_S
            self._good = 0
            self.limit = max(self._least, int(self.limit * 0.8))
