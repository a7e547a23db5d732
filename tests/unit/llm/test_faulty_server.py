"""A server that fails one attempt in five: no item is lost and no call paid twice, by the server's own count."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from tests.servers.faulty import launched
from tests.servers.memory import MemoryJournal
from workbench.llm.caller import Caller
from workbench.llm.records import Chat, PromptMessage
from workbench.llm.server import Limits, ModelServer
from workbench.llm.waits import Clock

AT_ONCE = Limits(concurrency=64)


class Hasty(Clock):
    """Backs off a tenth as long; what a server asks for is waited for."""

    def jitter(self, longest: float) -> float:
        return super().jitter(longest / 10)


async def everything(
    url: str, items: int, timeout_s: float, limits: Limits = AT_ONCE
) -> tuple[MemoryJournal, Caller, int]:
    journal = MemoryJournal()
    server = ModelServer(profile="vllm", base_url=url, model="m", timeout_s=timeout_s)
    async with Caller({"judge": server}, limits, journal, clock=Hasty()) as caller:
        requests = [Chat(messages=(PromptMessage("user", f"Question {item}."),)) for item in range(items)]
        calls = [caller.call(item, "judge", request) for item, request in enumerate(requests)]
        answers = await asyncio.gather(*calls)
    return journal, caller, sum(answer.reply.text.endswith("Final Judgment: Yes") for answer in answers)


async def _run(items: int, timeout_s: float) -> None:
    with launched(latency=0.01, faulty=True, retry_after=0.05) as stub:
        journal, caller, answered = await everything(stub.url, items, timeout_s)
        counts = stub.counts()
    faults = counts["faults"]
    assert answered == items
    assert (counts["served"], counts["unique"], counts["repeated"]) == (items, items, 0)
    assert counts["requests"] == len(journal.attempts)
    assert counts["most_in_flight"] <= 64
    assert Counter(journal.states) == {"done": items, "failed": sum(faults.values())}
    assert caller.errors == {
        "rate_limit": faults["rate_limit"],
        "server": faults["server"],
        "timeout": faults["hang"],
        "malformed": faults["malformed"],
        "transport": faults["truncated"],
    }


async def test_every_item_gets_its_one_reply() -> None:
    await _run(200, 3.0)


@pytest.mark.soak
async def test_every_one_of_two_thousand_items_gets_its_one_reply() -> None:
    await _run(2000, 3.0)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "limits",
    [Limits(rpm=2400, concurrency=64), Limits(tpm=2400 * 120, concurrency=64)],
    ids=["requests", "tokens"],
)
async def test_rates_are_held_by_the_servers_own_clock(limits: Limits) -> None:
    """Forty replies of 120 tokens a second are allowed, and ten at once."""
    with launched(latency=0.02, jitter=0.0) as stub:
        await everything(stub.url, 60, 20.0, limits)
        times = stub.counts()["times"]
    # A busy machine may keep the first one back, which makes the rest look closer; without a limit all come at once.
    assert times[-1] - times[0] >= 0.75 * (60 - 1 - 11) / 40
