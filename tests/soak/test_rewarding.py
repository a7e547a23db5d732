"""An hour of training against the reward server, with hostile inputs, and a server that is killed half-way."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from tests.rewarding import Launched, launched
from tests.rewarding_load import Load, gathered, memory_mb

CLIENTS = 64
HOUR = 200_000
"""Requests: 55 a second for an hour."""

PARTS = 8
FILLING_PARTS = 2
"""The number of parts after which caches and heaps are full; memory must not grow any further."""
GROWTH_MB = 50.0
KILLS = 5


def require_all_right(counts: Counter[str], requests: int) -> None:
    assert [counts[kind] for kind in ("wrong", "missing", "crossed")] == [0, 0, 0]
    assert counts["answers"] > requests * 0.9


def kill_all(server: Launched) -> None:
    """Kill the server with its processes: those that outlive it would answer what they have accepted."""
    first = psutil.Process(server.process.pid)
    for process in [first, *first.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


@pytest.mark.soak
def test_every_request_of_an_hour_is_answered_in_constant_memory(tmp_path: Path) -> None:
    cases = gathered()
    with launched(tmp_path) as server:
        server.until_ready()
        load = Load(server, cases)
        for part in range(PARTS):
            if part == FILLING_PARTS:
                before = memory_mb(server)
            asyncio.run(load.drive(HOUR // PARTS, CLIENTS, seed=part))
        require_all_right(load.tally.counts, HOUR)
        assert memory_mb(server) - before < GROWTH_MB
        assert "Traceback" not in server.log.read_text()


@pytest.mark.soak
def test_killed_and_restarted_server_loses_nothing(tmp_path: Path) -> None:
    """Clients that retry get every response, and the right one."""
    requests = HOUR // PARTS
    with ExitStack() as servers:
        server = servers.enter_context(launched(tmp_path))
        load = Load(server, gathered())

        async def kill() -> Launched:
            """Kill the server after each further part of the responses, and start another in its place."""
            living = server
            for turn in range(1, KILLS + 1):
                while load.tally.counts["answers"] < turn * requests // (KILLS + 1):
                    await asyncio.sleep(0.01)
                kill_all(living)
                again = launched(tmp_path, "--port", server.port)
                living = await asyncio.to_thread(servers.enter_context, again)
            return living

        async def both() -> None:
            await asyncio.gather(kill(), load.drive(requests, CLIENTS))

        asyncio.run(both())
    require_all_right(load.tally.counts, requests)
    assert load.tally.counts["cut off"] >= KILLS
