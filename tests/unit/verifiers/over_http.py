"""Judges items against a scripted server with the real client over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.servers.memory import HeldClock, MemoryJournal
from workbench.core.verdict import VerifierInput
from workbench.llm.caller import Caller
from workbench.llm.records import CallFailed, Reply, Request
from workbench.verifiers.base import Judged, ServedVerifier

SECRET = b"a secret of thirty-two bytes ..."


def judged_over_http(
    verifier: ServedVerifier, items: Sequence[VerifierInput], journal: MemoryJournal | None = None
) -> list[Judged | CallFailed]:
    """Judge all items concurrently and return their results."""

    async def live() -> list[Judged | CallFailed]:
        kept = journal or MemoryJournal()
        async with Caller(verifier.servers(), verifier.limits(), kept, {}, {}, clock=HeldClock()) as caller:
            return list(await asyncio.gather(*(one(caller, item) for item in items)))

    async def one(caller: Caller, item: VerifierInput) -> Judged | CallFailed:
        async def ask(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
            return (await caller.call(item.item, role, request, sample)).reply

        try:
            return await verifier.judge(item, ask, SECRET)
        except CallFailed as failure:
            return failure

    return asyncio.run(live())
