"""Fair scheduling: urgent requests first, clients in turn, no lost place."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.background import PATIENCE_S
from workbench.training.fair import ASKER, Asker, FairLine


async def wait_in(line: FairLine, asker: Asker, done: list[str], name: str) -> None:
    ASKER.set(asker)
    async with line.place():
        await asyncio.sleep(0)
        done.append(name)


async def order(arrivals: list[tuple[str, int, str]]) -> list[str]:
    """Return the order of turns when all arrive while the only place is taken."""
    line, done, gate = FairLine(1), list[str](), asyncio.Event()

    async def first() -> None:
        async with line.place():
            await gate.wait()

    tasks = [asyncio.create_task(first())]
    await asyncio.sleep(0)
    for client, urgency, name in arrivals:
        tasks.append(asyncio.create_task(wait_in(line, Asker(client, urgency), done, name)))
        await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
    return done


async def test_a_large_batch_lets_others_have_their_turn() -> None:
    found = await order([*(("big", 3, f"b{n}") for n in range(5)), ("small", 3, "s0"), ("small", 3, "s1")])
    assert found == ["b0", "s0", "b1", "s1", "b2", "b3", "b4"]


async def test_the_urgent_go_first() -> None:
    found = await order([("a", 3, "usual"), ("b", 7, "last"), ("c", 0, "first"), ("a", 3, "usual too")])
    assert found == ["first", "usual", "usual too", "last"]


async def test_a_departing_client_releases_its_place() -> None:
    line, done = FairLine(1), list[str]()
    held = asyncio.Event()

    async def hold() -> None:
        async with line.place():
            await held.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    gone = [asyncio.create_task(wait_in(line, Asker(str(n)), done, "gone")) for n in range(3)]
    stays = asyncio.create_task(wait_in(line, Asker("x"), done, "stays"))
    await asyncio.sleep(0)
    for task in gone[:2]:
        task.cancel()
    held.set()
    await holder
    # This one has been given the place already.
    gone[2].cancel()
    for task in gone:
        with suppress(asyncio.CancelledError):
            await task
    await asyncio.wait_for(stays, PATIENCE_S)
    await asyncio.wait_for(wait_in(line, Asker("y"), done, "later"), PATIENCE_S)
    assert done == ["stays", "later"]
