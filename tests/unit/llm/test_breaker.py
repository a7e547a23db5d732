"""The circuit breaker: one probing call at a time for a failing server, and learned rates for a limiting one."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from tests.servers.memory import HeldClock
from workbench.llm.endpoint import MIN_REJECTIONS, Breaker
from workbench.llm.failures import AttemptFailed
from workbench.llm.gate import CallEstimate, Gate
from workbench.llm.records import Usage
from workbench.llm.server import Limits

CALL = CallEstimate(prompt=10, completion=10, cost=0.0)
COUNTED = Usage(prompt_tokens=10, completion_tokens=10)


def opened(clock: HeldClock, wait: float | None = None) -> Breaker:
    breaker = Breaker(clock)
    assert [breaker.refused(wait) for _ in range(MIN_REJECTIONS)] == [True] * MIN_REJECTIONS
    return breaker


async def test_rejections_between_replies_delay_no_call() -> None:
    clock = HeldClock()
    breaker = Breaker(clock)
    for _ in range(10):
        for _ in range(MIN_REJECTIONS - 1):
            breaker.refused(60.0)
        breaker.succeeded(clock.time)
        await breaker.ready()
    assert clock.time == 0


async def test_few_rejections_among_many_calls_delay_no_call() -> None:
    clock = HeldClock()
    breaker = Breaker(clock)
    for number in range(100):
        await breaker.ready()
        if number % 4 == 0:
            breaker.refused(60.0)
    assert clock.time == 0


async def test_a_late_reply_to_an_earlier_call_does_not_close_the_breaker() -> None:
    clock = HeldClock()
    clock.time = 5.0
    breaker = opened(clock, 60.0)
    breaker.succeeded(4.9)
    assert breaker.is_open
    breaker.succeeded(5.0)
    assert not breaker.is_open


async def test_no_call_is_sent_before_the_retry_time_of_the_server() -> None:
    clock = HeldClock()
    await opened(clock, 540.0).ready()
    assert clock.time >= 540


async def test_one_call_probes_for_all() -> None:
    clock = HeldClock()
    breaker = opened(clock)
    gone: list[int] = []

    async def go(number: int) -> None:
        await breaker.ready()
        gone.append(number)

    calls = [asyncio.create_task(go(number)) for number in range(5)]
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(gone) == 1
    assert breaker.refused(None) is False
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(gone) == 2
    breaker.succeeded(clock.time)
    await asyncio.gather(*calls)
    assert len(gone) == 5


async def test_one_that_ends_otherwise_lets_another_one_find_out() -> None:
    breaker = opened(HeldClock())
    await breaker.ready()
    another = asyncio.create_task(breaker.ready())
    await asyncio.sleep(0)
    assert not another.done()
    breaker.ended()
    await another


async def test_probes_back_off_up_to_ten_seconds() -> None:
    clock = HeldClock()
    breaker = opened(clock)
    asked_at = []
    while clock.time < 90:
        await breaker.ready()
        asked_at.append(clock.time)
        breaker.refused(None)
    gaps = [later - earlier for earlier, later in pairwise(asked_at)]
    assert len(asked_at) <= 14
    assert gaps == sorted(gaps)
    assert gaps[-1] == 10


def limited(wait: float | None) -> AttemptFailed:
    return AttemptFailed("rate_limit", "slow down", status=429, wait=wait)


async def rate_of(gate: Gate, clock: HeldClock, calls: int = 60) -> float:
    """Requests a minute that it lets go."""
    began = clock.time
    for _ in range(calls):
        await gate.admit(CALL, Breaker(clock))
    return 60 * calls / (clock.time - began)


async def refused_after(answered: int, seconds: float, wait: float | None, limits: Limits) -> tuple[Gate, HeldClock]:
    clock = HeldClock()
    gate = Gate(limits, 1, [], clock)
    for _ in range(answered):
        gate.succeeded(await gate.admit(CALL, Breaker(clock)), COUNTED)
    clock.time = max(clock.time, seconds)
    gate.refused(limited(wait), opened(clock))
    clock.time += wait or 0.0
    return gate, clock


async def test_a_rate_that_nobody_tells_is_learned() -> None:
    gate, clock = await refused_after(50, 2.0, 58.0, Limits())
    assert await rate_of(gate, clock) == pytest.approx(50, rel=0.05)


async def test_a_learned_rate_is_never_above_the_given_one() -> None:
    gate, clock = await refused_after(50, 2.0, 28.0, Limits(rpm=60))
    assert await rate_of(gate, clock) <= 61


@pytest.mark.parametrize(("answered", "wait"), [(0, 58.0), (50, None), (50, 0.5)])
async def test_what_tells_no_rate_is_no_rate(answered: int, wait: float | None) -> None:
    gate, clock = await refused_after(answered, 2.0, wait, Limits())
    clock.time += 1
    began = clock.time
    for _ in range(60):
        await gate.admit(CALL, Breaker(clock))
    assert clock.time == began


async def test_a_learned_rate_falls_with_refusals_and_grows_without() -> None:
    gate, clock = await refused_after(50, 2.0, 58.0, Limits())
    for _ in range(5):
        gate.refused(limited(1.0), Breaker(clock))
    assert await rate_of(gate, clock) == pytest.approx(45, rel=0.05)
    for _ in range(20):
        clock.time += 301
        gate.succeeded(20, COUNTED)
    assert await rate_of(gate, clock) > 80
