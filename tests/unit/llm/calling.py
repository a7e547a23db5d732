"""A client with an in-memory journal and a controlled clock, for tests of calls."""

from __future__ import annotations

import gc
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.servers.memory import HeldClock, MemoryJournal
from tests.servers.scripted import Received, Scripted, chat_reply
from workbench.llm.caller import Caller
from workbench.llm.gate import Budget
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


def chat_of(text: str, max_tokens: int | None = None) -> Chat:
    return Chat(messages=(PromptMessage("user", text),), sampling=Sampling(max_tokens=max_tokens))


def caller_of(
    url: str,
    *,
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
    server = ModelServer(profile=profile, base_url=url, model="m", timeout_s=timeout_s, key_variable=key_variable)
    given, kept = environment or {}, journal or MemoryJournal()
    return Caller({"judge": server}, limits, kept, prices, given, clock=clock or HeldClock(), shared=shared)


def in_turn(*answers: str | Scripted) -> Callable[[Received], str | Scripted]:
    """The answers one after the other, the last one for ever."""
    left = list(answers)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """While inside, this process can open nothing more."""
    # Descriptors that the garbage collector would close during the test.
    gc.collect()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = [os.open(os.devnull, os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, limits[1]))
    try:
        with suppress(OSError):
            while True:
                held.append(os.dup(held[0]))
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        for descriptor in held:
            os.close(descriptor)


async def failure_of(caller: Caller, text: str = "q") -> CallFailed:
    async with caller:
        with pytest.raises(CallFailed) as caught:
            await caller.call(1, "judge", chat_of(text))
    return caught.value


async def halt_of(caller: Caller, text: str = "q") -> Halt:
    async with caller:
        with pytest.raises(Halt) as caught:
            await caller.call(1, "judge", chat_of(text))
    return caught.value
