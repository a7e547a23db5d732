"""One run's work: read the items that have no verdict, judge them, store the verdicts in groups."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import structs

from workbench.model.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Verifier
from workbench.verifiers.pool import WorkerPool

GROUP = 500
"""Verdicts in one transaction at most."""

_GROUP_S = 0.2
_BREATH_S = 0.002
_WAIT_S = 0.1


class Desk(Protocol):
    """What the work needs of the runner."""

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        """Commit verdicts by the item's row id."""
        ...

    def look_up(self) -> None:
        """Show life, and raise whatever ends the work early."""
        ...


def judge_inline(verifier: Verifier, chunks: Iterable[list[VerifierInput]], desk: Desk) -> None:
    """Judge in this process, for verifiers that can neither hang nor crash."""
    group: list[tuple[int, Verdict]] = []
    began = time.monotonic()
    for item in _items(chunks, desk):
        group.append((item.item, _judge(verifier, item)))
        if len(group) == GROUP or time.monotonic() - began > _GROUP_S:
            desk.store(group)
            # Others who want to write get their turn.
            time.sleep(_BREATH_S)
            desk.look_up()
            group, began = [], time.monotonic()
    desk.store(group)


def judge_in_workers(
    spec: tuple[str, dict[str, str]], workers: int, chunks: Iterable[list[VerifierInput]], desk: Desk
) -> None:
    """Judge in worker processes; a worker goes on only when its last verdict is committed."""
    items = _items(chunks, desk)
    item = next(items, None)
    if item is None:
        return
    busy = 0
    with WorkerPool(spec, workers) as pool:
        while item is not None or busy:
            while item is not None and pool.free:
                pool.submit(item)
                busy += 1
                item = next(items, None)
            results = pool.wait(_WAIT_S)
            for start in range(0, len(results), GROUP):
                desk.store([(judged.item, verdict) for judged, verdict in results[start : start + GROUP]])
            for judged, _ in results:
                pool.release(judged.item)
            busy -= len(results)
            desk.look_up()


def _items(chunks: Iterable[list[VerifierInput]], desk: Desk) -> Iterator[VerifierInput]:
    for chunk in chunks:
        desk.look_up()
        yield from chunk


def _judge(verifier: Verifier, item: VerifierInput) -> Verdict:
    """The verdict with its time; an exception is the verdict "error"."""
    started = time.perf_counter()
    try:
        verdict = verifier.verify(item)
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"[:2000]
        verdict = Verdict(outcome=Outcome.ERROR, reason="internal", detail=detail)
    return structs.replace(verdict, ms=(time.perf_counter() - started) * 1000)
