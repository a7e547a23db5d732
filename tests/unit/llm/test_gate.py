"""Rate limits of requests and tokens per minute, and calls in flight, with a controlled clock."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.memory import HeldClock
from workbench.llm.endpoint import Breaker
from workbench.llm.failures import AttemptFailed
from workbench.llm.gate import (
    COOLDOWN_S,
    INITIAL_CONCURRENCY,
    MIN_CONCURRENCY,
    Bucket,
    CallEstimate,
    Gate,
)
from workbench.llm.records import Usage
from workbench.llm.server import Limits

LIMITED = AttemptFailed("rate_limit", "slow down", status=429)


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 60 for time in times) for start in times)


async def sent_at(bucket: Bucket, clock: HeldClock, count: int) -> list[float]:
    times = []
    for _ in range(count):
        await bucket.ready()
        bucket.take()
        times.append(clock.now())
    return times


@pytest.mark.parametrize("rate", [1, 6, 60, 600])
async def test_no_minute_sees_more_requests_than_allowed(rate: int) -> None:
    clock = HeldClock()
    times = await sent_at(Bucket(rate, clock), clock, 3 * rate)
    assert most_in_a_minute(times) <= rate
    assert times[-1] <= 3 * 61


async def test_an_idle_minute_is_not_saved_up() -> None:
    clock = HeldClock()
    bucket = Bucket(600, clock)
    await sent_at(bucket, clock, 600)
    clock.time += 300
    assert most_in_a_minute(await sent_at(bucket, clock, 1200)) <= 600


def reckoned(prompt: int = 0, completion: int = 0) -> CallEstimate:
    return CallEstimate(prompt=prompt, completion=completion, cost=0.0)


@given(st.lists(st.tuples(st.integers(1, 400), st.integers(1, 400), st.integers(0, 400)), min_size=1, max_size=60))
def test_tokens_stay_under_their_rate_but_for_one_request(requests: list[tuple[int, int, int]]) -> None:
    async def run() -> None:
        clock = HeldClock()
        gate = Gate(Limits(tpm=1000), 1, [], clock)
        used: list[tuple[float, int]] = []
        for thought, prompt, completion in requests:
            tokens = await gate.admit(reckoned(thought, 400), Breaker(clock))
            used.append((clock.now(), prompt + completion))
            gate.succeeded(tokens, Usage(prompt_tokens=prompt, completion_tokens=completion))
        for start, _ in used:
            inside = [took for time, took in used if start <= time < start + 60]
            assert sum(inside) <= 1000 + max(inside) + 10

    asyncio.run(run())


async def test_short_replies_do_not_reserve_the_longest_reply() -> None:
    clock = HeldClock()
    gate = Gate(Limits(tpm=60_000), 1, [], clock)
    for _ in range(100):
        tokens = await gate.admit(reckoned(100, 30_000), Breaker(clock))
        gate.succeeded(tokens, Usage(prompt_tokens=100, completion_tokens=20))
    assert clock.time <= 100 * 120 / 1000 + 1


async def test_unset_rates_are_taken_from_the_headers() -> None:
    clock = HeldClock()
    gate = Gate(Limits(), 1, [], clock)
    await gate.admit(reckoned(1000), Breaker(clock))
    gate.seed({"x-ratelimit-limit-requests": "60"})
    gate.seed({"x-ratelimit-limit-requests": "6000000", "x-ratelimit-limit-tokens": "nonsense"})
    for _ in range(60):
        await gate.admit(reckoned(1000), Breaker(clock))
    assert clock.time >= 58
    given_rate = Gate(Limits(rpm=6), 1, [], clock)
    given_rate.seed({"x-ratelimit-limit-requests": "6000", "x-ratelimit-limit-tokens": "0"})
    await given_rate.admit(reckoned(1), Breaker(clock))
    before = clock.time
    await given_rate.admit(reckoned(1), Breaker(clock))
    assert clock.time - before >= 9


async def test_an_absurd_count_holds_a_run_up_for_a_minute_at_most() -> None:
    clock = HeldClock()
    gate = Gate(Limits(tpm=1000), 1, [], clock)
    gate.succeeded(await gate.admit(reckoned(10), Breaker(clock)), Usage(prompt_tokens=10**8, completion_tokens=10**8))
    await gate.admit(reckoned(10), Breaker(clock))
    assert 59 <= clock.time <= 61


async def test_an_absurd_rate_of_a_server_is_ignored() -> None:
    clock = HeldClock()
    gate = Gate(Limits(), 1, [], clock)
    for said in ("1", "0", "-1", "1e9", "9" * 5000, "\u0663", "nan", ""):
        requests = {"x-ratelimit-limit-requests": said} if said != "1" else {}
        gate.seed({**requests, "x-ratelimit-limit-tokens": said})
    for _ in range(10):
        await gate.admit(reckoned(1000), Breaker(clock))
    assert clock.time <= 1


async def test_a_reply_without_counts_uses_its_estimate() -> None:
    clock = HeldClock()
    gate = Gate(Limits(tpm=1000), 1, [], clock)
    for _ in range(11):
        gate.succeeded(await gate.admit(reckoned(100), Breaker(clock)), Usage())
    assert clock.time >= 58


def saturated(gate: Gate) -> Gate:
    gate.busy = gate.limit
    return gate


def good_round(gate: Gate) -> None:
    for _ in range(saturated(gate).limit):
        gate.succeeded(0, Usage())


def test_the_limit_doubles_until_it_is_rejected_then_creeps() -> None:
    clock = HeldClock()
    gate = Gate(Limits(concurrency=100), INITIAL_CONCURRENCY, [], clock)
    seen = [gate.limit]
    for _ in range(3):
        good_round(gate)
        seen.append(gate.limit)
    assert seen == [20, 40, 80, 100]
    gate.refused(LIMITED, Breaker(clock))
    assert gate.limit == 80
    good_round(gate)
    assert gate.limit == 84


def test_concurrency_starts_within_the_limit_and_grows_on_demand() -> None:
    assert Gate(Limits(concurrency=3), INITIAL_CONCURRENCY, [], HeldClock()).limit == 3
    idle = Gate(Limits(concurrency=100), INITIAL_CONCURRENCY, [], HeldClock())
    for _ in range(1000):
        idle.succeeded(0, Usage())
    assert idle.limit == INITIAL_CONCURRENCY


def test_refusals_in_the_cooldown_count_once() -> None:
    clock = HeldClock()
    gate = Gate(Limits(concurrency=100), INITIAL_CONCURRENCY, [], clock)
    for _ in range(50):
        gate.refused(LIMITED, Breaker(clock))
    assert gate.limit == 16
    clock.time += COOLDOWN_S
    gate.refused(LIMITED, Breaker(clock))
    assert gate.limit == 12


def test_sustained_refusals_walk_it_down_and_never_freeze_it() -> None:
    clock = HeldClock()
    gate = Gate(Limits(concurrency=100), INITIAL_CONCURRENCY, [], clock)
    for _ in range(200):
        clock.time += 2.0
        gate.refused(LIMITED, Breaker(clock))
    assert gate.limit == MIN_CONCURRENCY
    for _ in range(40):
        clock.time += 1.0
        good_round(gate)
        gate.refused(LIMITED, Breaker(clock))
    assert gate.limit > MIN_CONCURRENCY
    for _ in range(100):
        good_round(gate)
    assert gate.limit == 100


async def test_no_more_are_let_in_than_the_limit_in_the_order_of_their_coming() -> None:
    gate = Gate(Limits(concurrency=2), 2, [], HeldClock())
    order: list[int] = []
    leave = asyncio.Event()

    async def visit(number: int) -> None:
        async with gate:
            order.append(number)
            await leave.wait()

    visits = [asyncio.create_task(visit(number)) for number in range(6)]
    await asyncio.sleep(0)
    assert (order, gate.busy) == ([0, 1], 2)
    visits[2].cancel()
    leave.set()
    await asyncio.gather(*visits, return_exceptions=True)
    assert (order, gate.busy) == ([0, 1, 3, 4, 5], 0)


async def test_a_call_cancelled_on_admission_releases_its_place() -> None:
    gate = Gate(Limits(concurrency=1), 1, [], HeldClock())
    entered: list[str] = []

    async def visit(name: str) -> None:
        async with gate:
            entered.append(name)

    await gate.__aenter__()
    first, second = (asyncio.create_task(visit(name)) for name in ("first", "second"))
    await asyncio.sleep(0)
    await gate.__aexit__()
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert (entered, gate.busy) == (["second"], 0)


async def test_cancellation_during_a_release_is_silent() -> None:
    gate = Gate(Limits(concurrency=2), 2, [], HeldClock())
    for _ in range(2):
        await gate.__aenter__()
    waiting = [asyncio.create_task(gate.__aenter__()) for _ in range(6)]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    for _ in range(2):
        await gate.__aexit__()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in found)
    assert gate.busy == 0
