"""Judging for many who wait at once: nothing is read for nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from workbench.core.verdict import VerifierInput
from workbench.runs.first_stage import BATCH, AsyncReaders, FirstAnswer
from workbench.training.choosing import WaitingItems, chosen
from workbench.training.serving import AsyncVerifier


async def test_whoever_helps_reads_no_further_once_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = AsyncVerifier(chosen("rules"), WaitingItems(), workers=1)
    asked, begun, go_on = [0], asyncio.Event(), asyncio.Event()

    async def answers(items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        asked[0] += 1
        begun.set()
        await go_on.wait()
        return []

    monkeypatch.setattr(AsyncReaders, "free", property(lambda _: 1))
    monkeypatch.setattr(AsyncReaders, "prepare", lambda *_: None)
    monkeypatch.setattr(verifier._readers, "answers", answers)
    item = VerifierInput(item=0, question="", reference="42", completion="x" * 10_000)
    waiting = asyncio.ensure_future(verifier.verdicts([item] * 100 * BATCH))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})
    assert asked == [1]
    await verifier.close()
