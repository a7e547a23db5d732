"""A call through the whole client, against real servers: requests, journal, and what ends a run."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import ExitStack
from typing import Any

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from tests.unit.llm.calling import FAULTS, SECRET, caller_of, chat_of, failure_of, halt_of, in_turn, no_descriptor_left
from workbench.llm.caller import StoredReply
from workbench.llm.records import CallFailed, Chat, Halt, PromptMessage, Sampling, Scoring
from workbench.llm.server import Limits


async def test_a_call_is_journalled_answered_and_never_made_again() -> None:
    journal = MemoryJournal()
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, journal=journal) as caller:
            first = await caller.call(7, "judge", chat_of("q"))
            again = await caller.call(8, "judge", chat_of("q"))
            other = await caller.call(8, "judge", chat_of("q"), sample=1)
        async with caller_of(server.url, journal=journal) as offline:
            later = await offline.call(9, "judge", chat_of("q"))
    assert (first.reply.text, first.reused) == ("Yes", False)
    assert again == later == StoredReply(reply=first.reply, key=first.key, reused=True)
    assert (other.reused, other.key != first.key) == (False, True)
    assert len(server.received) == 2
    assert journal.states == ["done", "done"]
    assert journal.attempts[0].item == 7
    assert journal.attempts[0].call.body == server.received[0].raw
    assert (caller.reused, journal.used.prompt_tokens, journal.used.completion_tokens) == (1, 200, 40)


async def test_the_attempt_is_committed_before_it_is_sent() -> None:
    order: list[str] = []

    class Slow(MemoryJournal):
        async def begin(self, item: int, call: Any) -> int:
            await asyncio.sleep(0.01)
            order.append("committed")
            return await super().begin(item, call)

    with scripted(lambda _: order.append("came") or "Yes") as server:  # type: ignore[func-returns-value]
        async with caller_of(server.url, journal=Slow()) as caller:
            await caller.call(1, "judge", chat_of("q"))
    assert order == ["committed", "came"]


async def test_equal_calls_at_once_are_one_call() -> None:
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url) as caller:
            answers = await asyncio.gather(*(caller.call(item, "judge", chat_of("q")) for item in range(20)))
    assert len(server.received) == 1
    assert sorted(answer.reused for answer in answers) == [False] + [True] * 19


async def test_equal_calls_share_a_failure_too() -> None:
    with scripted(lambda _: Scripted(400, body={"error": {"message": "bad"}})) as server:
        async with caller_of(server.url) as caller:
            calls = [caller.call(item, "judge", chat_of("q")) for item in range(5)]
            failures = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(failure) for failure in failures} == {CallFailed}
    assert len(server.received) == 1


async def test_a_waiter_on_a_cancelled_call_makes_it_itself() -> None:
    journal = MemoryJournal()
    came, never = threading.Event(), threading.Event()

    def answer(_: Received) -> str | Scripted:
        if came.is_set():
            return "Yes"
        came.set()
        return Scripted(hold=never)

    with scripted(answer) as server:
        async with caller_of(server.url, journal=journal) as caller:
            first = asyncio.create_task(caller.call(1, "judge", chat_of("q")))
            second = asyncio.create_task(caller.call(2, "judge", chat_of("q")))
            await asyncio.to_thread(came.wait)
            first.cancel()
            answered = await second
    assert (answered.reply.text, answered.reused) == ("Yes", False)
    assert first.cancelled()
    assert journal.states == ["sent", "done"]
    assert caller.in_flight == 0


@pytest.mark.parametrize("code", FAULTS)
async def test_a_passing_fault_is_repeated_and_its_bytes_are_the_same(code: str) -> None:
    journal, clock = MemoryJournal(), HeldClock()
    with scripted(in_turn(FAULTS[code], "Yes")) as server:
        async with caller_of(server.url, journal=journal, clock=clock) as caller:
            answer = await caller.call(1, "judge", chat_of("q"))
    assert answer.reply.text == "Yes"
    assert journal.states == ["failed", "done"]
    assert (journal.attempts[0].code, dict(caller.errors)) == (code, {code: 1})
    assert server.received[0].raw == server.received[1].raw
    assert clock.sleeps == [3.0 if code == "rate_limit" else 0.5]
    assert [one.partition(" The server says: ")[2] != "" for one in caller.warnings] == [True] * (code == "rate_limit")


async def test_a_rate_limit_is_reported_once_with_the_server_message() -> None:
    limited = Scripted(429, {"Retry-After": "3"}, {"error": {"message": "10 requests a minute are allowed to you"}})
    with scripted(in_turn(limited, limited, "Yes")) as server:
        async with caller_of(server.url, clock=HeldClock()) as caller:
            await caller.call(1, "judge", chat_of("q"))
    (warning,) = caller.warnings
    assert "limits the rate of calls: they wait" in warning
    assert "10 requests a minute are allowed to you" in warning


async def test_a_missing_reply_is_a_timeout() -> None:
    journal = MemoryJournal()
    with scripted(in_turn(Scripted(hold=threading.Event()), "Yes")) as server:
        async with caller_of(server.url, journal=journal, timeout_s=1.0) as caller:
            assert (await caller.call(1, "judge", chat_of("q"))).reply.text == "Yes"
    # On a busy machine an answer that is there may be late, too.
    *late, last = [attempt.code for attempt in journal.attempts]
    assert (set(late), last) == ({"timeout"}, None)


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "no such field", "bad_request"),
        (422, "no such field", "bad_request"),
        (400, "maximum context length is 8 tokens", "context_length"),
        (400, "content_filter", "content_filter"),
    ],
)
async def test_a_permanent_failure_is_sent_once(status: int, message: str, code: str) -> None:
    with scripted(lambda _: Scripted(status, body={"error": {"message": message}})) as server:
        failure = await failure_of(caller_of(server.url))
    assert failure.code == code
    assert message in failure.detail
    assert len(server.received) == 1


async def test_an_item_that_always_fails_affects_no_other() -> None:
    def answer(received: Received) -> str | Scripted:
        return FAULTS["server"] if "bad" in received.body["messages"][0]["content"] else "Yes"

    journal = MemoryJournal()
    with scripted(answer) as server:
        async with caller_of(server.url, journal=journal) as caller:
            with pytest.raises(CallFailed, match="HTTP 500"):
                await caller.call(1, "judge", chat_of("bad"))
            assert (await caller.call(2, "judge", chat_of("good"))).reply.text == "Yes"
    assert journal.states == ["failed"] * 8 + ["done"]


async def test_a_filtered_reply_is_stored_and_not_requested_again() -> None:
    journal = MemoryJournal()
    with scripted(lambda _: Scripted(body=chat_reply(None, finish_reason="content_filter"))) as server:
        for _ in range(2):
            assert (await failure_of(caller_of(server.url, journal=journal))).code == "content_filter"
    assert len(server.received) == 1
    assert journal.states == ["done"]


@pytest.mark.parametrize(("status", "code"), [(401, "auth"), (403, "auth"), (404, "bad_request"), (307, "bad_request")])
async def test_a_refusal_of_the_first_call_halts_and_names_the_variable_not_the_key(status: int, code: str) -> None:
    refusal = Scripted(status, {"location": "http://127.0.0.1:9/"}, {"error": {"message": f"bad key {SECRET}"}})
    journal = MemoryJournal()
    with scripted(lambda _: refusal) as server:
        caller = caller_of(
            server.url, profile="openai", key_variable="MY_KEY", environment={"MY_KEY": SECRET}, journal=journal
        )
        halt = await halt_of(caller)
    assert server.received[0].headers["authorization"] == f"Bearer {SECRET}"
    assert halt.code == code
    assert "MY_KEY" in halt.message
    assert "profile openai" in halt.message
    assert len(server.received) == 1
    kept = repr([vars(attempt) for attempt in journal.attempts]) + repr(caller) + repr(halt) + str(halt)
    assert SECRET not in kept


async def test_after_a_success_such_a_refusal_is_the_items_own() -> None:
    with scripted(in_turn("Yes", Scripted(403, body="not for you"))) as server:
        async with caller_of(server.url) as caller:
            await caller.call(1, "judge", chat_of("a"))
            with pytest.raises(CallFailed) as caught:
                await caller.call(2, "judge", chat_of("b"))
    assert caught.value.code == "auth"


async def test_a_key_that_was_good_is_tried_once_more_before_the_run_pauses_for_it() -> None:
    clock = HeldClock()
    with scripted(in_turn("Yes", Scripted(401), "Yes", Scripted(401))) as server:
        async with caller_of(server.url, clock=clock) as caller:
            await caller.call(1, "judge", chat_of("a"))
            # By the clock it was sent when the reply to the first came.
            assert (await caller.call(2, "judge", chat_of("b"))).reply.text == "Yes"
            with pytest.raises(Halt, match="Check the key") as halted:
                await caller.call(3, "judge", chat_of("c"))
    assert halted.value.code == "auth"
    assert len(server.received) == 5


async def test_a_key_echoed_by_the_server_is_redacted() -> None:
    journal = MemoryJournal()
    with scripted(lambda received: f"You sent {received.headers['authorization']}. Yes") as server:
        async with caller_of(
            server.url, key_variable="MY_KEY", environment={"MY_KEY": SECRET}, journal=journal
        ) as caller:
            reply = (await caller.call(1, "judge", chat_of("q"))).reply
    assert reply.text == "You sent Bearer [key]. Yes"
    assert SECRET.encode() not in next(iter(journal.responses.values())).body


@pytest.mark.parametrize("key", [SECRET, "a/b+c//secret=", "12345678"])
async def test_a_key_in_headers_or_escaped_is_redacted(key: str) -> None:
    def quoting(received: Received) -> Scripted:
        said = received.headers["authorization"].removeprefix("Bearer ")
        body = json.dumps(chat_reply(f"{said} Yes")).replace("/", "\\/").encode()
        return Scripted(headers={"x-workbench-recorded": said, "location": f"http://{said}/"}, body=body)

    journal = MemoryJournal()
    with scripted(quoting) as server:
        async with caller_of(server.url, key_variable="K", environment={"K": key}, journal=journal) as caller:
            reply = (await caller.call(1, "judge", chat_of("q"))).reply
    assert reply.text == "[key] Yes"
    kept = next(iter(journal.responses.values()))
    assert (kept.origin, key in " ".join(caller.warnings)) == ("[key]", False)


@pytest.mark.parametrize("environment", [{}, {"MY_KEY": "  "}, {"MY_KEY": "two\nlines"}])
async def test_a_missing_or_unusable_key_halts_before_anything_is_sent(environment: dict[str, str]) -> None:
    with scripted(lambda _: "Yes") as server:
        halt = await halt_of(caller_of(server.url, key_variable="MY_KEY", environment=environment))
    assert halt.code == "auth"
    assert "MY_KEY" in halt.message
    assert "two" not in halt.message
    assert server.received == []


async def test_a_profile_looks_for_its_own_variable() -> None:
    halt = await halt_of(caller_of("http://127.0.0.1:9/v1", profile="anthropic"))
    assert "ANTHROPIC_API_KEY" in halt.message


@pytest.mark.parametrize(
    "refusal",
    [
        Scripted(429, body={"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
        Scripted(429, {"retry-after": "86400"}, {"error": {"message": "come back tomorrow"}}),
        Scripted(402, body={"error": {"message": "Insufficient credits"}}),
    ],
)
async def test_a_spent_quota_halts_even_after_successes(refusal: Scripted) -> None:
    with scripted(in_turn("Yes", refusal)) as server:
        async with caller_of(server.url) as caller:
            await caller.call(1, "judge", chat_of("a"))
            with pytest.raises(Halt) as caught:
                await caller.call(2, "judge", chat_of("b"))
    assert caught.value.code == "quota"
    assert len(server.received) == 2


async def test_a_server_that_is_not_there_halts_and_costs_no_item_its_verdict() -> None:
    journal = MemoryJournal()
    halt = await halt_of(caller_of("http://127.0.0.1:9/v1", journal=journal, limits=Limits(max_calls=1)))
    assert halt.code == "transport"
    assert journal.states == ["unsent"] * 8
    assert "refused" in halt.message
    assert "127.0.0.1:9" in halt.message


async def test_a_dying_server_costs_no_call_its_verdict() -> None:
    clock, never = HeldClock(), threading.Event()
    with ExitStack() as alive:
        server = alive.enter_context(
            scripted(lambda received: Scripted(hold=never) if b'"a"' in received.raw else "Yes")
        )
        async with caller_of(server.url, clock=clock) as caller:
            taken = asyncio.create_task(caller.call(1, "judge", chat_of("a")))
            while not server.received:
                await asyncio.sleep(0)
            clock.time += 1
            await caller.call(2, "judge", chat_of("b"))
            clock.time += 1
            alive.close()
            with pytest.raises(Halt, match="can't be reached"):
                await taken


async def test_requests_a_minute_are_held() -> None:
    clock = HeldClock()
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, limits=Limits(rpm=6), clock=clock) as caller:
            for item in range(7):
                await caller.call(item, "judge", chat_of(f"q{item}"))
    assert clock.time >= 60
    assert len(server.received) == 7


async def test_no_more_are_in_flight_than_allowed() -> None:
    release = threading.Event()
    with scripted(lambda _: Scripted(body=chat_reply("Yes"), hold=release)) as server:
        async with caller_of(server.url, limits=Limits(concurrency=5)) as caller:
            calls = [asyncio.create_task(caller.call(item, "judge", chat_of(f"q{item}"))) for item in range(12)]
            while len(server.received) < 5:
                await asyncio.sleep(0)
            assert (caller.in_flight, caller.limit) == (5, 5)
            release.set()
            await asyncio.gather(*calls)
    assert caller.in_flight == 0


async def test_commercial_servers_start_with_a_lower_limit() -> None:
    assert caller_of("http://127.0.0.1:9/v1", profile="openai-compatible").limit == 20
    assert caller_of("http://127.0.0.1:9/v1", profile="vllm").limit == 100


async def test_scores_follow_the_order_of_the_texts() -> None:
    with scripted(lambda _: [0.1, 0.9, 0.5]) as server:
        async with caller_of(server.url) as caller:
            request = Scoring(task="rerank", query="q", texts=("a", "b", "c"))
            assert (await caller.call(1, "judge", request)).reply.scores == (0.1, 0.9, 0.5)
            assert (await caller.call(2, "judge", request)).reply.scores == (0.1, 0.9, 0.5)
    assert [received.path for received in server.received] == ["/v1/rerank"]


async def test_warnings_are_emitted_once() -> None:
    request = Chat(messages=(PromptMessage("user", "x" * 20_000),), sampling=Sampling(top_k=40))
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, profile="ollama") as caller:
            for sample in range(3):
                await caller.call(1, "judge", request, sample)
    assert len(caller.warnings) == 2
    assert "top_k is not sent to Ollama" in caller.warnings[0]
    assert "truncate prompts silently" in caller.warnings[1]


async def test_a_recorded_reply_is_known_as_such() -> None:
    journal = MemoryJournal()
    reply = Scripted(headers={"x-workbench-recorded": "a file"}, body=chat_reply("Yes"))
    with scripted(lambda _: reply) as server:
        async with caller_of(server.url, journal=journal) as caller:
            await caller.call(1, "judge", chat_of("q"))
    assert next(iter(journal.responses.values())).origin == "a file"


async def test_a_server_cannot_fill_the_database_with_warnings() -> None:
    replies = iter(range(100))

    def answer(_: Received) -> Scripted:
        return Scripted(headers={"x-workbench-recorded": f"file {next(replies)}"}, body=chat_reply("Yes"))

    with scripted(answer) as server:
        async with caller_of(server.url) as caller:
            for item in range(100):
                await caller.call(item, "judge", chat_of(f"q{item}"))
    assert len(caller.warnings) <= 20


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url) as caller:
            await caller.call(1, "judge", chat_of("q"))
    assert json.loads(server.received[0].raw)["model"] == "m"


async def test_a_local_resource_error_halts_the_run_unsent() -> None:
    journal = MemoryJournal()
    with scripted(lambda _: "Yes") as server:
        async with caller_of(server.url, journal=journal) as caller:
            with no_descriptor_left(), pytest.raises(Halt) as caught:
                await caller.call(1, "judge", chat_of("q"))
            assert "can't be reached" not in caught.value.message
            assert (caller.errors, len(server.received)) == ({}, 0)
            # Once there are some, the same caller goes on.
            assert (await caller.call(1, "judge", chat_of("q"))).reply.text == "Yes"
