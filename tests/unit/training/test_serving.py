"""Judging for many concurrent clients: no abandoned item is read, and large requests are shared by all readers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager

import pytest

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.executor import FirstAnswer, LocalExecutor
from workbench.training.choosing import WaitingItems, load_reward_verifier
from workbench.training.serving import AsyncVerifier

ITEM = VerifierInput(item=0, question="", reference="42", completion="x" * 10_000)


class Helping:
    """Workers that help, as far as the one they help can tell."""

    def __init__(self) -> None:
        self.asked: list[Sequence[VerifierInput]] = []
        self.answers: list[Future[list[FirstAnswer]]] = []
        self.begun = asyncio.Event()
        self.at_once = False

    def elsewhere(self, items: Sequence[VerifierInput]) -> Future[list[FirstAnswer]]:
        self.asked.append(items)
        self.answers.append(Future())
        self.begun.set()
        if self.at_once:
            self.go_on()
        return self.answers[-1]

    def go_on(self) -> None:
        self.at_once = True
        for items, answer in zip(self.asked, self.answers, strict=True):
            if not answer.done():
                answer.set_result([Verdict(outcome=Outcome.CORRECT, detail="helped") for _ in items])


@asynccontextmanager
async def helped(monkeypatch: pytest.MonkeyPatch, helping: Helping) -> AsyncIterator[AsyncVerifier]:
    """A verifier with one spare worker that has loaded."""
    monkeypatch.setattr(LocalExecutor, "elsewhere", lambda _, items: helping.elsewhere(items))
    monkeypatch.setattr(AsyncVerifier, "state", "ready")
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    verifier = AsyncVerifier(load_reward_verifier("rules"), WaitingItems(), workers=1)
    yield verifier
    await verifier.close()


async def test_workers_stop_reading_abandoned_items(monkeypatch: pytest.MonkeyPatch) -> None:
    helping = Helping()
    async with helped(monkeypatch, helping) as verifier:
        waiting = asyncio.ensure_future(verifier.verdicts([ITEM] * 5_000))
        await helping.begun.wait()
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        helping.go_on()
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()}, return_exceptions=True)
        assert len(helping.asked) == 2


async def test_a_worker_has_its_next_items_before_it_has_read_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    helping = Helping()
    async with helped(monkeypatch, helping) as verifier:
        waiting = asyncio.ensure_future(verifier.verdicts([ITEM] * 512))
        await helping.begun.wait()
        await asyncio.sleep(0)
        assert len(helping.asked) == 2
        helping.go_on()
        verdicts, _ = await waiting
    taken = sum(map(len, helping.asked))
    assert sum(one.detail == "helped" for one in verdicts) == taken > 0
    assert len(verdicts) == 512
    # Small pieces: at the end no reader waits long for the other.
    assert max(map(len, helping.asked)) * 16 <= 512
