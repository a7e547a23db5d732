"""Replies that come piece by piece are the replies that come at once; a stream that was cut is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from itertools import repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply, scripted
from tests.unit.llm.calling import NO_LIMITS, asked
from tests.unit.llm.test_extras import GIVEN, sent
from workbench.llm.caller import Caller
from workbench.llm.dialects import read
from workbench.llm.dialects.streams import unstreamed
from workbench.llm.failures import AttemptFailed, classify_response
from workbench.llm.records import Reply, Usage, ending
from workbench.llm.transport import MAX_REPLY_BYTES, Transport
from workbench.verifiers.base import identity
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.serving import server_from

COUNTS = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def events(*data: Any, done: bool = True) -> bytes:
    lines = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n" for one in data]
    return "".join([": keep-alive\n\n", *lines, *(["data: [DONE]\n\n"] if done else [])]).encode()


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice]}


OPENAI = events(
    chunk(role="assistant", content=""),
    chunk(reasoning_content="Is it? "),
    chunk(reasoning_content="No"),
    chunk(content="Final Judg"),
    chunk(content="ment: Yes"),
    chunk("stop"),
    {"id": "1", "model": "m-1", "choices": [], "usage": COUNTS},
)
ANTHROPIC = events(
    {"type": "message_start", "message": {"model": "c", "content": [], "usage": {"input_tokens": 10}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Is it? No"}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Final Judgment: Yes"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
    {"type": "message_stop"},
    done=False,
)


@pytest.mark.parametrize(("body", "profile"), [(OPENAI, "openai"), (ANTHROPIC, "anthropic")])
def test_a_stream_says_what_a_body_says(body: bytes, profile: str) -> None:
    for spelled in (body, body.replace(b"\n", b"\r\n")):
        reply = read(unstreamed(spelled), "chat", profile)
        assert (reply.text, reply.reasoning, ending(reply)) == ("Final Judgment: Yes", "Is it? No", "whole")
        assert reply.usage == Usage(prompt_tokens=10, completion_tokens=5)


@pytest.mark.parametrize("more", ["null", "DONE", "[done]", ""])
def test_what_says_nothing_in_a_stream_is_passed_over(more: str) -> None:
    body = events(more, chunk(content="Yes"), more, chunk("stop"), more, done=False)
    assert read(unstreamed(body), "chat", "openai").text == "Yes"


@pytest.mark.parametrize(
    ("first", "then", "ended"),
    [
        ("length", "stop", "truncated"),
        ("content_filter", "stop", "content_filter"),
        ("stop", "content_filter", "content_filter"),
    ],
)
def test_a_last_stop_takes_nothing_back(first: str, then: str, ended: str) -> None:
    body = events(chunk(content="Yes"), chunk(first), chunk(then))
    assert ending(read(unstreamed(body), "chat", "openai")) == ended


def test_parts_and_refusals_of_a_stream() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "No"}]}
    reply = read(unstreamed(events(chunk(content=[thought]), chunk(content="Yes"), chunk("stop"))), "chat", "mistral")
    assert (reply.text, reply.reasoning) == ("Yes", "No")
    reply = read(unstreamed(events(chunk(refusal="I "), chunk(refusal="won't."), chunk("stop"))), "chat", "openai")
    assert (reply.text, ending(reply)) == ("I won't.", "refused")
    reply = read(unstreamed(events(chunk(content="Yes"), chunk("length"))), "chat", "openai")
    assert ending(reply) == "truncated"


@pytest.mark.parametrize("body", [OPENAI, ANTHROPIC])
def test_a_stream_that_was_cut_anywhere_is_no_reply(body: bytes) -> None:
    # Up to where the server says how the reply ended.
    for end in range(body.index(b'"stop"' if b'"stop"' in body else b'"end_turn"')):
        with pytest.raises(AttemptFailed) as caught:
            read(unstreamed(body[:end]), "chat", "openai" if body is OPENAI else "anthropic")
        assert caught.value.may_be_repeated


ERRORS = [
    # A gateway's number, LiteLLM's as a text; then names alone: Anthropic's, OpenAI's, Google's.
    ({"error": {"message": "busy", "code": 503}}, "server", True),
    ({"error": {"message": "slow down", "type": "None", "code": "429"}}, "rate_limit", False),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server", True),
    (
        {"type": "error", "error": {"type": "rate_limit_error", "message": "This request would exceed"}},
        "rate_limit",
        False,
    ),
    ({"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}, "server", False),
    ({"error": {"message": "Slow down", "code": "rate_limit_exceeded"}}, "rate_limit", False),
    ({"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "quota", False),
    ({"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, "auth", False),
    ({"error": {"message": "too many tokens", "code": "context_length_exceeded"}}, "context_length", False),
    ({"error": {"message": "Try again", "status": "RESOURCE_EXHAUSTED"}}, "rate_limit", False),
    # vLLM's before 0.10.
    ({"object": "error", "message": "boom", "type": "InternalServerError", "code": 500}, "server", False),
]


@pytest.mark.parametrize(("event", "code", "busy"), ERRORS)
def test_an_error_within_a_stream_is_what_it_says(event: dict[str, Any], code: str, busy: bool) -> None:
    for body in (
        events(chunk(content="Yes"), event),
        events({"type": "message_start", "message": {}}, event, chunk("stop"), done=False),
        b"event: error\n" + events(event)[len(": keep-alive\n\n") :],
    ):
        with pytest.raises(AttemptFailed) as caught:
            read(unstreamed(body), "chat", "openai")
        assert (caught.value.code, caught.value.busy) == (code, busy)


@pytest.mark.parametrize(
    "body",
    [
        b"event: error\ndata: upstream is overloaded\n\n",
        b'error: {"code": 503, "message": "upstream is overloaded", "type": "unavailable_error"}\n\n',
        b'id:1\nevent:error\n:HTTP_STATUS/503\ndata:{"code":"503","message":"upstream is overloaded"}\n\n',
    ],
    ids=["words", "llama.cpp", "DashScope"],
)
def test_an_event_that_is_called_an_error_is_one(body: bytes) -> None:
    with pytest.raises(AttemptFailed, match="upstream is overloaded") as caught:
        read(unstreamed(OPENAI.removesuffix(b"data: [DONE]\n\n") + body), "chat", "openai")
    assert caught.value.busy


def test_a_routers_word_of_the_provider_behind_it_is_an_error() -> None:
    with pytest.raises(AttemptFailed, match="error 502 in the reply: upstream"):
        read(
            unstreamed(events(chunk(content="Yes"), {"choices": [{"error": {"message": "upstream", "code": 502}}]})),
            "chat",
            "x",
        )


def test_a_stream_that_groq_broke_off_is_no_reply() -> None:
    broken = chunk(None) | {"x_groq": {"id": "req_1", "error": "over capacity"}}
    ended = chunk("stop") | {"x_groq": {"id": "req_1", "error": "over capacity"}}
    for last in (broken, ended):
        with pytest.raises(AttemptFailed, match="over capacity") as caught:
            read(unstreamed(events(chunk(content="Final Judgment: No"), last)), "chat", "groq")
        assert caught.value.may_be_repeated


def test_groq_counts_beside_the_last_chunk() -> None:
    last = chunk("stop") | {"usage": None, "x_groq": {"id": "req_1", "usage": COUNTS}}
    reply = read(unstreamed(events(chunk(content="Yes"), last)), "chat", "groq")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (10, 5)


def test_a_refused_call_whose_words_come_as_an_event() -> None:
    failure = classify_response(
        429, {}, b'event: error\ndata: {"error": {"message": "Slow down", "type": "limit"}}\n\n'
    )
    assert (failure.code, failure.detail) == ("rate_limit", "HTTP 429: Slow down (limit)")


WHOLE = json.dumps(chat_reply("Yes")).encode()


@pytest.mark.parametrize(
    "body",
    [
        WHOLE,
        b": keep-alive\n\n  " + WHOLE,
        b"data: " + WHOLE + b"\n\n",
        b"\xef\xbb\xbfdata:" + WHOLE + b"\r\rdata: [DONE]\r\r",
        events(chunk(content="Yes"), chunk("stop")).replace(b"\n\n", b"\n"),
        events(
            chunk(content="Y"), {"choices": [{"index": 1, "delta": {"content": "No"}}]}, chunk("stop", content="es")
        ),
        events({"choices": [], "model": "", "prompt_filter_results": []}, chunk("stop", content="Yes")),
        events({"choices": [{"index": 7, "delta": {"content": "Yes"}, "finish_reason": "stop"}]}),
        events({"choices": [{"index": None, "delta": {"content": "Yes"}}]}, chunk("stop")),
        # MiniMax's last event holds the whole again.
        events(chunk(content="Y"), chunk(content="es"), chat_reply("Yes")),
    ],
    ids=[
        *("plain", "kept alive", "one event", "byte order mark", "no blank lines", "two choices", "Azure", "index"),
        *("no index", "again as a whole"),
    ],
)
def test_what_servers_make_of_a_stream(body: bytes) -> None:
    reply = read(unstreamed(body, "text/event-stream"), "chat", "openai")
    assert (reply.text, ending(reply)) == ("Yes", "whole")


def test_a_stream_that_is_done_without_a_reason_may_have_been_cut() -> None:
    """Some proxies of Gemini give no reason, others say so too when what is behind them breaks off."""
    said = events(chunk(content="Final Judgment: "), chunk(content="Yes"))
    reply = read(unstreamed(said), "chat", "openai")
    assert (reply.text, ending(reply)) == ("Final Judgment: Yes", "truncated")
    for cut in (events(), events(chunk(role="assistant")), said.replace(b"[DONE]", b"")):
        with pytest.raises(AttemptFailed, match="ended before"):
            unstreamed(cut, "text/event-stream")


def test_a_stream_is_not_lost_for_half_a_character_or_a_number_that_is_none() -> None:
    halves = events(chunk(content="Yes A"), chunk("stop")).replace(b"A", rb"\ud83d").replace(b'"1"', b"NaN")
    assert read(unstreamed(halves), "chat", "openai").text == "Yes \ufffd"


def test_a_body_that_is_no_stream_is_left_as_it_is() -> None:
    for body in (b"", b"<html>", WHOLE, b"dat", json.dumps({"data": "data: x"}).encode()):
        assert unstreamed(body, "application/json") == body


def test_a_stream_that_tells_no_counts_has_none() -> None:
    assert read(unstreamed(events(chunk("stop", content="Yes"))), "chat", "openai").usage == Usage()


def test_counts_that_grow_are_counted_once_and_what_was_read_from_a_cache_is_kept() -> None:
    def said(count: int) -> dict[str, Any]:
        return chunk(content="Yes") | {"usage": {"prompt_tokens": 10, "completion_tokens": count}}

    assert read(unstreamed(events(said(1), said(2), chunk("stop"))), "chat", "openai").usage.completion_tokens == 2
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "cache_read_input_tokens": 90}}}
    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    usage = read(unstreamed(events(begun, ended)), "chat", "anthropic").usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (100, 90, 5)


def test_the_tokens_of_a_stream_are_those_of_its_reply() -> None:
    def token(text: str) -> dict[str, Any]:
        made = chunk(content=text)
        made["choices"][0]["logprobs"] = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": []}]}
        return made

    reply = read(unstreamed(events(token("Y"), token("es"), chunk("stop"))), "chat", "openai")
    assert [one.text for one in reply.tokens] == ["Y", "es"]


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_whatever_comes_as_a_stream_is_a_reply_or_a_failure(body: bytes) -> None:
    for whole in (body, b"data: " + body + b"\n\n", events(chunk("stop")) + body):
        with suppress(AttemptFailed):
            assert isinstance(read(unstreamed(whole), "chat", "openai"), Reply)


async def test_a_judge_asks_for_a_stream_and_stores_the_whole_body() -> None:
    journal = MemoryJournal()
    answer = Scripted(headers={"content-type": "text/event-stream; charset=utf-8"}, body=OPENAI)
    with scripted(lambda _: answer) as server:
        options = GIVEN | {"base_url": server.url, "stream": "true"}
        async with Caller({"judge": server_from(options)}, NO_LIMITS, journal, environment={}) as caller:
            reply = (await caller.call(1, "judge", asked("q"))).reply
            again = await caller.call(2, "judge", asked("q"))
    assert server.received[0].body["stream_options"] == {"include_usage": True}
    assert (reply.text, again.reply, again.reused) == ("Final Judgment: Yes", reply, True)
    assert json.loads(next(iter(journal.responses.values())).body)["object"] == "chat.completion"
    assert identity(LlmJudge(**options)) == identity(LlmJudge(**options | {"stream": "false"}))


async def test_a_server_that_streams_nothing_is_understood() -> None:
    received = await sent({"stream": "true"})
    assert received.body["stream"] is True
    assert (await sent({"stream": "true", "server": "mistral"}, {"MISTRAL_API_KEY": "k"})).body.keys() == {
        "model",
        "messages",
        "stream",
    }


async def test_a_cut_stream_is_asked_for_again() -> None:
    headers = {"content-type": "text/event-stream"}
    answers = [Scripted(headers=headers, body=OPENAI[:-200]), Scripted(body=chat_reply("Yes"))]

    def answer(_: Received) -> Scripted:
        return answers.pop(0)

    with scripted(answer) as server:
        options = GIVEN | {"base_url": server.url, "stream": "true"}
        journal = MemoryJournal()
        servers = {"judge": server_from(options)}
        async with Caller(servers, NO_LIMITS, journal, environment={}, clock=HeldClock()) as caller:
            assert (await caller.call(1, "judge", asked("q"))).reply.text == "Yes"
    assert journal.states == ["failed", "done"]


@asynccontextmanager
async def streaming(parts: Iterable[bytes], pause: float) -> AsyncIterator[str]:
    """A server that says them one after the other, and is gone at the end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
        writer.close()

    answering: set[asyncio.Task[None]] = set()
    listener = await asyncio.start_server(
        lambda reader, writer: answering.add(asyncio.create_task(answer(reader, writer))), "127.0.0.1", 0
    )
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    finally:
        listener.close()
        await asyncio.gather(*answering)


PIECES = [part + b"\n\n" for part in OPENAI.split(b"\n\n")]


async def test_a_stream_may_take_longer_than_its_longest_silence() -> None:
    async with streaming(PIECES, 0.25) as url, Transport() as transport:
        received = await transport.send(url, {}, b"{}", 1.5, stream=True)
    assert read(received.body, "chat", "openai").text == "Final Judgment: Yes"


async def test_a_silent_stream_is_given_up() -> None:
    async with streaming(PIECES[:3], 3.0) as url, Transport() as transport:
        with pytest.raises(AttemptFailed, match="nothing more came of the reply within 1 s"):
            await transport.send(url, {}, b"{}", 1.0, stream=True)


async def test_a_stream_that_is_only_kept_alive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway may do so for ever, with nobody behind it."""
    monkeypatch.setattr("workbench.llm.transport.MAX_STREAM_S", 1.0)
    async with streaming(repeat(b": keep-alive\n\n", 150), 0.02) as url, Transport() as transport:
        with pytest.raises(AttemptFailed, match="no whole reply within 1 s") as caught:
            await transport.send(url, {}, b"{}", 0.9, stream=True)
    assert caught.value.code == "timeout"


async def test_a_stream_longer_than_a_reply_is_not_read() -> None:
    for parts in ([b": " + b"." * 2**20 + b"\n"] * 65, [events(chunk("stop", content="A" * (MAX_REPLY_BYTES + 1)))]):
        async with streaming(parts, 0.0) as url, Transport() as transport:
            with pytest.raises(AttemptFailed, match="the reply is longer than"):
                await transport.send(url, {}, b"{}", 20.0, stream=True)
