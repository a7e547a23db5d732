"""A server that fails every call, and a slow one."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from tests.unit.llm.calling import caller_of, chat_of, in_turn
from workbench.llm.records import CallFailed, Halt
from workbench.llm.server import Limits

WRONG = Scripted(400, body={"error": {"message": "top_k: extra fields not permitted"}})
LONG = Scripted(400, body={"error": {"message": "maximum context length is 8 tokens"}})


async def outcomes(answer: Any, texts: list[str], together: int = 1, **more: Any) -> list[Any]:
    """Return the results of calls, ``together`` at a time, and the number of requests."""
    found: list[Any] = []
    with scripted(answer) as server:
        async with caller_of(server.url, clock=HeldClock(), limits=Limits(concurrency=together), **more) as caller:
            for start in range(0, len(texts), together):
                calls = [caller.call(1, "judge", chat_of(text)) for text in texts[start : start + together]]
                found += await asyncio.gather(*calls, return_exceptions=True)
    return [*found, len(server.received)]


@pytest.mark.parametrize(
    "refusal",
    [
        WRONG,
        Scripted(422, body={"detail": [{"loc": ["body", "min_p"], "msg": "extra fields not permitted"}]}),
        Scripted(400, body={"error": {"message": "not a valid model ID", "code": 400}}),
        Scripted(200, body={"error": {"message": "not a valid model ID", "code": 400}}),
        Scripted(418, body="teapot"),
    ],
)
async def test_identical_rejections_halt_with_the_server_message(refusal: Scripted) -> None:
    *found, asked_for = await outcomes(lambda _: refusal, [f"q{n}" for n in range(20)])
    assert [type(one) for one in found] == [CallFailed] * 5 + [Halt] * 15
    assert asked_for == 5
    for word in ("all 5 calls", "then resume the run"):
        assert word in found[-1].message
    assert any(word in found[-1].message for word in ("not permitted", "valid model", "teapot"))


async def test_a_server_that_answered_long_and_now_refuses_everything_halts_too() -> None:
    answers = in_turn(*["Yes"] * 10, WRONG)
    *found, asked_for = await outcomes(answers, [f"q{n}" for n in range(20)])
    assert [type(one).__name__ for one in found] == ["StoredReply"] * 10 + ["CallFailed"] * 5 + ["Halt"] * 5
    assert asked_for == 15
    assert "top_k: extra fields not permitted" in found[-1].message


async def test_a_page_instead_of_a_model_halts_at_once() -> None:
    *found, asked_for = await outcomes(lambda _: Scripted(body="<html><title>Sign in</title>"), ["q0", "q1"])
    assert [type(one) for one in found] == [Halt] * 2
    assert asked_for == 1
    assert "an HTML page, “Sign in”" in found[-1].message


async def test_a_server_that_fails_at_everything_halts_too() -> None:
    broken = Scripted(500, body={"error": {"message": "CUDA error"}})
    *found, asked_for = await outcomes(lambda _: broken, [f"q{n}" for n in range(9)])
    assert [type(one) for one in found] == [CallFailed] * 5 + [Halt] * 4
    assert asked_for == 5 * 8
    assert "CUDA error" in found[-1].message


async def test_a_reply_that_is_on_its_way_clears_the_server() -> None:
    slow = threading.Event()
    refused = [0]

    def answer(received: Received) -> str | Scripted:
        text = received.body["messages"][0]["content"]
        if text.startswith("good"):
            return Scripted(body=chat_reply("Yes"), hold=slow) if text == "good0" else "Yes"
        refused[0] += 1
        if refused[0] == 12:
            slow.set()
        return WRONG

    texts = ["good0", *(f"bad{n}" for n in range(12)), *(f"good{n}" for n in range(1, 4))]
    *found, _ = await outcomes(answer, texts, together=len(texts))
    assert sum(isinstance(one, CallFailed) for one in found) == 12
    assert not any(isinstance(one, Halt) for one in found)


async def test_refusals_between_replies_are_the_items_own() -> None:
    def answer(received: Received) -> str | Scripted:
        return WRONG if "bad" in received.body["messages"][0]["content"] else "Yes"

    texts = [f"bad{n}" if n % 4 else f"good{n}" for n in range(40)]
    *found, _ = await outcomes(answer, texts)
    assert [type(one).__name__ for one in found].count("CallFailed") == 30


async def test_texts_that_are_too_long_may_precede_others() -> None:
    def answer(received: Received) -> str | Scripted:
        return LONG if "long" in received.body["messages"][0]["content"] else "Yes"

    *found, _ = await outcomes(answer, [*(f"long{n}" for n in range(20)), "short"])
    assert [type(one).__name__ for one in found] == ["CallFailed"] * 20 + ["StoredReply"]
    *found, _ = await outcomes(answer, [f"long{n}" for n in range(30)])
    assert [type(one) for one in found] == [CallFailed] * 25 + [Halt] * 5


@pytest.mark.parametrize(
    "busy",
    [
        Scripted(529, body={"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        Scripted(529, body=""),
        Scripted(503, body={"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
        Scripted(503, body={"error": "Model org/m is currently loading", "estimated_time": 20.0}),
        Scripted(500, body={"error": {"message": "the model is still being loaded"}}),
        Scripted(200, body={"error": {"message": "Overloaded", "code": 529}}),
        Scripted(400, body={"error": {"message": "Model is loading, try again later"}}),
    ],
)
async def test_loading_and_overloaded_servers_are_waited_for(busy: Scripted) -> None:
    clock = HeldClock()
    with scripted(in_turn(*[busy] * 40, "Yes")) as server:
        async with caller_of(server.url, clock=clock) as caller:
            assert (await caller.call(1, "judge", chat_of("q"))).reply.text == "Yes"
    assert len(server.received) == 41
    assert "waited for" in caller.warnings[0]


@pytest.mark.parametrize("message", ["error loading model: out of memory", "failed: model is loading", "no such model"])
async def test_a_model_that_cannot_be_loaded_is_not_waited_for(message: str) -> None:
    with scripted(lambda _: Scripted(500, body={"error": {"message": message}})) as server:
        async with caller_of(server.url) as caller:
            with pytest.raises(CallFailed, match="HTTP 500"):
                await caller.call(1, "judge", chat_of("q"))
    assert len(server.received) == 8


async def test_unsent_calls_do_not_use_up_the_budget() -> None:
    journal = MemoryJournal()
    limits = Limits(max_calls=3, concurrency=20)
    async with caller_of("http://127.0.0.1:9/v1", journal=journal, limits=limits) as caller:
        calls = [caller.call(n, "judge", chat_of(f"q{n}")) for n in range(12)]
        found = await asyncio.gather(*calls, return_exceptions=True)
    assert {(one.code, "refused" in one.message) for one in found if isinstance(one, Halt)} == {("transport", True)}
    assert all(isinstance(one, Halt) for one in found)


async def test_a_budget_spent_on_failures_reports_them() -> None:
    limits = Limits(max_calls=3, concurrency=1)
    with scripted(lambda _: Scripted(500, body={"error": {"message": "CUDA error"}})) as server:
        async with caller_of(server.url, limits=limits) as caller:
            with pytest.raises(Halt, match=r"3 of 3 calls were made.*CUDA error"):
                await caller.call(1, "judge", chat_of("q"))
