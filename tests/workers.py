"""Worker processes that get one item at a time."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.wire import WorkerTask

_WAIT_S = 5.0


def submit(pool: WorkerPool, item: VerifierInput) -> None:
    pool.submit(WorkerTask([item]))


def answered(pool: WorkerPool, seconds: float = _WAIT_S) -> list[tuple[VerifierInput, Verdict]]:
    """Return the items answered in time with their verdicts, at least one if possible."""
    return [
        (item, verdict)
        for task, found in pool.wait(seconds)
        for item, verdict in zip(task.items, found, strict=True)
        if isinstance(verdict, Verdict)
    ]


def verdicts_in(pool: WorkerPool, items: Sequence[VerifierInput]) -> list[Verdict]:
    """Return verdicts in the order of the items, which are submitted in this order."""
    waiting, places = list(items), {id(item): place for place, item in enumerate(items)}
    found: dict[int, Verdict] = {}
    while len(found) < len(items):
        while waiting and pool.free:
            submit(pool, waiting.pop(0))
        found |= {places[id(item)]: verdict for item, verdict in answered(pool)}
    return [found[place] for place in range(len(items))]
