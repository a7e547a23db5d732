"""Fair scheduling: clients in turn, no lost place."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tests.background import PATIENCE_S
from workbench.training.fair import CLIENT, FairLine


async def wait_in(line: FairLine, client: str, done: list[str], name: str) -> None:
    CLIENT.set(client)
    async with line.place():
        await asyncio.sleep(0)
        done.append(name)


async def order(arrivals: list[tuple[str, str]]) -> list[str]:
    """Return the order of turns when all arrive while the only place is taken."""
    line, done, gate = FairLine(1), list[str](), asyncio.Event()

    async def first() -> None:
        async with line.place():
            await gate.wait()

    tasks = [asyncio.create_task(first())]
    await asyncio.sleep(0)
    for client, name in arrivals:
        tasks.append(asyncio.create_task(wait_in(line, client, done, name)))
        await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
    return done


async def test_a_large_batch_lets_others_have_their_turn() -> None:
    found = await order([*(("big", f"b{n}") for n in range(5)), ("small", "s0"), ("small", "s1")])
    assert found == ["b0", "s0", "b1", "s1", "b2", "b3", "b4"]


async def test_a_departing_client_releases_its_place() -> None:
    line, done = FairLine(1), list[str]()
    held = asyncio.Event()

    async def hold() -> None:
        async with line.place():
            await held.wait()

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    gone = [asyncio.create_task(wait_in(line, str(n), done, "gone")) for n in range(3)]
    stays = asyncio.create_task(wait_in(line, "x", done, "stays"))
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
    await asyncio.wait_for(wait_in(line, "y", done, "later"), PATIENCE_S)
    assert done == ["stays", "later"]
