"""One run's work: read the items that have no verdict, judge them, store the verdicts in groups."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol, Self, cast

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import AnyVerifier, Pending, StagedVerifier, Verifier, identity
from workbench.verifiers.judging import judged, quickly_judged
from workbench.verifiers.pool import WorkerPool

# -- What the first stage of a verifier left, on its way through worker processes.


Commit = Callable[[Sequence[tuple[int, Verdict]], Mapping[bytes, Verdict]], None]
"""Takes verdicts by the item's number and, with them, what workers found by key."""


class SecondStage:
    """Items that wait for workers; all in one thread.

    Items of equal keys are judged once: the first goes to a worker, the others wait for its answer. A worker goes on
    only when its last verdict is committed. The workers are started when the first item needs one.

    Attributes:
        count: Items that wait.
        characters: Length of the texts that are kept for them.
    """

    def __init__(self, start: Callable[[], WorkerPool]) -> None:
        self._start = start
        self._exit = ExitStack()
        self._pool: WorkerPool | None = None
        self._queue: deque[VerifierInput] = deque()
        self._keys: dict[int, bytes] = {}
        self._waiting: dict[bytes, list[tuple[int, Verdict | None]]] = {}
        self.count = self.characters = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def pool(self) -> WorkerPool:
        """The workers, started if need be."""
        if self._pool is None:
            self._pool = self._exit.enter_context(self._start())
        return self._pool

    @property
    def has_workers(self) -> bool:
        """Whether they were started."""
        return self._pool is not None

    def joins(self, item: int, key: bytes, known: Verdict | None) -> bool:
        """Let an item wait with another of the same key, if there is one."""
        if key not in self._waiting:
            return False
        self._waiting[key].append((item, known))
        self.count += 1
        return True

    def add(self, item: VerifierInput, key: bytes, known: Verdict | None) -> None:
        """Put an item in line whose key no other has.

        Args:
            known: What the first stage knows of it; None if there was none, and the worker's verdict is all.
        """
        self._waiting[key] = [(item.item, known)]
        self._keys[item.item] = key
        self._queue.append(item)
        self.count += 1
        self.characters += _size(item)
        self._feed()

    def turn(self, timeout: float, commit: Commit) -> None:
        """See what the workers have done: commit it, and only then give them more.

        Args:
            timeout: The longest wait in seconds.

        Raises:
            VerifierError: The workers can't start.
        """
        results = self.pool.wait(timeout)
        settled: list[tuple[int, Verdict]] = []
        found = {}
        for item, verdict in results:
            key = self._keys.pop(item.item)
            settled += self._settle(key, verdict)
            self.characters -= _size(item)
            if _is_repeatable(verdict):
                found[key] = verdict
        if results:
            commit(settled, found)
        for item, _ in results:
            self.pool.release(item.item)
        self._feed()

    def _feed(self) -> None:
        while self._queue and self.pool.free:
            self.pool.submit(self._queue.popleft())

    def _settle(self, key: bytes, verdict: Verdict) -> list[tuple[int, Verdict]]:
        """Fill in the items that waited for a key; only the first has cost a worker's time."""
        settled = []
        for item, known in self._waiting.pop(key):
            settled.append((item, filled_in(known, verdict)))
            verdict = structs.replace(verdict, ms=0.0)
            self.count -= 1
        return settled


def filled_in(known: Verdict | None, found: Verdict) -> Verdict:
    """What the first stage knows of an item with what the second found."""
    if known is None:
        return found
    return structs.replace(
        known,
        outcome=found.outcome,
        score=found.score,
        reason=found.reason,
        rule=found.rule,
        detail=found.detail,
        ms=known.ms + found.ms,
    )


def _is_repeatable(verdict: Verdict) -> bool:
    """Whether the same comparison would be answered like this again, on any machine."""
    return verdict.outcome is not Outcome.ERROR and verdict.reason not in ("timeout", "worker_died")


def _size(item: VerifierInput) -> int:
    return len(item.question) + len(item.reference) + len(item.completion)


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
