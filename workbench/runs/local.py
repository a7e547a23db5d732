"""Judge on this machine: in this process where that is safe, else in worker processes; store verdicts in groups."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import FirstAnswer, LocalExecutor
from workbench.verifiers.base import AnyVerifier, Verifier

if TYPE_CHECKING:
    from workbench.core.code import Provenance
    from workbench.core.run import ClusterUse
    from workbench.runs.store.verdicts import TestResult
    from workbench.verifiers.base import Judged

MAX_GROUP_VERDICTS = 500
"""Maximum verdicts in one transaction."""
MAX_WAITING_ITEMS = 1_000
"""Maximum items that wait for a worker; the first stage pauses at this number."""
MAX_WAITING_CHARACTERS = 10_000_000
"""Maximum characters of the items that wait for a worker."""
_GROUP_S = 0.2
_BREATH_S = 0.002
_WAIT_S = 0.1
T = TypeVar("T")


class ResultSink:
    """Receives the results of a run; subclasses store what they need."""

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        """Commit verdicts, each with its item's row id."""

    def store_executed(self, judged: Sequence[tuple[int, Judged]], results: Sequence[TestResult]) -> None:
        """Commit verdicts, each with its item's row id, together with the test results they are based on."""

    def check(self) -> None:
        """Raise to end the work; called a few times a second."""

    def note_provenance(self, found: Provenance) -> None:
        """Store what test results depend on."""

    def note_cluster(self, use: ClusterUse) -> None:
        """Store the use of a cluster."""


def always() -> bool:
    return True


class PacedIterator(Iterator[T]):
    """Yields from a source; stops while there is no room, but unlike other iterators it may continue later.

    Args:
        has_room: Whether there is room; false only while some yielded work is in progress.
    """

    def __init__(self, source: Iterable[T], has_room: Callable[[], bool]) -> None:
        self._source, self._has_room = iter(source), has_room

    def __next__(self) -> T:
        if not self._has_room():
            raise StopIteration
        return next(self._source)


def judge_locally(
    verifier: AnyVerifier,
    spec: tuple[str, dict[str, str]],
    workers: int,
    chunks: Iterable[list[VerifierInput]],
    sink: ResultSink,
    *,
    has_room: Callable[[], bool] = always,
) -> None:
    """Judge with a local verifier; code that may hang or crash runs in worker processes.

    Args:
        spec: The verifier's kind and options, for the workers.
        has_room: Whether more items may be started while other items wait; finished items are stored first.
    """
    judge = cast("Verifier", verifier)
    with LocalExecutor(judge, spec, workers) as executor:
        run = _LocalRun(executor, sink, has_room)
        for item, answer in executor.answers(_items_in(chunks, sink), run.has_room):
            run.take(item, answer)
        run.finish()


def _items_in(chunks: Iterable[list[VerifierInput]], sink: ResultSink) -> Iterator[VerifierInput]:
    for chunk in chunks:
        sink.check()
        yield from chunk


class _LocalRun:
    def __init__(self, executor: LocalExecutor, sink: ResultSink, has_room: Callable[[], bool]) -> None:
        self._executor, self._sink, self._has_room = executor, sink, has_room
        self._answered: queue.SimpleQueue[tuple[VerifierInput, Future[Verdict]]] = queue.SimpleQueue()
        self._count = self._characters = 0
        self._ready: list[tuple[int, Verdict]] = []
        self._stored = time.monotonic()

    def take(self, item: VerifierInput, answer: FirstAnswer) -> None:
        answer = self._executor.with_known_result(answer)
        if isinstance(answer, Verdict):
            self._ready.append((item.item, answer))
        else:
            self._count += 1
            self._characters += item.characters
            waiting = self._executor.later(item, answer)
            waiting.add_done_callback(lambda done: self._answered.put((item, done)))
        while self._is_full():
            self._collect(_WAIT_S)
        if self._count:
            self._collect(0)
        self._store_if_due()

    def finish(self) -> None:
        while self._count:
            self._collect(_WAIT_S)
            self._store_if_due()
        self._store()

    def _is_full(self) -> bool:
        if self._count >= MAX_WAITING_ITEMS or self._characters >= MAX_WAITING_CHARACTERS:
            return True
        return not self.has_room() and self._count > 0

    def has_room(self) -> bool:
        if not self._has_room():
            self._store()
        return self._has_room()

    def _collect(self, timeout: float) -> None:
        """Collect the workers' verdicts.

        Args:
            timeout: The longest wait for the first of them, in seconds.
        """
        get = partial(self._answered.get, timeout=timeout) if timeout else self._answered.get_nowait
        try:
            while True:
                item, answer = get()
                get = self._answered.get_nowait
                self._count -= 1
                self._characters -= item.characters
                self._ready.append((item.item, answer.result()))
        except queue.Empty:
            if timeout:
                self._sink.check()

    def _store_if_due(self) -> None:
        if len(self._ready) >= MAX_GROUP_VERDICTS or time.monotonic() - self._stored > _GROUP_S:
            self._store()
            # Let other processes write.
            time.sleep(_BREATH_S)
            self._sink.check()

    def _store(self) -> None:
        for start in range(0, len(self._ready), MAX_GROUP_VERDICTS):
            self._sink.store(self._ready[start : start + MAX_GROUP_VERDICTS])
        self._ready = []
        self._stored = time.monotonic()
