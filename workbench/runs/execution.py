"""One run's work: read the items that have no verdict, judge them, store the verdicts in groups."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from workbench.model.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Verifier, judged
from workbench.verifiers.pool import WorkerPool

GROUP = 500
"""Verdicts in one transaction at most."""

_GROUP_S = 0.2
_BREATH_S = 0.002
_WAIT_S = 0.1


class VerdictSink(Protocol):
    """What the work needs of the runner."""

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        """Commit verdicts by the item's row id."""
        ...

    def look_up(self) -> None:
        """Show life, and raise whatever ends the work early."""
        ...


def judge_inline(verifier: Verifier, chunks: Iterable[list[VerifierInput]], sink: VerdictSink) -> None:
    """Judge in this process, for verifiers that can neither hang nor crash."""
    group: list[tuple[int, Verdict]] = []
    began = time.monotonic()
    for item in _items(chunks, sink):
        group.append((item.item, judged(verifier, item)))
        if len(group) == GROUP or time.monotonic() - began > _GROUP_S:
            sink.store(group)
            # Others who want to write get their turn.
            time.sleep(_BREATH_S)
            sink.look_up()
            group, began = [], time.monotonic()
    sink.store(group)


def judge_in_workers(
    spec: tuple[str, dict[str, str]], workers: int, chunks: Iterable[list[VerifierInput]], sink: VerdictSink
) -> None:
    """Judge in worker processes; a worker goes on only when its last verdict is committed."""
    items = _items(chunks, sink)
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
                sink.store([(judged.item, verdict) for judged, verdict in results[start : start + GROUP]])
            for judged, _ in results:
                pool.release(judged.item)
            busy -= len(results)
            sink.look_up()


def _items(chunks: Iterable[list[VerifierInput]], sink: VerdictSink) -> Iterator[VerifierInput]:
    for chunk in chunks:
        sink.look_up()
        yield from chunk
