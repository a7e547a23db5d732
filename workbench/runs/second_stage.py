"""What the first stage of a verifier left, on its way through worker processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.pool import WorkerPool

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
