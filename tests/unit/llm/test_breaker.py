"""The circuit breaker: one probing call at a time for a failing server, and learned rates for a limiting one."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from tests.servers.memory import HeldClock
from workbench.llm.endpoint import MIN_REJECTIONS, Breaker
from workbench.llm.gate import CallEstimate
from workbench.llm.records import Usage

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
