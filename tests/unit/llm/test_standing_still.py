"""A process that was stopped (job control, a frozen container, a machine that slept) has not waited meanwhile."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from tests.background import PATIENCE_S
from tests.servers.memory import MemoryJournal
from tests.servers.scripted import Received, Scripted, scripted
from tests.unit.llm.calling import asked, caller_of, in_turn
from workbench.llm import pace
from workbench.llm.caller import Caller
from workbench.llm.clock import Awake
from workbench.llm.failures import AttemptFailed
from workbench.llm.server import Limits, ModelServer
from workbench.llm.transport import Transport

LIMIT_S = 3.0
"""What a reply may take; everything here stands still for longer."""


async def test_a_reply_that_came_meanwhile_is_read() -> None:
    """However large it is, and of every call in flight: none is made again."""
    large = "Yes " * 100_000
    came, journal = threading.Semaphore(0), MemoryJournal()

    def answer(_: Received) -> str:
        came.release()
        return large

    with scripted(answer) as server:
        async with caller_of(server.url, journal=journal, timeout_s=LIMIT_S) as caller:
            calls = [asyncio.create_task(caller.call(item, "judge", asked(f"q{item}"))) for item in range(8)]
            while len(server.received) < len(calls):
                await asyncio.sleep(0.001)
            time.sleep(1.2 * LIMIT_S)
            answers = await asyncio.gather(*calls)
        assert {found.reply.text for found in answers} == {large}
        assert (len(server.received), journal.states) == (8, ["done"] * 8)


@pytest.mark.parametrize("late", [0.2, 0.6])
async def test_a_server_has_its_time_although_the_process_stood_still(late: float) -> None:
    """Also where the reply comes only after the process has gone on."""
    go = threading.Event()
    with scripted(lambda _: Scripted(hold=go, body=b"there")) as server:
        async with Transport() as transport:
            sent = asyncio.create_task(transport.send(server.url, {}, b"{}", LIMIT_S))
            while not server.received:
                await asyncio.sleep(0.001)
            time.sleep(1.2 * LIMIT_S)
            asyncio.get_running_loop().call_later(late, go.set)
            assert (await sent).body == b"there"


async def test_a_server_that_hangs_is_given_up_all_the_same() -> None:
    """However often the process stands still."""
    with scripted(lambda _: Scripted(hold=threading.Event())) as server:
        async with Transport() as transport:
            sent = asyncio.create_task(transport.send(server.url, {}, b"{}", 1.0))
            while not server.received and not sent.done():
                await asyncio.sleep(0.001)
            for _ in range(100):
                time.sleep(0.4)
                await asyncio.sleep(0)
                if sent.done():
                    break
            with pytest.raises(AttemptFailed, match="within 1 s"):
                await asyncio.wait_for(sent, PATIENCE_S)


async def test_time_that_it_stood_still_is_not_counted() -> None:
    async with Awake() as awake:
        began = awake.now()
        for _ in range(2):
            time.sleep(0.8)
            stopped = awake.now()
            await asyncio.sleep(0.01)
            assert awake.now() >= stopped
        assert (awake.now() - began < 1.6 - 0.5, awake.stops >= 2) == (True, True)


async def test_patience_with_a_server_is_not_used_up_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MAX_CALL_S", LIMIT_S)
    monkeypatch.setattr(pace, "_MAX_BACKOFF_S", 0.05)
    busy = Scripted(429, {"retry-after": "0.05"}, {"error": {"message": "slow down"}})
    with scripted(in_turn(busy, busy, busy, "Yes")) as server:
        servers = {"judge": ModelServer(profile="vllm", base_url=server.url, model="m")}
        async with Caller(servers, Limits(), MemoryJournal(), environment={}) as caller:
            call = asyncio.create_task(caller.call(1, "judge", asked("q")))
            while not server.received:
                await asyncio.sleep(0.001)
            time.sleep(1.2 * LIMIT_S)
            assert (await call).reply.text == "Yes"
