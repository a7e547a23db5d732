"""Judging for many who wait at once: nothing is read for nobody, and a large request is read by all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.first_stage import AsyncFirstStagePool, FirstAnswer
from workbench.training.choosing import WaitingItems, load_reward_verifier
from workbench.training.serving import AsyncVerifier

ITEM = VerifierInput(item=0, question="", reference="42", completion="x" * 10_000)


class Helping:
    """A process that helps, as far as the one it helps can tell."""

    def __init__(self) -> None:
        self.asked: list[Sequence[VerifierInput]] = []
        self.under_way = self.most = 0
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def ask(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        self.asked.append(items)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.begun.set()
        await self.go_on.wait()
        self.under_way -= 1
        return [Verdict(outcome=Outcome.CORRECT, detail="helped") for _ in items]


@asynccontextmanager
async def helped(monkeypatch: pytest.MonkeyPatch, process: Helping) -> AsyncIterator[AsyncVerifier]:
    """A verifier with one process beside it that has loaded."""

    @asynccontextmanager
    async def lent(_: AsyncFirstStagePool) -> AsyncIterator[Helping]:
        yield process

    monkeypatch.setattr(AsyncFirstStagePool, "free", property(lambda _: 1))
    monkeypatch.setattr(AsyncFirstStagePool, "prepare", lambda *_: None)
    monkeypatch.setattr(AsyncFirstStagePool, "process", lent)
    verifier = AsyncVerifier(load_reward_verifier("rules"), WaitingItems(), workers=1)
    yield verifier
    await verifier.close()


async def test_whoever_helps_reads_no_further_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Helping()
    async with helped(monkeypatch, process) as verifier:
        waiting = asyncio.ensure_future(verifier.verdicts([ITEM] * 5_000))
        await process.begun.wait()
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        process.go_on.set()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
        assert len(process.asked) == process.most


async def test_who_helps_has_its_next_items_before_it_has_read_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Helping()
    async with helped(monkeypatch, process) as verifier:
        waiting = asyncio.ensure_future(verifier.verdicts([ITEM] * 512))
        await process.begun.wait()
        await asyncio.sleep(0)
        assert process.under_way == 2
        process.go_on.set()
        verdicts, _ = await waiting
    taken = sum(map(len, process.asked))
    assert process.most == 2
    assert sum(one.detail == "helped" for one in verdicts) == taken > 0
    assert len(verdicts) == 512
    # Small pieces: at the end nobody waits long for what the other has.
    assert max(map(len, process.asked)) * 16 <= 512


async def test_who_helps_one_leaves_a_process_to_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Helping()
    process.go_on.set()
    monkeypatch.setattr(AsyncFirstStagePool, "is_over_capacity", property(lambda _: len(process.asked) >= 4))
    lent = 0
    async with helped(monkeypatch, process) as verifier:
        usual = AsyncFirstStagePool.process

        @asynccontextmanager
        async def counted(self: AsyncFirstStagePool) -> AsyncIterator[Helping]:
            nonlocal lent
            lent += 1
            # Whoever waited has had it.
            process.asked.clear()
            async with usual(self) as one:
                yield one  # type: ignore[misc]

        monkeypatch.setattr(AsyncFirstStagePool, "process", counted)
        verdicts, _ = await verifier.verdicts([ITEM] * 512)
    assert len(verdicts) == 512
    assert lent > 1
