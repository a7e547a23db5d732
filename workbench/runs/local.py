"""One run's work: read the items that have no verdict, judge them, store the verdicts in groups."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, Self, cast

from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.second_stage import SecondStage, filled_in
from workbench.verifiers.base import AnyVerifier, Pending, StagedVerifier, Verifier, identity
from workbench.verifiers.judging import judged, quickly_judged
from workbench.verifiers.pool import WorkerPool

GROUP = 500
"""Verdicts in one transaction at most."""

MOST_WAITING = 1_000
"""Items at most that wait for a worker's answer; then the first stage waits too."""

MOST_CHARACTERS = 10_000_000
"""Characters at most of the items that wait for a worker."""

_GROUP_S = 0.2
_BREATH_S = 0.002
_WAIT_S = 0.1
_TURN_S = 0.002


class VerdictSink(Protocol):
    """What the work needs of the runner."""

    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = ...) -> None:
        """Commit verdicts by the item's row id and, with them, what workers found by key."""
        ...

    def recall(self, key: bytes) -> Verdict | None:
        """What a worker has found for a key, in whichever run."""
        ...

    def look_up(self) -> None:
        """Show life, and raise whatever ends the work early."""
        ...


def judge_locally(
    verifier: AnyVerifier,
    spec: tuple[str, dict[str, str]],
    workers: int,
    chunks: Iterable[list[VerifierInput]],
    sink: VerdictSink,
) -> None:
    """Judge with a verifier that works on this machine; what may hang or crash does so in a worker process.

    Args:
        spec: The verifier's kind and options, for the workers.
    """
    if verifier.isolation == "inline":
        judge_inline(cast("Verifier", verifier), chunks, sink)
    elif verifier.isolation == "staged":
        judge_staged(cast("StagedVerifier", verifier), spec, workers, chunks, sink)
    else:
        judge_in_workers(spec, workers, chunks, sink)


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


def judge_staged(
    verifier: StagedVerifier,
    spec: tuple[str, dict[str, str]],
    workers: int,
    chunks: Iterable[list[VerifierInput]],
    sink: VerdictSink,
) -> None:
    """Judge most items in this process at once and the rest in worker processes meanwhile.

    The workers are started when the first item needs one.
    """
    with _Stages(verifier, lambda: WorkerPool(spec, workers), sink) as stages:
        for item in _items(chunks, sink):
            stages.take(item)
        stages.finish()


class _Stages:
    """Items on their way through both stages of a verifier; all in one thread, and never many at a time.

    A worker goes on only when its last verdict is committed.
    """

    def __init__(self, verifier: StagedVerifier, start: Callable[[], WorkerPool], sink: VerdictSink) -> None:
        self._verifier = verifier
        self._sink = sink
        self._identity = hashlib.sha256(f"{identity(verifier)}\n{verifier.version}\n".encode())
        self._second = SecondStage(start)
        self._ready: list[tuple[int, Verdict]] = []
        self._stored = self._turned = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._second.__exit__()

    def take(self, item: VerifierInput) -> None:
        """Judge an item or put it in line; wait first while too many stand there."""
        answer = quickly_judged(self._verifier, item)
        if isinstance(answer, Pending):
            self._put_off(item, answer)
        else:
            self._ready.append((item.item, answer))
        while self._second.count >= MOST_WAITING or self._second.characters >= MOST_CHARACTERS:
            self._turn(_WAIT_S)
        now = time.monotonic()
        if len(self._ready) >= GROUP or now - self._stored > _GROUP_S:
            self._store({})
            # Others who want to write get their turn.
            time.sleep(_BREATH_S)
            self._sink.look_up()
        if self._second.has_workers and now - self._turned > _TURN_S:
            self._turn(0)

    def finish(self) -> None:
        """Wait for the workers and store what is left."""
        while self._second.count:
            self._turn(_WAIT_S)
        self._store({})

    def _put_off(self, item: VerifierInput, pending: Pending) -> None:
        digest = self._identity.copy()
        digest.update(pending.key)
        key = digest.digest()
        if self._second.joins(item.item, key, pending.verdict):
            return
        if (known := self._sink.recall(key)) is not None:
            self._ready.append((item.item, filled_in(pending.verdict, known)))
        else:
            self._second.add(item, key, pending.verdict)

    def _turn(self, timeout: float) -> None:
        self._second.turn(timeout, self._commit)
        self._sink.look_up()
        self._turned = time.monotonic()

    def _commit(self, settled: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict]) -> None:
        self._ready += settled
        self._store(found)

    def _store(self, found: Mapping[bytes, Verdict]) -> None:
        for start in range(0, len(self._ready), GROUP):
            self._sink.store(self._ready[start : start + GROUP], found)
        self._ready = []
        self._stored = time.monotonic()


def _items(chunks: Iterable[list[VerifierInput]], sink: VerdictSink) -> Iterator[VerifierInput]:
    for chunk in chunks:
        sink.look_up()
        yield from chunk
