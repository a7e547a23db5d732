"""A client with a journal in memory and a clock that is held, for the tests of calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply
from workbench.llm.caller import Caller
from workbench.llm.pace import Budget
from workbench.llm.records import CallFailed, Chat, Halt, PromptMessage, Sampling
from workbench.llm.server import Limits, ModelServer, Price

SECRET = "sk-very-secret-key-0123456789"
NO_LIMITS = Limits()

FAULTS: dict[str, Scripted] = {
    "rate_limit": Scripted(429, {"retry-after": "3"}, {"error": {"message": "slow down"}}),
    "server": Scripted(500, body="<html>oops"),
    "transport": Scripted(body=chat_reply("Yes"), cut=30),
    "malformed": Scripted(body='{"choices": [{"mess'),
}


def asked(text: str, max_tokens: int | None = None) -> Chat:
    return Chat(messages=(PromptMessage("user", text),), sampling=Sampling(max_tokens=max_tokens))


def caller_of(
    *urls: str,
    journal: MemoryJournal | None = None,
    limits: Limits = NO_LIMITS,
    profile: str = "vllm",
    clock: HeldClock | None = None,
    prices: dict[str, Price] | None = None,
    timeout_s: float = 20.0,
    key_variable: str | None = None,
    environment: dict[str, str] | None = None,
    shared: Budget | None = None,
) -> Caller:
    server = ModelServer(profile=profile, base_urls=urls, model="m", timeout_s=timeout_s, key_variable=key_variable)
    given, kept = environment or {}, journal or MemoryJournal()
    return Caller({"judge": server}, limits, kept, prices, given, clock=clock or HeldClock(), shared=shared)


def in_turn(*answers: str | Scripted) -> Callable[[Received], str | Scripted]:
    """The answers one after the other, the last one for ever."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


async def failure_of(caller: Caller, text: str = "q") -> CallFailed:
    async with caller:
        with pytest.raises(CallFailed) as caught:
            await caller.call(1, "judge", asked(text))
    return caught.value


async def halt_of(caller: Caller, text: str = "q") -> Halt:
    async with caller:
        with pytest.raises(Halt) as caught:
            await caller.call(1, "judge", asked(text))
    return caught.value
