"""Admit a run's calls, within its concurrency, rates and budgets, and compute the waits between attempts."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.llm.failures import AttemptFailed
from workbench.llm.records import RESUME, CallFailed, Halt, RunUsed, Usage
from workbench.llm.server import Limits, Price, StageLimits
from workbench.llm.waits import Clock, minute_limit

if TYPE_CHECKING:
    from workbench.llm.endpoint import Breaker

# -- Spending limits, checked before each call is sent.


CHARACTERS_A_TOKEN = 4
"""Characters of a token in estimates of prompts."""
ASSUMED_REPLY_TOKENS = 1000
"""Estimated tokens of a reply without a maximum length."""


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """Return the cost in US dollars: as the server reports it, else by the price; None if both are unknown."""
    if usage.cost is not None:
        return usage.cost
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    rates = price.rates(usage.prompt_tokens, usage.tier)
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    written = min(usage.written_tokens or 0, usage.prompt_tokens - cached)
    cost = (usage.prompt_tokens - cached - written) * rates.input + usage.completion_tokens * rates.output
    cost += cached * (rates.input if rates.cached_input is None else rates.cached_input)
    cost += written * (rates.input if rates.cache_write is None else rates.cache_write)
    if rates.thought is not None:
        cost += min(usage.reasoning_tokens or 0, usage.completion_tokens) * (rates.thought - rates.output)
    return cost / 1e6


class CallEstimate(Struct):
    prompt: int
    completion: int
    cost: float

    @property
    def tokens(self) -> int:
        return self.prompt + self.completion


class Budget:
    """Hard limits on calls, tokens and money over all starts of a run.

    A call that could exceed the remainder waits for the calls in flight, which may use less than they reserved. If no
    call is in flight, the run ends. Call limits are exact; token and cost limits are as exact as the estimates of
    prompts.

    Args:
        stage: The stage of a run that it limits: messages name it, and it may fail a call instead of ending the run.
    """

    def __init__(self, limits: Limits, before: RunUsed, stage: StageLimits | None = None) -> None:
        self._limits = limits
        self._stage = stage
        self._calls = before.calls
        self._tokens = float(before.tokens)
        self._cost = before.cost
        self._held_tokens = 0.0
        self._held_cost = 0.0
        self._in_flight = 0
        self._freed = asyncio.Event()

    async def reserve(self, estimate: CallEstimate) -> None:
        """Count a call and reserve its maximum usage; each needs a call of `settle`.

        Raises:
            CallFailed: The budget of a stage is used up, and the run continues without this call.
            Halt: The budget is used up.
        """
        while (limit := self.hold(estimate)) is not None:
            if not self._in_flight or self._exceeded_for_good():
                halt = used_up(limit)
                if self._stage is None:
                    raise halt
                raise (CallFailed if self._stage.goes_on else Halt)(halt.code, f"{self._stage.name}: {halt.message}")
            self._freed.clear()
            await self._freed.wait()

    def hold(self, estimate: CallEstimate) -> str | None:
        """Count a call and reserve its maximum usage if possible; else describe the limit that it might exceed."""
        if (limit := self._find_exceeded_limit(estimate)) is None:
            self._calls += 1
            self._in_flight += 1
            self._held_tokens += estimate.tokens
            self._held_cost += estimate.cost
        return limit

    def settle(self, estimate: CallEstimate, usage: Usage | None, *, sent: bool) -> None:
        """Release a call's reservation and count its actual usage; a call that was never sent doesn't count.

        Args:
            usage: Usage of the reply, None without one; unknown values count as estimated.
        """
        self._calls -= not sent
        self._in_flight -= 1
        self._held_tokens -= estimate.tokens
        self._held_cost -= estimate.cost
        if usage is not None:
            self._tokens += estimate.prompt if usage.prompt_tokens is None else usage.prompt_tokens
            self._tokens += estimate.completion if usage.completion_tokens is None else usage.completion_tokens
            self._cost += estimate.cost if usage.cost is None else usage.cost
        self._freed.set()

    def _find_exceeded_limit(self, estimate: CallEstimate) -> str | None:
        limits = self._limits
        if limits.max_calls is not None and self._calls + 1 > limits.max_calls:
            return f"{self._calls} of {limits.max_calls} calls were made"
        if (
            limits.max_tokens_total is not None
            and self._tokens + self._held_tokens + estimate.tokens > limits.max_tokens_total
        ):
            return (
                f"{self._tokens:.0f} of {limits.max_tokens_total} tokens, and the next call may take {estimate.tokens}"
            )
        if limits.max_cost is not None and (
            self._cost + self._held_cost + estimate.cost > limits.max_cost or self._cost >= limits.max_cost
        ):
            return f"{self._cost:.4f} of {limits.max_cost} US dollars, and the next call may cost {estimate.cost:.4f}"
        return None

    def _exceeded_for_good(self) -> bool:
        """Return whether the budget would be exceeded even if the calls in flight used nothing.

        Reserved calls are released if the server was unreachable.
        """
        limits = self._limits
        return (
            (limits.max_calls is not None and self._calls - self._in_flight >= limits.max_calls)
            or (limits.max_tokens_total is not None and self._tokens >= limits.max_tokens_total)
            or (limits.max_cost is not None and self._cost >= limits.max_cost)
        )


def used_up(limit: str) -> Halt:
    return Halt("budget", f"The budget is used up: {limit}. Raise it and {RESUME}.")


INITIAL_CONCURRENCY = 20
"""Initial maximum of calls in flight on servers with rate limits."""
MIN_CONCURRENCY = 4
"""Minimum of calls in flight, however often the server rejects."""
COOLDOWN_S = 15.0
"""Rejections within this time after a cut are ignored: their calls were in flight already."""
MIN_TOKENS_PER_MINUTE = 1000
"""Minimum tokens a minute; a lower rate that a server reports is not trusted, since it would admit no call."""
_BURST_S = 0.25
POLL_S = 0.5
"""Longest pause between checks of a wait, in seconds: corrections shorten it."""
_MAX_DEBT_S = 60.0
_SLOWER, _FASTER, _GROWTH_S = 0.98, 1.05, 300.0
_MIN_RATE_PERIOD_S = 10.0
"""Rates are not learned from a shorter period."""


class Bucket:
    """A token bucket as a schedule: taking an amount moves the time of the next request.

    The bucket holds the amount of a quarter of a second, so that oversleeping costs nothing, and fills that much
    slower: no minute exceeds its rate, except by the size of one request. Amounts are forgotten after a minute.
    """

    def __init__(self, per_minute: float | None, clock: Clock) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._next = clock.now()

    async def ready(self) -> None:
        """Wait until a request may be sent; only one caller may wait at a time."""
        while self.per_minute is not None and (wait := self._next - self._clock.now()) > 0:
            await self._clock.sleep(min(wait, POLL_S))

    def take(self, amount: float = 1.0) -> None:
        self._next = max(self._next, self._clock.now() - _BURST_S)
        self.correct(amount)

    def correct(self, amount: float) -> None:
        """Change the amount of an earlier request; positive takes more."""
        if self.per_minute is not None:
            seconds = amount * 60.0 / self.per_minute * 60.0 / (60.0 - _BURST_S)
            self._next = min(self._next + seconds, self._clock.now() + _MAX_DEBT_S)


class Gate:
    """Admits the calls of a run, or of a stage of it: so many at once and a minute, within budgets.

    As an async context manager it holds a call's place. The number of places has additive increase and multiplicative
    decrease, as inspect_ai's adaptive connections: until the first rejection it doubles every round (as many replies as
    places), then grows by a twentieth a round. A rejection (429) cuts it to four fifths, once in `COOLDOWN_S`
    regardless of the wait that the server asks for: repeated rejections continue to cut the limit, and replies continue
    to count.

    A rate that isn't configured is read from headers, or learned. A reply is estimated at the average tokens of recent
    replies: reserving the maximum of each would leave most of the rate unused. If a server rejects everything until a
    time that it names, the client then makes as many requests a minute as the server answered before. Each further
    rejection reduces the rate by `_SLOWER`; `_GROWTH_S` without one raise it by `_FASTER`.

    Args:
        start: Initial maximum of calls in flight.
        budgets: A call is reserved in each of them.
    """

    def __init__(self, limits: Limits, start: int, budgets: Sequence[Budget], clock: Clock) -> None:
        self.limits = limits
        self.limit = min(start, limits.concurrency)
        self.busy = 0
        self._least = min(MIN_CONCURRENCY, limits.concurrency)
        self._budgets = budgets
        self._clock = clock
        self._doubles = True
        self._good = 0
        self._calm_until = clock.now()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests = Bucket(limits.rpm, clock)
        self._tokens = Bucket(limits.tpm, clock)
        self._usual: float | None = None
        self._turn = asyncio.Lock()
        self._since = clock.now()
        self._answered = 0
        self._most: float | None = None
        self._grows_at = math.inf

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
                # A caller that was cancelled while it waited passes its slot on.
                with suppress(ValueError):
                    self._waiting.remove(turn)
            else:
                self._release_slot()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release_slot()

    def _release_slot(self) -> None:
        self.busy -= 1
        self._admit_waiting()

    def _admit_waiting(self) -> None:
        while self._waiting and self.busy < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self.busy += 1
                turn.set_result(None)

    async def admit(self, estimate: CallEstimate, breaker: Breaker) -> int:
        """Reserve a call's maximum usage, and wait until it may be sent; each needs a call of `settle`.

        Returns:
            Its estimated tokens.

        Raises:
            CallFailed: The budget of a stage is used up, and the run continues without this call.
            Halt: A budget is used up.
        """
        held: list[Budget] = []
        try:
            for budget in self._budgets:
                await budget.reserve(estimate)
                held.append(budget)
            async with self._turn:
                await self._requests.ready()
                await self._tokens.ready()
                await breaker.ready()
                usual = estimate.completion if self._usual is None else min(estimate.completion, ceil(self._usual))
                self._requests.take()
                self._tokens.take(estimate.prompt + usual)
        except BaseException:
            for budget in held:
                budget.settle(estimate, None, sent=False)
            raise
        return estimate.prompt + usual

    def settle(self, estimate: CallEstimate, usage: Usage | None, *, sent: bool) -> None:
        """End a call; see `Budget.settle`."""
        for budget in self._budgets:
            budget.settle(estimate, usage, sent=sent)

    def succeeded(self, reckoned: int, usage: Usage) -> None:
        """Record a reply: replace its estimated tokens with the actual ones that the server reports.

        It raises the number of places only if that held other calls back.
        """
        if self.busy >= self.limit:
            self._good += 1
            if self._good >= self.limit:
                grown = self.limit * 2 if self._doubles else max(self.limit + 1, int(self.limit * 1.05))
                self.limit = min(self.limits.concurrency, grown)
                self._good = 0
                self._admit_waiting()
        self._answered += 1
        if self._clock.now() >= self._grows_at and self._requests.per_minute is not None:
            self._set_rate(self._requests.per_minute * _FASTER)
        prompt, completion = usage.prompt_tokens, usage.completion_tokens
        if prompt is not None and completion is not None:
            self._usual = completion if self._usual is None else 0.9 * self._usual + 0.1 * completion
            self._tokens.correct(prompt + completion - reckoned)

    def seed(self, headers: Mapping[str, str]) -> None:
        """Use the limits that a server reports if no rate was configured.

        Args:
            headers: Header values by lower-case name.
        """
        for bucket, what, least in ((self._requests, "requests", 1), (self._tokens, "tokens", MIN_TOKENS_PER_MINUTE)):
            if bucket.per_minute is None and (said := minute_limit(headers, what)) is not None and said >= least:
                bucket.per_minute = said

    def refused(self, failure: AttemptFailed, breaker: Breaker) -> None:
        """Record that the server is overloaded, that its limit is reached, or that it rejects the key."""
        had_answered = breaker.refused(failure.wait)
        now = self._clock.now()
        if failure.limited and had_answered:
            self._doubles = False
            if now >= self._calm_until:
                self._calm_until = now + COOLDOWN_S
                self._good = 0
                self.limit = max(self._least, int(self.limit * 0.8))
        if failure.code != "rate_limit":
            return
        if math.isfinite(self._grows_at) and self._requests.per_minute is not None:
            self._set_rate(self._requests.per_minute * _SLOWER)
        wait = failure.wait or 0.0
        seconds = now - self._since + wait
        if breaker.is_open and wait and self._answered and seconds >= _MIN_RATE_PERIOD_S:
            if math.isinf(self._grows_at):
                self._most = self._requests.per_minute
            self._set_rate(60.0 * self._answered / seconds)
            self._since, self._answered = now + wait, 0

    def _set_rate(self, per_minute: float) -> None:
        most = per_minute if self._most is None else min(per_minute, self._most)
        self._requests.per_minute = max(1.0, most)
        self._grows_at = self._clock.now() + _GROWTH_S


# -- Waits between attempts, and when a call is given up.


MIN_ATTEMPTS = 8
"""A call that may yet succeed is given up only after at least this many attempts ..."""
MIN_IDENTICAL_FAILURES = 5
"""... if this many consecutive ones failed in the same way ..."""
MAX_ATTEMPTS = 20
"""... or if there were this many in all; rate limits, and servers that aren't ready, don't count."""
MAX_CALL_S = 3600.0
"""Longest duration of a call from its first attempt, waits included."""
MAX_REQUESTED_WAIT_S = 1800.0
"""A server that asks for a longer wait has a spent quota."""
_FIRST_BACKOFF_S = 0.5
_MAX_BACKOFF_S = 10.0


def backoff_s(row: int) -> float:
    """Return the longest wait after ``row`` consecutive failures, in seconds."""
    return min(_MAX_BACKOFF_S, _FIRST_BACKOFF_S * 2.0 ** min(row - 1, 10))


class Patience:
    """The time for which a call is retried.

    Attributes:
        row_began: When the first of the current streak of equal failures occurred, by the clock.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began = self.row_began = clock.now()
        self._attempts = 0
        self._row = 0
        self._last: tuple[str, int | None, bool] | None = None

    def wait(self, failure: AttemptFailed) -> float | None:
        """Return the seconds until the next attempt, at least what the server asks for; None to give the call up."""
        if not failure.may_be_repeated:
            return None
        kind = (failure.code, failure.status, failure.unreachable)
        if kind != self._last:
            self._last, self._row, self.row_began = kind, 0, self._clock.now()
        self._row += 1
        self._attempts += not failure.limited
        enough = self._attempts >= MIN_ATTEMPTS and self._row >= MIN_IDENTICAL_FAILURES
        if not failure.limited and (enough or self._attempts >= MAX_ATTEMPTS):
            return None
        backoff = self._clock.jitter(backoff_s(self._row))
        wait = max(failure.wait or 0.0, backoff)
        return None if self._clock.now() + wait > self._began + MAX_CALL_S else wait
