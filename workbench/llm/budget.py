"""What a run may spend, held before each call is sent."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from workbench.llm.journal import RunUsed
from workbench.llm.records import Halt, Usage
from workbench.llm.server import Limits, Price

CHARACTERS_A_TOKEN = 4
"""Of a prompt, to estimate by."""

ASSUMED_REPLY = 1000
"""Tokens of a reply that has no limit of its own, to estimate by."""


def cost_of(usage: Usage, price: Price | None) -> float | None:
    """US dollars: as the server says, else by the price; None when neither is known."""
    if usage.cost is not None:
        return usage.cost
    if price is None or usage.prompt_tokens is None or usage.completion_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
    cached_price = price.input if price.cached_input is None else price.cached_input
    input_cost = (usage.prompt_tokens - cached) * price.input + cached * cached_price
    return (input_cost + usage.completion_tokens * price.output) / 1e6


class CallEstimate(Struct):
    """What a call may take at most, as far as that can be told before."""

    prompt: int
    completion: int
    cost: float

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.prompt + self.completion


class Budget:
    """Hard limits on calls, tokens and money over all starts of a run.

    A call that could go over what is left waits for those in flight, which may take less than they hold; alone it
    ends the run. So the limits are kept as well as prompts can be estimated, and calls exactly.
    """

    def __init__(self, limits: Limits, before: RunUsed) -> None:
        self._limits = limits
        self._calls = before.calls
        self._tokens = float(before.tokens)
        self._cost = before.cost
        self._held_tokens = 0.0
        self._held_cost = 0.0
        self._in_flight = 0
        self._freed = asyncio.Event()

    async def reserve(self, estimate: CallEstimate) -> None:
        """Count a call and hold what it may take; every one needs a `settle`.

        Raises:
            Halt: It can't be paid for.
        """
        while (limit := self._exceeded(estimate)) is not None:
            if not self._in_flight or self._exceeded_for_good():
                raise Halt("budget", f"The budget is used up: {limit}. Raise it and resume the run.")
            self._freed.clear()
            await self._freed.wait()
        self._calls += 1
        self._in_flight += 1
        self._held_tokens += estimate.tokens
        self._held_cost += estimate.cost

    def settle(self, estimate: CallEstimate, usage: Usage | None, *, sent: bool) -> None:
        """Give back what a call held, and count what it used; one that was never sent is no call.

        Args:
            usage: The reply's; what it doesn't tell counts as estimated. None when there was no reply.
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

    def _exceeded(self, estimate: CallEstimate) -> str | None:
        """Which limit the call might go over, in words."""
        limits = self._limits
        if limits.max_calls is not None and self._calls + 1 > limits.max_calls:
            return f"{self._calls} of {limits.max_calls} calls were made"
        if limits.max_tokens is not None and self._tokens + self._held_tokens + estimate.tokens > limits.max_tokens:
            return f"{self._tokens:.0f} of {limits.max_tokens} tokens, and the next call may take {estimate.tokens}"
        if limits.max_cost is not None and (
            self._cost + self._held_cost + estimate.cost > limits.max_cost or self._cost >= limits.max_cost
        ):
            return f"{self._cost:.4f} of {limits.max_cost} US dollars, and the next call may cost {estimate.cost:.4f}"
        return None

    def _exceeded_for_good(self) -> bool:
        """Whether waiting for the calls in flight can't help: what is spent is spent.

        Calls come back when nobody was there to take them.
        """
        limits = self._limits
        return (
            (limits.max_calls is not None and self._calls - self._in_flight >= limits.max_calls)
            or (limits.max_tokens is not None and self._tokens >= limits.max_tokens)
            or (limits.max_cost is not None and self._cost >= limits.max_cost)
        )


class Budgets:
    """Several budgets as one: a call is held in each of them, such as a model's own and that of all models."""

    def __init__(self, *budgets: Budget) -> None:
        self._budgets = budgets

    async def reserve(self, estimate: CallEstimate) -> None:
        """As with `Budget`; one that can't be paid for by all of them is held by none."""
        held: list[Budget] = []
        try:
            for budget in self._budgets:
                await budget.reserve(estimate)
                held.append(budget)
        except BaseException:
            for budget in held:
                budget.settle(estimate, None, sent=False)
            raise

    def settle(self, estimate: CallEstimate, usage: Usage | None, *, sent: bool) -> None:
        """As with `Budget`."""
        for budget in self._budgets:
            budget.settle(estimate, usage, sent=sent)
