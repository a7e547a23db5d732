"""Judge on this machine: in this process where that is safe, else in worker processes."""

from __future__ import annotations

import hashlib
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol, Self, cast

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.feeding import always
from workbench.runs.first_stage import FirstAnswer, FirstStagePool, LeftToWorker
from workbench.verifiers.base import AnyVerifier, Verifier, identity
from workbench.verifiers.pool import WorkerPool


def merge_stage_results(known: Verdict | None, found: Verdict) -> Verdict:
    """Merge the first stage's partial result, if any, with a worker's result."""
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


Recall = Callable[[bytes], Verdict | None]
"""Returns a worker's earlier result for a key."""
Commit = Callable[[Sequence[tuple[int, Verdict]], Mapping[bytes, Verdict]], None]
"""Commits verdicts by the item's number together with workers' results by key."""


class SecondStage:
    """Items that wait for workers; used by one thread.

    Items with equal keys are judged once: the first goes to a worker, the others wait for its result. A worker gets its
    next item only when its last verdict is committed. The workers start when the first item needs one.

    Attributes:
        count: Number of waiting items.
        characters: Total length of their texts.
    """

    def __init__(self, start: Callable[[], WorkerPool], recall: Recall, commit: Commit) -> None:
        self._start, self._recall, self._commit = start, recall, commit
        self._exit = ExitStack()
        self._pool: WorkerPool | None = None
        self._queue: deque[VerifierInput] = deque()
        self._keys: dict[int, bytes | int] = {}
        self._waiting: dict[bytes | int, list[tuple[int, Verdict | None]]] = {}
        self.count = self.characters = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._exit.close()

    @property
    def pool(self) -> WorkerPool:
        if self._pool is None:
            self._pool = self._exit.enter_context(self._start())
        return self._pool

    @property
    def has_workers(self) -> bool:
        return self._pool is not None

    def take(self, item: VerifierInput, deferred: LeftToWorker) -> Verdict | None:
        """Return the verdict if a worker's result is known; otherwise queue the item and return None.

        Raises:
            VerifierError: The workers can't start.
        """
        key = item.item if deferred.key is None else deferred.key
        if (waiting := self._waiting.get(key)) is None:
            if deferred.key is not None and (found := self._recall(deferred.key)) is not None:
                return merge_stage_results(deferred.known, found)
            waiting = self._waiting[key] = []
            self._queue_item(item, key)
        waiting.append((item.item, deferred.known))
        self.count += 1
        return None

    def process_results(self, timeout: float) -> None:
        """Process the workers' results: commit them, and only then assign more.

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
            settled += self._finish_waiting_items(key, verdict)
            self.characters -= item.characters
            if isinstance(key, bytes) and _is_repeatable(verdict):
                found[key] = verdict
        if results:
            self._commit(settled, found)
        for item, _ in results:
            self.pool.release(item.item)
        self._assign_items()

    def _queue_item(self, item: VerifierInput, key: bytes | int) -> None:
        self._keys[item.item] = key
        self._queue.append(item)
        self.characters += item.characters
        self._assign_items()

    def _assign_items(self) -> None:
        while self._queue and self.pool.free:
            self.pool.submit(self._queue.popleft())

    def _finish_waiting_items(self, key: bytes | int, verdict: Verdict) -> list[tuple[int, Verdict]]:
        settled = []
        for item, known in self._waiting.pop(key):
            settled.append((item, merge_stage_results(known, verdict)))
            verdict = structs.replace(verdict, ms=0.0)
            self.count -= 1
        return settled


def _is_repeatable(verdict: Verdict) -> bool:
    return verdict.outcome is not Outcome.ERROR and verdict.reason not in ("timeout", "worker_died")


# -- One run's work: read the items without a verdict, judge them, store the verdicts in groups.


MAX_GROUP_VERDICTS = 500
"""Maximum verdicts in one transaction."""
MAX_WAITING_ITEMS = 1_000
"""Maximum items that wait for a worker; the first stage pauses at this number."""
MAX_WAITING_CHARACTERS = 10_000_000
"""Maximum characters of the items that wait for a worker."""
_GROUP_S = 0.2
_BREATH_S = 0.002
_WAIT_S = 0.1
_TURN_S = 0.002


class VerdictSink(Protocol):
    def store(self, results: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict] = ...) -> None:
        """Commit verdicts, each with its item's row id, and in the same transaction workers' results by key."""
        ...

    def recall(self, key: bytes) -> Verdict | None: ...

    def check(self) -> None: ...


def judge_locally(
    verifier: AnyVerifier,
    spec: tuple[str, dict[str, str]],
    workers: int,
    chunks: Iterable[list[VerifierInput]],
    sink: VerdictSink,
    *,
    has_room: Callable[[], bool] = always,
) -> None:
    """Judge with a local verifier; code that may hang or crash runs in worker processes.

    Args:
        spec: The verifier's kind and options, for the workers.
        has_room: Whether more items may be started while other items wait; finished items are stored first.
    """
    judge = cast("Verifier", verifier)
    # This process takes part in the first stage.
    with (
        FirstStagePool(judge, spec, workers - 1) as readers,
        _LocalRun(judge, lambda: WorkerPool(spec, workers), sink, has_room) as run,
    ):
        for item, answer in readers.answers(_items_in(chunks, sink)):
            run.take(item, answer)
        run.finish()


def _items_in(chunks: Iterable[list[VerifierInput]], sink: VerdictSink) -> Iterator[VerifierInput]:
    for chunk in chunks:
        sink.check()
        yield from chunk


class _LocalRun:
    def __init__(
        self, verifier: Verifier, start: Callable[[], WorkerPool], sink: VerdictSink, has_room: Callable[[], bool]
    ) -> None:
        self._sink, self._has_room = sink, has_room
        self._identity = hashlib.sha256(f"{identity(verifier)}\n{verifier.version}\n".encode())
        self._second = SecondStage(start, self._recall, self._commit)
        self._ready: list[tuple[int, Verdict]] = []
        self._stored = self._turned = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._second.__exit__()

    def take(self, item: VerifierInput, answer: FirstAnswer) -> None:
        verdict = self._second.take(item, answer) if isinstance(answer, LeftToWorker) else answer
        if verdict is not None:
            self._ready.append((item.item, verdict))
        while self._is_full():
            self._process_results(_WAIT_S)
        now = time.monotonic()
        if len(self._ready) >= MAX_GROUP_VERDICTS or now - self._stored > _GROUP_S:
            self._store({})
            # Let other processes write.
            time.sleep(_BREATH_S)
            self._sink.check()
        if self._second.has_workers and now - self._turned > _TURN_S:
            self._process_results(0)

    def finish(self) -> None:
        while self._second.count:
            self._process_results(_WAIT_S)
        self._store({})

    def _is_full(self) -> bool:
        if self._second.count >= MAX_WAITING_ITEMS or self._second.characters >= MAX_WAITING_CHARACTERS:
            return True
        if self._has_room():
            return False
        self._store({})
        return self._second.count > 0 and not self._has_room()

    def _process_results(self, timeout: float) -> None:
        self._second.process_results(timeout)
        self._sink.check()
        self._turned = time.monotonic()

    def _verifier_key(self, key: bytes) -> bytes:
        digest = self._identity.copy()
        digest.update(key)
        return digest.digest()

    def _recall(self, key: bytes) -> Verdict | None:
        return self._sink.recall(self._verifier_key(key))

    def _commit(self, settled: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict]) -> None:
        self._ready += settled
        self._store({self._verifier_key(key): verdict for key, verdict in found.items()})

    def _store(self, found: Mapping[bytes, Verdict]) -> None:
        for start in range(0, len(self._ready), MAX_GROUP_VERDICTS):
            self._sink.store(self._ready[start : start + MAX_GROUP_VERDICTS], found)
        self._ready = []
        self._stored = time.monotonic()
