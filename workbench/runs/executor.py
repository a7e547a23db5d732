"""A verifier on call: judges single items for callers in any thread, as a run judges them.

The first stage works where it is called. What it leaves, and all items of verifiers that may hang or crash, goes to
worker processes, which one thread looks after: nothing that happens to a caller (a signal, an exception, a timeout of
its own) can lose or cross another one's answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import os
import queue
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs

from workbench.core.database.connection import Database
from workbench.core.database.hashes import secret
from workbench.core.errors import RunError, StoreError, VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.caller import Caller
from workbench.llm.records import Halt
from workbench.runs.journal import NO_ITEM, RunJournal, add_item
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.liveness import clock
from workbench.runs.local import Deferred, SecondStage, filled_in, first_stage
from workbench.runs.serving import GRACE_S, caller_of, reader_of, verdict_of
from workbench.verifiers.base import Isolation, ServedVerifier, Verifier
from workbench.verifiers.judging import failure
from workbench.verifiers.pool import WorkerPool

State = Literal["idle", "starting", "ready", "failed"]
"""The workers: not needed yet, loading, able to take items, unable to start."""
_TURN_S = 0.005
_AGAIN_S = 30.0
_REMEMBERED = 10_000
_LONGEST_REMEMBERED = 1_000
NICENESS = 10
"""How far processes stand back that leave the processor to whoever answers."""


class ExecutorClosed(Exception):
    """It was closed before the item was judged."""


class _WaitingItem(Struct, frozen=True):
    """An item that somebody waits for."""

    item: VerifierInput
    deferred: Deferred
    answer: Future[Verdict]


class LocalExecutor:
    """One verifier with its worker processes.

    Args:
        verifier: One that works on this machine.
        spec: Its kind and options, for the workers.
        workers: Worker processes.
        deadline: Seconds an item may take in a worker; by default the verifier's allowance, as in a run.
        yielding: Workers leave the processor to this process where both want it.
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
        self._inbox: queue.SimpleQueue[_WaitingItem | None] = queue.SimpleQueue()
        self._answers: dict[int, Future[Verdict]] = {}
        self._known = _RecentVerdicts()
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self.trouble: str | None = None
        self.state: State = "ready" if verifier.isolation == "inline" else "idle"

    @property
    def isolation(self) -> Isolation:
        """Where the verifier works."""
        return self._verifier.isolation

    def first(self, item: VerifierInput) -> Verdict | Deferred:
        """The verdict if it can be had at once, else what `later` needs."""
        if not _is_text(item):
            return failure("a text has characters that UTF-8 lacks")
        if self.isolation == "process":
            return self.recalled(Deferred(_key(item), None))
        return self.recalled(first_stage(self._verifier, item))

    def recalled(self, answer: Verdict | Deferred) -> Verdict | Deferred:
        """What `first_stage` answered, here or in another process, filled in where its comparison was made before."""
        if isinstance(answer, Verdict) or answer.key is None or (found := self._known.get(answer.key)) is None:
            return answer
        return filled_in(answer.known, found)

    def later(self, item: VerifierInput, deferred: Deferred) -> Future[Verdict]:
        """Have a worker judge an item that `first` left; the future can't be cancelled.

        Raises:
            ExecutorClosed: It is closed.
        """
        answer: Future[Verdict] = Future()
        answer.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise ExecutorClosed
            self._begin()
            self._inbox.put(_WaitingItem(structs.replace(item, item=next(self._numbers)), deferred, answer))
        return answer

    def judge(self, items: Sequence[VerifierInput]) -> list[Verdict]:
        """The verdicts on several items, in their order; waits for all of them.

        Raises:
            VerifierError: The workers can't start.
            ExecutorClosed: It was closed meanwhile.
        """
        answers = [self.first(item) for item in items]
        waiting = [
            self.later(item, answer) if isinstance(answer, Deferred) else answer
            for item, answer in zip(items, answers, strict=True)
        ]
        return [one.result() if isinstance(one, Future) else one for one in waiting]

    def warm(self) -> None:
        """Start the workers now; `state` tells when they are ready."""
        if self.isolation != "inline":
            with self._lock:
                self._begin()

    def close(self) -> None:
        """End the workers at once; what waits for them fails with `ExecutorClosed`."""
        with self._lock:
            self._closed = True
            thread = self._thread
        if thread is not None:
            self._inbox.put(None)
            thread.join()

    # -- the thread that looks after the workers -----------------------------------------------------

    def _begin(self) -> None:
        if self._thread is None:
            self.state = "starting"
            self._thread = threading.Thread(target=self._work, name="workbench-executor", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        """Look after one pool of workers after the other, until the executor is closed."""
        while not self._closed:
            try:
                with SecondStage(self._start, self._known.get, self._commit) as second:
                    self._attend(second)
            except Exception as error:
                # Whatever it is, nobody may wait for ever.
                self.trouble = f"{self._verifier.name!r} can't judge: {error}"
                self.state = "failed"
                self._fail(VerifierError(self.trouble))
                self._wait_for_an_item()
        self._fail(ExecutorClosed())

    def _attend(self, second: SecondStage) -> None:
        while not self._closed:
            if second.pool.free:
                self.state = "ready"
            if self.state == "ready" and not second.count:
                self._take(second, self._inbox.get())
            self._take_all(second)
            second.turn(_TURN_S if second.count or self.state != "ready" else 0)

    def _take_all(self, second: SecondStage) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._take(second, self._inbox.get_nowait())

    def _take(self, second: SecondStage, ask: _WaitingItem | None) -> None:
        if ask is not None:
            self._answers[ask.item.item] = ask.answer
            if (known := second.take(ask.item, ask.deferred)) is not None:
                self._answers.pop(ask.item.item).set_result(known)

    def _commit(self, settled: Sequence[tuple[int, Verdict]], found: Mapping[bytes, Verdict]) -> None:
        self._known.put(found)
        for item, verdict in settled:
            self._answers.pop(item).set_result(verdict)

    def _wait_for_an_item(self) -> None:
        """Workers that can't start are tried again when somebody wants them, or after a while."""
        if not self._closed:
            with contextlib.suppress(queue.Empty):
                self._inbox.put(self._inbox.get(timeout=_AGAIN_S))

    def _fail(self, error: Exception) -> None:
        """Tell everyone who waits that there will be no answer."""
        with contextlib.suppress(queue.Empty):
            while True:
                if (ask := self._inbox.get_nowait()) is not None:
                    ask.answer.set_exception(error)
        for answer in self._answers.values():
            answer.set_exception(error)
        self._answers.clear()


class _RecentVerdicts:
    """What workers found lately, by key; a bounded memory that any thread may use."""

    def __init__(self) -> None:
        self._found: OrderedDict[bytes, Verdict] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: bytes) -> Verdict | None:
        """What was found for a key; it has cost no time now."""
        with self._lock:
            if (found := self._found.get(key)) is None:
                return None
            self._found.move_to_end(key)
            return structs.replace(found, ms=0.0)

    def put(self, found: Mapping[bytes, Verdict]) -> None:
        """Remember what is short."""
        with self._lock:
            for key, verdict in found.items():
                texts = (verdict.detail, verdict.reference_final, verdict.candidate_final)
                if sum(len(text or "") for text in texts) <= _LONGEST_REMEMBERED:
                    self._found[key] = verdict
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)


def _is_text(item: VerifierInput) -> bool:
    """Whether workers, files and the database could hold it: Python's strings may have lone surrogates."""
    try:
        msgspec.msgpack.encode(item)
    except UnicodeEncodeError:
        return False
    return True


def _key(item: VerifierInput) -> bytes:
    """Where there is no first stage: the whole item."""
    texts = [item.question, item.reference, item.completion, item.subtype or "", item.example or ""]
    return hashlib.sha256(msgspec.msgpack.encode(texts)).digest()


def _started(spec: tuple[str, dict[str, str]], workers: int, deadline: float | None, yielding: bool) -> WorkerPool:
    pool = WorkerPool(spec, workers, deadline)
    if yielding:
        # The first process is the one the workers are forked from.
        os.setpriority(os.PRIO_PROCESS, pool.pids[0], NICENESS)
    return pool


# -- Verdicts of model servers on single items, for callers in an event loop that wait for them.


_GO_ON: Final = "What was answered is stored; start the server again to go on."
_ASK_AGAIN: Final = "Ask again: what was accepted goes on as soon as it can, and no call is made twice."
_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 2.0
"""Whoever asks is told after so long that nothing can be stored."""
_TOO_LONG: Final = Verdict(outcome=Outcome.ABSTAIN, reason="timeout")


class VerifierSession:
    """A verifier at work; made by `answering`.

    Attributes:
        trouble: Why nothing is judged any more; None while it is.
    """

    def __init__(
        self,
        verifier: ServedVerifier,
        secret: bytes,
        lease: Lease,
        journal: RunJournal,
        caller: Caller,
        timeout: float | None,
    ) -> None:
        self._verifier = verifier
        self._lease = lease
        self._secret = secret
        self._journal = journal
        self._caller = caller
        self._timeout = timeout
        self._places = asyncio.Semaphore(verifier.limits().concurrency)
        self._tasks: set[asyncio.Task[Verdict]] = set()
        self._halted = asyncio.get_running_loop().create_future()
        self.trouble: RunError | None = None

    @property
    def waits_for(self) -> RunError | None:
        """What nothing can be stored for now, so that nobody is answered; None where it can, or never will be."""
        trouble = self._lease.trouble
        if self.trouble is not None or trouble is None or trouble.lasted < _PATIENCE_S:
            return None
        return RunError(f"Nothing can be stored since {clock(trouble.since)}: {trouble.error}", _ASK_AGAIN)

    async def verdict(self, item: VerifierInput) -> Verdict:
        """The verdict on an item, once the replies it rests on are stored.

        What takes too long is the abstention "timeout"; its calls go on, and whoever asks again has their replies.

        Raises:
            RunError: No call can succeed now, or nothing can be stored for the time being; see `waits_for`.
        """
        await self._take_place()
        task = asyncio.create_task(self._judge(structs.replace(item, item=NO_ITEM)))
        self._tasks.add(task)
        task.add_done_callback(self._leave)
        awake = self._caller.awake
        until = None if self._timeout is None else awake.now() + self._timeout
        while True:
            left = None if until is None else until - awake.now()
            await awake.wait([task, self._halted], left, asyncio.FIRST_COMPLETED)
            if task.done():
                break
            self._require_storing()
            if until is not None and awake.now() >= until:
                return _TOO_LONG
        if task.cancelled():
            raise self._end(RunError("The calls to model servers have ended."))
        return task.result()

    async def _take_place(self) -> None:
        taking = asyncio.ensure_future(self._places.acquire())
        try:
            while not taking.done():
                await asyncio.wait([taking, self._halted], return_when=asyncio.FIRST_COMPLETED)
                self._require_storing()
        except BaseException:
            if taking.done() and not taking.cancelled():
                self._places.release()
            taking.cancel()
            raise

    def _require_storing(self) -> None:
        """Make sure that something may come of waiting.

        Raises:
            RunError: Nothing can be stored for the time being.
        """
        waits_for = self.waits_for
        if waits_for is not None:
            raise waits_for
        if self._halted.done():
            self._halted = asyncio.get_running_loop().create_future()

    async def attend(self) -> None:
        """Show life, and find out when nothing can be stored any more."""
        try:
            while True:
                self._journal.note(self._caller)
                self._journal.beat()
                if self.waits_for is not None and not self._halted.done():
                    self._halted.set_result(None)
                await asyncio.sleep(_LOOK_S)
        except (LeaseLost, StoreError) as error:
            self._end(_explained(error))

    async def end(self, *, at_once: bool) -> None:
        """Judge nothing more.

        Args:
            at_once: Don't even wait for the replies to calls in flight, which are paid for.
        """
        self._journal.begin_no_more()
        if self._tasks and not at_once:
            await self._caller.awake.wait(self._tasks, GRACE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _judge(self, item: VerifierInput) -> Verdict:
        if self.trouble is not None:
            raise self.trouble
        try:
            judged, made = await verdict_of(self._verifier, item, self._secret, self._caller, self._journal)
            add_item(self._journal.usage, made)
            await self._journal.flush()
        except (Halt, LeaseLost, StoreError) as error:
            if isinstance(error, StoreError) and not self._journal.broken and not self._lease.gives_up(error):
                # It may be put right.
                raise RunError(str(error), _ASK_AGAIN) from error
            raise self._end(_explained(error)) from error
        return judged.verdict

    def _end(self, error: RunError) -> RunError:
        """Make no more calls; returns what was wrong first."""
        self._journal.begin_no_more()
        self.trouble = self.trouble or error
        return self.trouble

    def _leave(self, task: asyncio.Task[Verdict]) -> None:
        self._places.release()
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever has given up need not hear it.
            task.exception()


def _explained(error: Halt | LeaseLost | StoreError) -> RunError:
    taken_over = isinstance(error, LeaseLost)
    return RunError("Another process has taken over the database's runs." if taken_over else str(error), _GO_ON)


@asynccontextmanager
async def answering(
    database: Database, lease: Lease, run: int, verifier: ServedVerifier, timeout: float | None
) -> AsyncIterator[VerifierSession]:
    """Have a verifier judge in the running event loop.

    Args:
        run: What calls are counted in; the verifier's limits hold over all its starts.
        timeout: Seconds an item may take, its wait for a place aside; None for as long as its calls take.

    Raises:
        UsageError: A server's address or a price is wrong.
    """
    journal = RunJournal(database, lease, run, reader=reader_of(verifier))
    lease.attended = True
    try:
        async with caller_of(database, verifier, journal) as caller:
            answers = VerifierSession(verifier, secret(database.reader()), lease, journal, caller, timeout)
            attending = asyncio.create_task(answers.attend())
            try:
                yield answers
            finally:
                attending.cancel()
                await asyncio.gather(attending, return_exceptions=True)
                journal.note(caller)
                lease.ending = True
                if not journal.broken:
                    await journal.flush()
    finally:
        journal.close()
