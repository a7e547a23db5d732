"""Judge single items for callers in any thread, with the same verdicts as a run.

The first stage runs in the calling thread. Deferred items, and all items of verifiers that may hang or crash, go to
worker processes, which one thread manages: a caller's signal, exception or timeout can't lose or mix up the results of
other callers.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Literal

import msgspec
from msgspec import Struct, structs

from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.first_stage import NICENESS, FirstAnswer, FirstStagePool, LeftToWorker, first_stage
from workbench.runs.local import SecondStage, merge_stage_results
from workbench.verifiers.base import Isolation, Verifier
from workbench.verifiers.judging import failure
from workbench.verifiers.pool import WorkerPool

State = Literal["idle", "starting", "ready", "failed"]
"""State of the workers: not needed yet, loading, able to accept items, unable to start."""
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


class _WaitingItem(Struct, frozen=True):
    item: VerifierInput
    deferred: LeftToWorker
    answer: Future[Verdict]


class LocalExecutor:
    """One verifier with its worker processes.

    Args:
        verifier: A local verifier.
        spec: Its kind and options, for the workers.
        workers: Number of worker processes.
        deadline: Seconds an item may take in a worker; by default the verifier's allowance, as in a run.
        yielding: Whether workers have a lower priority than this process.
    """

    def __init__(
        self,
        verifier: Verifier,
        spec: tuple[str, dict[str, str]],
        workers: int,
        deadline: float | None = None,
        *,
        yielding: bool = False,
    ) -> None:
        self._verifier = verifier
        self._start = partial(_started, spec, workers, deadline, yielding)
        self._readers = FirstStagePool(verifier, spec, workers - 1)
        self._reading = threading.Lock()
        self._inbox: queue.SimpleQueue[_WaitingItem | None] = queue.SimpleQueue()
        self._answers: dict[int, Future[Verdict]] = {}
        self._known = RecentVerdicts()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.trouble: str | None = None
        self.state: State = "ready" if verifier.isolation == "inline" else "idle"

    @property
    def isolation(self) -> Isolation:
        return self._verifier.isolation

    def judge_first_stage(self, item: VerifierInput) -> FirstAnswer:
        """Return the verdict if the first stage reaches one, else the deferred item for `judge_in_worker`."""
        if not is_encodable(item):
            return UNSENDABLE
        if self.isolation == "process":
            return self.with_known_result(LeftToWorker(_item_key(item), None))
        return self.with_known_result(first_stage(self._verifier, item))

    def with_known_result(self, answer: FirstAnswer) -> FirstAnswer:
        """Complete an answer of `first_stage`, computed in any process, if the result of its comparison is known."""
        if isinstance(answer, Verdict) or answer.key is None or (found := self._known.get(answer.key)) is None:
            return answer
        return merge_stage_results(answer.known, found)

    def later(self, item: VerifierInput, deferred: LeftToWorker) -> Future[Verdict]:
        """Have a worker judge an item that the first stage deferred; the future can't be cancelled.

        Raises:
            ExecutorClosed: The executor is closed.
        """
        answer: Future[Verdict] = Future()
        answer.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise ExecutorClosed
            self._start_thread()
            self._inbox.put(_WaitingItem(structs.replace(item, item=next(self._numbers)), deferred, answer))
        return answer

    def judge(self, items: Sequence[VerifierInput], deadline: float | None = None) -> list[Verdict]:
        """Return the verdicts on several items, in their order.

        Args:
            deadline: Seconds of wall time for all items; items without a verdict by then get the abstention "timeout".

        Raises:
            VerifierError: The workers can't start.
            ExecutorClosed: The executor was closed while items waited.
        """
        ends = None if deadline is None else time.monotonic() + deadline
        answers = self._first_stage_answers(items)
        waiting = [
            self.later(item, answer) if isinstance(answer, LeftToWorker) else answer
            for item, answer in zip(items, answers, strict=True)
        ]
        return [wait_for_verdict(one, ends) if isinstance(one, Future) else one for one in waiting]

    def _first_stage_answers(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        if self.isolation != "staged" or not self._reading.acquire(blocking=False):
            return [self.judge_first_stage(item) for item in items]
        try:
            numbered = [structs.replace(item, item=row) for row, item in enumerate(items)]
            said = {item.item: answer for item, answer in self._readers.answers(filter(is_encodable, numbered))}
        finally:
            self._reading.release()
        return [self.with_known_result(said[row]) if row in said else UNSENDABLE for row in range(len(items))]

    def warm(self) -> None:
        """Start the workers now; `state` reports when they are ready."""
        if self.isolation != "inline":
            with self._lock:
                self._start_thread()

    def close(self) -> None:
        """End the workers at once; waiting callers get `ExecutorClosed`."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._readers.close()
        if thread is not None:
            self._inbox.put(None)
            thread.join()

    # -- The thread that manages the workers.

    def _start_thread(self) -> None:
        if self._thread is None:
            self.state = "starting"
            self._thread = threading.Thread(target=self._run_thread, name="workbench-executor", daemon=True)
            self._thread.start()

    def _run_thread(self) -> None:
        while not self._closed:
            try:
                with SecondStage(self._start, self._known.get, self._deliver_verdicts) as second:
                    self._serve_callers(second)
            except Exception as error:
                # On any error: no caller may wait for ever.
                self.trouble = f"{self._verifier.name!r} can't judge: {error}"
                self.state = "failed"
                self._fail_waiting_callers(VerifierError(self.trouble))
                if not self._closed:
                    with contextlib.suppress(queue.Empty):
                        self._inbox.put(self._inbox.get(timeout=_AGAIN_S))
        self._fail_waiting_callers(ExecutorClosed())

    def _serve_callers(self, second: SecondStage) -> None:
        while not self._closed:
            if second.pool.free:
                self.state = "ready"
            if self.state == "ready" and not second.count:
                self._queue_item(second, self._inbox.get())
            with contextlib.suppress(queue.Empty):
                while True:
                    self._queue_item(second, self._inbox.get_nowait())
            second.process_results(_TURN_S if second.count or self.state != "ready" else 0)

    def _queue_item(self, second: SecondStage, ask: _WaitingItem | None) -> None:
        if ask is not None:
            self._answers[ask.item.item] = ask.answer
            if (known := second.take(ask.item, ask.deferred)) is not None:
                self._answers.pop(ask.item.item).set_result(known)

    def _deliver_verdicts(self, settled: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict]) -> None:
        self._known.put(found)
        for item, verdict in settled:
            self._answers.pop(item).set_result(verdict)

    def _fail_waiting_callers(self, error: Exception) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                if (ask := self._inbox.get_nowait()) is not None:
                    ask.answer.set_exception(error)
        for answer in self._answers.values():
            answer.set_exception(error)
        self._answers.clear()


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

    def put(self, found: Mapping[bytes, Verdict]) -> None:
        with self._lock:
            for key, verdict in found.items():
                texts = (verdict.detail, verdict.reference_final, verdict.candidate_final)
                if sum(len(text or "") for text in texts) <= _LONGEST_REMEMBERED:
                    self._found[key] = verdict
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)


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


def _started(spec: tuple[str, dict[str, str]], workers: int, deadline: float | None, yielding: bool) -> WorkerPool:
    pool = WorkerPool(spec, workers, deadline)
    if yielding:
        # The first process is the one from which the workers are forked.
        os.setpriority(os.PRIO_PROCESS, pool.pids[0], NICENESS)
    return pool
