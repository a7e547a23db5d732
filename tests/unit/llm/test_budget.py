"""The budget of a run holds, whatever a server reports or omits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.servers.memory import HeldClock, MemoryJournal, UsedTokens
from tests.servers.scripted import Scripted, chat_reply, scripted
from tests.unit.llm.calling import FAULTS, caller_of, chat_of, halt_of, in_turn
from workbench.llm.caller import Caller, StoredReply
from workbench.llm.endpoint import Breaker
from workbench.llm.gate import Budget, CallEstimate, Gate
from workbench.llm.records import Halt, RunUsed, Usage
from workbench.llm.server import Limits, Price


def used(caller: Caller) -> UsedTokens:
    journal = caller.journal
    assert isinstance(journal, MemoryJournal)
    return journal.used


async def test_calls_are_never_more_than_the_budget_over_all_starts() -> None:
    journal = MemoryJournal(RunUsed(calls=3))
    with scripted(in_turn(FAULTS["server"], "Yes")) as server:
        async with caller_of(server.url, journal=journal, limits=Limits(max_calls=8)) as caller:
            calls = [caller.call(item, "judge", chat_of(f"q{item}")) for item in range(20)]
            results = await asyncio.gather(*calls, return_exceptions=True)
    halts = [result for result in results if isinstance(result, Halt)]
    assert len(server.received) == 5
    assert len(halts) == 16
    assert halts[0].code == "budget"
    assert "8 of 8 calls" in halts[0].message


async def test_tokens_stop_before_they_are_overspent_and_not_before_they_must() -> None:
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, limits=Limits(max_tokens_total=1000, concurrency=64)) as caller:
            calls = [caller.call(item, "judge", chat_of(f"q{item}", 200)) for item in range(20)]
            results = await asyncio.gather(*calls, return_exceptions=True)
    # Each reply takes 120 tokens and at most about 220: the last one sent fits in either case.
    assert sum(isinstance(result, StoredReply) for result in results) == 7
    assert {type(result) for result in results} == {StoredReply, Halt}
    assert used(caller).prompt_tokens + used(caller).completion_tokens <= 1000


PRICE = Price(input=1000.0, output=2000.0, cached_input=100.0, date="2026-11-01")


async def test_money_is_reckoned_by_the_price_and_held_to_its_limit() -> None:
    limits = Limits(max_cost=1.0)
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, limits=limits, prices={"m": PRICE}) as caller:
            calls = [caller.call(item, "judge", chat_of(f"{item:0400}", 20)) for item in range(20)]
            results = await asyncio.gather(*calls, return_exceptions=True)
    answers = [result for result in results if isinstance(result, StoredReply)]
    assert answers[0].reply.usage.cost == pytest.approx(0.14)
    assert len(answers) == 7
    assert used(caller).cost == pytest.approx(0.98)
    assert caller.unpriced == 0


@pytest.mark.parametrize("thought", [500.0, 2000.0, 8000.0])
@pytest.mark.parametrize("thinks", [0, 20])
async def test_the_money_limit_holds_for_any_price_of_thoughts(thought: float, thinks: int) -> None:
    price = Price(input=1.0, output=2000.0, thought=thought, date="2026-11-01")
    details = {"completion_tokens_details": {"reasoning_tokens": thinks}}
    reply = chat_reply("Yes") | {"usage": {"prompt_tokens": 10, "completion_tokens": 20, **details}}
    limits = Limits(max_cost=0.5, concurrency=64)
    with scripted(lambda _: Scripted(body=reply)) as server:
        async with caller_of(server.url, limits=limits, prices={"m": price}) as caller:
            calls = [caller.call(item, "judge", chat_of(f"{item:040}", 20)) for item in range(40)]
            results = await asyncio.gather(*calls, return_exceptions=True)
    answers = [result for result in results if isinstance(result, StoredReply)]
    assert answers[0].reply.usage.cost == pytest.approx((10 + 20 * (thought if thinks else 2000.0)) / 1e6)
    assert 0.0 < used(caller).cost <= 0.5


async def test_a_reported_cost_is_used() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "cost": 0.6}
    with scripted(lambda _: Scripted(body=chat_reply("Yes") | {"usage": usage})) as server:
        async with caller_of(
            server.url, profile="openrouter", limits=Limits(max_cost=1.0), environment={"OPENROUTER_API_KEY": "k"}
        ) as caller:
            await caller.call(1, "judge", chat_of("a"))
            await caller.call(2, "judge", chat_of("b"))
            with pytest.raises(Halt, match="budget is used up"):
                await caller.call(3, "judge", chat_of("c"))
    assert used(caller).cost == pytest.approx(1.2)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": "100", "completion_tokens": -20}, {"prompt_tokens": 1e308}])
async def test_a_reply_without_counts_is_held_against_the_budget_as_it_was_estimated(usage: Any) -> None:
    reply = Scripted(body=chat_reply("Yes") | {"usage": usage})
    for limits in (Limits(max_tokens_total=1000), Limits(max_cost=1.0)):
        with scripted(lambda _: reply) as server:
            async with caller_of(server.url, limits=limits, prices={"m": PRICE}) as caller:
                calls = [caller.call(item, "judge", chat_of(f"{item:0400}", 200)) for item in range(20)]
                results = await asyncio.gather(*calls, return_exceptions=True)
        assert 1 <= len(server.received) < 5
        assert isinstance(results[-1], Halt)
        assert used(caller).cost == 0.0


async def test_more_cached_tokens_than_tokens_earn_nothing() -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 0, "prompt_tokens_details": {"cached_tokens": 10**8 - 1}}
    with scripted(lambda _: Scripted(body=chat_reply("Yes") | {"usage": usage})) as server:
        async with caller_of(server.url, prices={"m": PRICE}) as caller:
            reply = (await caller.call(1, "judge", chat_of("a"))).reply
    assert reply.usage.cost == pytest.approx(0.01)


async def test_a_cost_limit_halts_if_the_server_reports_no_cost() -> None:
    with scripted(lambda _: "Yes") as server:
        environment = {"OPENROUTER_API_KEY": "k"}
        async with caller_of(
            server.url, profile="openrouter", limits=Limits(max_cost=1.0), environment=environment
        ) as caller:
            await caller.call(1, "judge", chat_of("a"))
            with pytest.raises(Halt, match="max_cost can't be kept"):
                await caller.call(2, "judge", chat_of("b"))
    assert len(server.received) == 1


async def test_a_cost_limit_without_a_price_halts_before_the_first_call() -> None:
    with scripted(lambda _: "Yes") as server:
        halt = await halt_of(caller_of(server.url, limits=Limits(max_cost=1.0)))
    assert (halt.code, server.received) == ("budget", [])
    assert "[prices]" in halt.message


async def test_an_unknown_cost_is_none_and_counted() -> None:
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url) as caller:
            reply = (await caller.call(1, "judge", chat_of("a"))).reply
    assert reply.usage == Usage(prompt_tokens=100, completion_tokens=20)
    assert caller.unpriced == 1


async def test_a_call_is_reserved_in_all_budgets_or_none() -> None:
    estimate = CallEstimate(prompt=10, completion=10, cost=0.0)
    own, shared = Budget(Limits(max_calls=5), RunUsed()), Budget(Limits(max_calls=1), RunUsed())
    clock = HeldClock()
    both, breaker = Gate(Limits(), 1, [own, shared], clock), Breaker(clock)
    await both.admit(estimate, breaker)
    both.settle(estimate, Usage(prompt_tokens=1, completion_tokens=1), sent=True)
    with pytest.raises(Halt, match="1 of 1 calls"):
        await both.admit(estimate, breaker)
    # The rejected call is not charged to the first budget: four are left there.
    for _ in range(4):
        await own.reserve(estimate)
    for _ in range(4):
        own.settle(estimate, None, sent=True)
    with pytest.raises(Halt, match="5 of 5 calls"):
        await own.reserve(estimate)


async def test_callers_draw_on_a_shared_budget() -> None:
    shared = Budget(Limits(max_calls=3), RunUsed())
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, shared=shared) as one, caller_of(server.url, shared=shared) as other:
            calls = [
                caller.call(n, "judge", chat_of(f"{name}{n}"))
                for name, caller in (("a", one), ("b", other))
                for n in range(3)
            ]
            results = await asyncio.gather(*calls, return_exceptions=True)
    assert len(server.received) == 3
    assert sum(isinstance(result, Halt) for result in results) == 3


@pytest.mark.parametrize(
    ("usage", "completion", "reasoning"),
    [
        # As OpenAI counts: thoughts are among the completion's tokens.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 510,
                "total_tokens": 520,
                "completion_tokens_details": {"reasoning_tokens": 500},
            },
            510,
            500,
        ),
        # As xAI does: they are not included, and are listed in the details and the total.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 10,
                "total_tokens": 520,
                "completion_tokens_details": {"reasoning_tokens": 500},
            },
            510,
            500,
        ),
        # Only in the total, only in the details, next to the others.
        ({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 520}, 510, 500),
        (
            {"prompt_tokens": 10, "completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 500}},
            510,
            500,
        ),
        ({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20, "reasoning_tokens": 500}, 510, 500),
        # A total that is too small, or nonsense, takes nothing away.
        ({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 5}, 10, None),
        ({"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": "many"}, 10, None),
    ],
)
async def test_thoughts_that_a_server_hides_are_paid_for(usage: Any, completion: int, reasoning: int | None) -> None:
    reply = chat_reply("Yes") | {"usage": usage}
    with scripted(lambda _: Scripted(body=reply)) as server:
        prices = {"m": Price(input=0.0, output=1e6, date="2026-01-01")}
        async with caller_of(server.url, prices=prices) as caller:
            found = (await caller.call(1, "judge", chat_of("q", max_tokens=1))).reply.usage
    assert (found.completion_tokens, found.reasoning_tokens) == (completion, reasoning)
    assert found.cost == completion


async def test_uncounted_visible_thoughts_are_estimated() -> None:
    reply = chat_reply("Yes", message={"reasoning_content": "Let me see. " * 100})
    reply["usage"] = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    limits = Limits(max_cost=100.0, concurrency=1)
    with scripted(lambda _: Scripted(body=reply)) as server:
        prices = {"m": Price(input=0.0, output=1e6, date="2026-01-01")}
        async with caller_of(server.url, prices=prices, limits=limits) as caller:
            found = (await caller.call(1, "judge", chat_of("q", max_tokens=1))).reply.usage
            assert (found.completion_tokens, found.reasoning_tokens) == (302, 300)
            with pytest.raises(Halt, match=r"302\.0000 of 100\.0 US dollars"):
                await caller.call(1, "judge", chat_of("r", max_tokens=1))
