"""One local verifier with its worker processes, for callers in any thread: the engine of runs, rewards and probes.

The first stage runs in the calling thread; for many items, workers help. Deferred items, and all items of verifiers
that may hang or crash, go to workers, which one thread manages: a caller's signal, exception or timeout can't lose or
mix up the results of other callers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from itertools import islice
from typing import Any, Final, Generic, Literal, TypeVar

import msgspec
from msgspec import Struct, structs

from workbench.core.closing import Closing
from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Isolation, Pending, Verifier
from workbench.verifiers.judging import failure, first_stage
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.wire import WorkerTask

State = Literal["idle", "starting", "ready", "failed"]
"""State of the workers: not needed yet, loading, able to accept items, unable to start."""
FirstAnswer = Verdict | Pending
"""The first stage's answer to an item."""

BATCH_ITEMS: Final = 64
"""Items in one batch of the first stage."""
MIN_ITEMS_FOR_HELPERS: Final = 1_000
"""Number of items that callers judge before workers are started to help with the first stage."""
LONG_ITEM_CHARACTERS: Final = 20_000
"""Minimum characters of a long item."""
_MAX_BATCH_CHARACTERS = 500_000
"""A batch with this many characters takes no further item."""
_NICENESS = 10
_TURN_S = 0.005
_AGAIN_S = 30.0
_REMEMBERED = 10_000
_LONGEST_REMEMBERED = 1_000


class ExecutorClosed(Exception):
    """The executor was closed before the item was judged."""


TOO_LONG = Verdict(outcome=Outcome.ABSTAIN, reason="timeout")
"""The verdict on an item that was not judged before its deadline."""
UNSENDABLE = failure("a text has characters that UTF-8 lacks")
"""The verdict on a value that can't be encoded as text."""


Job = TypeVar("Job")


class _WaitingTask(Struct, eq=False):
    task: WorkerTask
    pending: Pending
    answer: Future[Any]


class QueueExecutor(Closing, ABC, Generic[Job]):
    """A queue of jobs, and a thread that works on them; it starts with the first job.

    Attributes:
        state: The state of the workers.
        trouble: Why they failed last.
    """

    def __init__(self, name: str, state: State = "idle") -> None:
        self.state: State = state
        self.trouble: str | None = None
        self._name = name
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    def warm(self) -> None:
        """Start the workers now; `state` reports when they are ready."""
        with self._lock:
            self._start_thread()

    def close(self) -> None:
        """End the workers at once; waiting callers get `ExecutorClosed`."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    def _put(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                raise ExecutorClosed
            self._start_thread()
            self._jobs.put(job)

    def _start_thread(self) -> None:
        if self._thread is None:
            self.state = "starting"
            self._thread = threading.Thread(target=self._run_thread, name=self._name, daemon=True)
            self._thread.start()

    @abstractmethod
    def _run_thread(self) -> None:
        """Work on jobs until the executor is closed; a job None only wakes the thread."""


class LocalExecutor(QueueExecutor[_WaitingTask]):
    """One verifier with its worker processes, which start when the first item needs one.

    Args:
        verifier: A local verifier.
        spec: Its kind and options, for the workers.
        workers: Number of worker processes.
        deadline: Seconds an item may take in a worker; by default the verifier's allowance, as in a run.
        spare: Number of further workers that are free for the first stage; with any, this process answers for many
            clients, and workers have a lower priority.
    """

    def __init__(
        self,
        verifier: Verifier,
        spec: tuple[str, dict[str, str]],
        workers: int,
        deadline: float | None = None,
        *,
        spare: int = 0,
    ) -> None:
        super().__init__("workbench-executor", "ready" if verifier.isolation == "inline" else "idle")
        self._verifier, self._spec, self._workers, self._deadline = verifier, spec, workers, deadline
        self.spare = spare
        self._helpers = (workers - 1 if spare == 0 else spare) if verifier.isolation == "staged" else 0
        self._read = 0
        self._first: deque[_WaitingTask] = deque()
        self._second: deque[_WaitingTask] = deque()
        self._started: dict[WorkerTask, _WaitingTask] = {}
        self._shared: dict[bytes, list[_WaitingTask]] = {}
        self._known = RecentVerdicts()

    @property
    def isolation(self) -> Isolation:
        return self._verifier.isolation

    def judge_first_stage(self, item: VerifierInput) -> FirstAnswer:
        """Return the verdict if the first stage reaches one, else the deferred item for `later`."""
        if not is_encodable(item):
            return UNSENDABLE
        if self.isolation == "process":
            return self.with_known_result(Pending(_item_key(item)))
        return self.with_known_result(first_stage(self._verifier, item))

    def with_known_result(self, answer: FirstAnswer) -> FirstAnswer:
        """Complete a deferred item if the result of its comparison is known."""
        if isinstance(answer, Verdict) or answer.key is None or (found := self._known.get(answer.key)) is None:
            return answer
        return answer.merged(found)

    def later(self, item: VerifierInput, deferred: Pending) -> Future[Verdict]:
        """Have a worker judge an item that the first stage deferred; the future can't be cancelled.

        Items with equal keys are judged once.

        Raises:
            ExecutorClosed: The executor is closed.
        """
        answer: Future[Verdict] = Future()
        answer.set_running_or_notify_cancel()
        self._put(_WaitingTask(WorkerTask([item]), deferred, answer))
        return answer

    def elsewhere(self, items: Sequence[VerifierInput]) -> Future[list[FirstAnswer]]:
        """Have a worker run the first stage; the future can be cancelled until one begins.

        Its result is a VerifierError if the worker has ended.

        Raises:
            ExecutorClosed: The executor is closed.
        """
        answer: Future[list[FirstAnswer]] = Future()
        self._put(_WaitingTask(WorkerTask(items, first=True), Pending(), answer))
        return answer

    def answers(
        self, items: Iterable[VerifierInput], has_room: Callable[[], bool] = lambda: True
    ) -> Iterator[tuple[VerifierInput, FirstAnswer]]:
        """Yield each item with the first stage's answer, in no particular order.

        Workers help once they are ready, or once this process has judged `MIN_ITEMS_FOR_HELPERS` items, which starts
        them. If one ends, the caller judges its batch.

        Args:
            has_room: Whether items may be read while workers judge others.
        """
        left, sent = iter(items), deque[tuple[list[VerifierInput], Future[list[FirstAnswer]]]]()
        while True:
            before, helped = self._read, self._read >= MIN_ITEMS_FOR_HELPERS or self.state == "ready"
            own: Iterable[VerifierInput] = ()
            # Without helpers the caller requests an item only when it has answered the one before.
            if room := not sent or has_room():
                own = _next_batch(left) if helped and self._helpers else islice(left, BATCH_ITEMS)
            helped = helped and not self._closed and self.state != "failed"
            while own and helped and len(sent) < 2 * self._helpers and (batch := _next_batch(left)):
                sent.append((batch, self.elsewhere(batch)))
            if not own and sent and sent[-1][1].cancel():
                own = sent.pop()[0]
            yield from self._judge_here(own)
            while sent and (not own or sent[0][1].done()):
                batch, answer = sent.popleft()
                try:
                    yield from zip(batch, answer.result(), strict=True)
                except (VerifierError, ExecutorClosed):
                    yield from self._judge_here(batch)
            if room and self._read == before and not sent:
                return

    def judge(self, items: Sequence[VerifierInput], deadline: float | None = None) -> list[Verdict]:
        """Return the verdicts on several items, in their order.

        Args:
            deadline: Seconds of wall time for all items; items without a verdict by then get the abstention "timeout".

        Raises:
            VerifierError: The workers can't start.
            ExecutorClosed: The executor was closed while items waited.
        """
        ends = None if deadline is None else time.monotonic() + deadline
        waiting: list[Verdict | Future[Verdict]] = [UNSENDABLE] * len(items)
        # Workers start on the first deferred items while the others are read.
        for row, answer in self._first_stage_answers(items):
            waiting[row] = self.later(items[row], answer) if isinstance(answer, Pending) else answer
        return [wait_for_verdict(one, ends) if isinstance(one, Future) else one for one in waiting]

    def warm(self) -> None:
        """See the base class; a verifier that can neither hang nor crash needs no workers."""
        if self.isolation != "inline":
            super().warm()

    def _first_stage_answers(self, items: Sequence[VerifierInput]) -> Iterator[tuple[int, FirstAnswer]]:
        if self.isolation != "staged":
            yield from enumerate(map(self.judge_first_stage, items))
            return
        numbered = (structs.replace(item, item=row) for row, item in enumerate(items))
        for item, answer in self.answers(filter(is_encodable, numbered)):
            yield item.item, self.with_known_result(answer)

    def _judge_here(self, items: Iterable[VerifierInput]) -> Iterator[tuple[VerifierInput, FirstAnswer]]:
        for item in items:
            self._read += 1
            yield item, first_stage(self._verifier, item)

    # -- The thread that manages the workers.

    def _run_thread(self) -> None:
        while not self._closed:
            try:
                with WorkerPool(self._spec, self._workers + self.spare, self._deadline) as pool:
                    if self.spare:
                        # The first process is the one from which the workers are forked.
                        os.setpriority(os.PRIO_PROCESS, pool.pids[0], _NICENESS)
                    self._serve_callers(pool)
            except Exception as error:
                # On any error: no caller may wait for ever.
                self.trouble = f"{self._verifier.name!r} can't judge: {error}"
                self.state = "failed"
                self._fail_waiting_callers(VerifierError(self.trouble))
                if not self._closed:
                    with contextlib.suppress(queue.Empty):
                        self._jobs.put(self._jobs.get(timeout=_AGAIN_S))
        self._fail_waiting_callers(ExecutorClosed())

    def _serve_callers(self, pool: WorkerPool) -> None:
        while not self._closed:
            if pool.free:
                self.state = "ready"
            busy = self._first or self._second or self._started
            if self.state == "ready" and not busy:
                self._take(self._jobs.get())
            with contextlib.suppress(queue.Empty):
                while True:
                    self._take(self._jobs.get_nowait())
            self._assign(pool)
            for task, found in pool.wait(_TURN_S):
                self._deliver(self._started.pop(task), found)

    def _take(self, job: _WaitingTask | None) -> None:
        if job is None:
            return
        if job.task.first:
            self._first.append(job)
        elif isinstance(known := self.with_known_result(job.pending), Verdict):
            job.answer.set_result(known)
        elif (key := job.pending.key) is None or key not in self._shared:
            self._second.append(job)
            if key is not None:
                self._shared[key] = []
        else:
            self._shared[key].append(job)

    def _assign(self, pool: WorkerPool) -> None:
        while self._first and pool.free:
            if (job := self._first.popleft()).answer.set_running_or_notify_cancel():
                self._submit(pool, job)
        slow = sum(not task.first for task in self._started)
        while self._second and pool.free and slow < self._workers:
            slow += 1
            self._submit(pool, self._second.popleft())

    def _submit(self, pool: WorkerPool, job: _WaitingTask) -> None:
        self._started[job.task] = job
        pool.submit(job.task)

    def _deliver(self, job: _WaitingTask, found: list[FirstAnswer]) -> None:
        if job.task.first:
            if found:
                job.answer.set_result(found)
            else:
                job.answer.set_exception(VerifierError("A worker process has ended in the first stage."))
            return
        (verdict,) = found
        assert isinstance(verdict, Verdict)
        key = job.pending.key
        if key is not None and is_repeatable(verdict):
            self._known.put(key, verdict)
        for one in (job, *(() if key is None else self._shared.pop(key))):
            one.answer.set_result(one.pending.merged(verdict))
            verdict = structs.replace(verdict, ms=0.0)

    def _fail_waiting_callers(self, error: Exception) -> None:
        waiting = [*self._first, *self._second, *self._started.values()]
        waiting += (job for shared in self._shared.values() for job in shared)
        with contextlib.suppress(queue.Empty):
            while True:
                if (job := self._jobs.get_nowait()) is not None:
                    waiting.append(job)
        for waits in (self._first, self._second, self._started, self._shared):
            waits.clear()
        for job in waiting:
            if job.answer.running() or job.answer.set_running_or_notify_cancel():
                job.answer.set_exception(error)


def _next_batch(left: Iterator[VerifierInput]) -> list[VerifierInput]:
    items, characters = list[VerifierInput](), 0
    for item in islice(left, BATCH_ITEMS):
        items.append(item)
        characters += item.characters
        if characters > _MAX_BATCH_CHARACTERS:
            break
    return items


def wait_for_verdict(answer: Future[Verdict], ends: float | None) -> Verdict:
    """Wait for a verdict until ``ends``, a time of `time.monotonic`; after it return the abstention "timeout"."""
    # Not by a timeout of `result`: callers may be interrupted by their own TimeoutError.
    wait([answer], None if ends is None else max(0.0, ends - time.monotonic()))
    return answer.result() if answer.done() else TOO_LONG


class RecentVerdicts:
    def __init__(self) -> None:
        self._found: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Verdict | None:
        with self._lock:
            if (found := self._found.get(key)) is None:
                return None
            self._found.move_to_end(key)
            return structs.replace(found, ms=0.0)

    def put(self, key: bytes, verdict: Verdict) -> None:
        texts = (verdict.detail, verdict.reference_final, verdict.candidate_final)
        if sum(len(text or "") for text in texts) > _LONGEST_REMEMBERED:
            return
        with self._lock:
            self._found[key] = verdict
            if len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)


def is_repeatable(verdict: Verdict) -> bool:
    return verdict.outcome is not Outcome.ERROR and verdict.reason not in ("timeout", "worker_died")


def is_encodable(item: VerifierInput) -> bool:
    """Return whether all texts can be encoded as UTF-8: Python's strings may have lone surrogates."""
    if item.completion.isascii() and item.reference.isascii() and item.question.isascii():
        return True
    try:
        msgspec.msgpack.encode(item)
    except UnicodeEncodeError:
        return False
    return True


def _item_key(item: VerifierInput) -> bytes:
    texts = [item.question, item.reference, item.completion, item.subtype or "", item.example or ""]
    return hashlib.sha256(msgspec.msgpack.encode(texts)).digest()
