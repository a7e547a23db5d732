"""Judge for many concurrent clients in one event loop: quick verdicts never wait for slow ones.

Short texts are judged in the event loop, in well under a millisecond; long ones in separate processes; items that need
a worker wait in a bounded queue. Nothing is stored, so a restarted server gives the same answers.
"""

from __future__ import annotations

import asyncio
import os
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from typing import Final, Generic, TypeVar, cast

from workbench.core.errors import UsageError, VerifierError
from workbench.core.project import Project, opened_project
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.configuring import bound_run
from workbench.runs.executor import LONG_ITEM_CHARACTERS, ExecutorClosed, FirstAnswer, LocalExecutor
from workbench.runs.generation import GO_ON, Identity, require_generation_name
from workbench.runs.lease import claim_runner
from workbench.runs.serving import VerifierSession, answering
from workbench.runs.store import runs as stored_runs
from workbench.training.choosing import Busy, RewardVerifier, WaitingItems, gather_all
from workbench.training.fair import FairLine, StageTimes
from workbench.training.records import Readiness
from workbench.training.testing import SolutionExecutor, SolutionJob
from workbench.verifiers.base import Pending, SandboxedVerifier, ServedVerifier
from workbench.verifiers.stacks.stack import RULE

# -- Verifiers that call model servers, for many waiting clients in one event loop.


def stage_of(verdict: Verdict) -> str | None:
    rule = verdict.rule or ""
    return rule.removeprefix(RULE) if rule.startswith(RULE) else None


PREFIX: Final = "rewards/"
"""The prefix of the names of the runs that store calls for rewards; the verifier's name follows."""


class AsyncJudge(ABC):
    """A verifier for callers in an event loop.

    Args:
        line: The queue of waiting items.
    """

    def __init__(self, line: WaitingItems) -> None:
        self._line = line
        self.stages = StageTimes()

    @property
    def waiting(self) -> int:
        return self._line.count

    @property
    @abstractmethod
    def state(self) -> Readiness: ...

    @property
    @abstractmethod
    def trouble(self) -> str | None:
        """Return why it can't judge now."""

    async def verdicts(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
        """Return the verdicts on items, in order, and whether all of them were immediate.

        Raises:
            UsageError: There are more items than fit in the empty queue, or tests can't be read.
            Busy: The queue has no room for the items; none is queued.
            VerifierError: The workers or sandboxes can't start, or have ended.
            RunError: No call can succeed now, or calls can't be stored.
        """
        self._line.require_fit(items)
        return await self._judge(items)

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def _judge(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]: ...


class AskingJudge(AsyncJudge):
    """A verifier that calls model servers; created by `asking`."""

    def __init__(self, answers: VerifierSession, line: WaitingItems) -> None:
        super().__init__(line)
        self._answers = answers

    @property
    def state(self) -> Readiness:
        if self._answers.trouble is not None:
            return "failed"
        return "ready" if self._answers.waits_for is None else "waiting"

    @property
    def trouble(self) -> str | None:
        trouble = self._answers.trouble or self._answers.waits_for
        return None if trouble is None else str(trouble)

    async def _judge(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
        with self._line.room(items), self.stages.of("work", len(items)):
            return await gather_all([self._answers.verdict(item) for item in items]), False

    async def close(self) -> None:
        await self._answers.end(at_once=self._line.count > 0 or self._answers.waits_for is not None)


@asynccontextmanager
async def asking(
    chosen: RewardVerifier, line: WaitingItems, timeout: float | None, workers: int | None = None
) -> AsyncIterator[AskingJudge]:
    """Run a verifier during the context; this process locks the database of its calls.

    Args:
        timeout: See `answering`.
        workers: See `answering`.

    Raises:
        UsageError: The calls stored for rewards under this name were made with another configuration.
        RunError: Another process has locked the database.
        StoreError: The database can't be opened.
    """
    journal = chosen.journal
    assert journal is not None
    verifier = cast("ServedVerifier", chosen.verifier)
    with ExitStack() as exits:
        of_settings = exits.enter_context(opened_project(chosen.database)) if chosen.database is not None else None
        same = of_settings is not None and chosen.database == journal
        project = of_settings if of_settings and same else exits.enter_context(opened_project(journal, create=True))
        lease = exits.enter_context(claim_runner(project.database))
        run = _start_run(project, chosen, verifier)
        settings = None if of_settings is None else of_settings.database
        async with answering(
            project.database, lease, run, verifier, timeout, workers=workers, settings=settings
        ) as answers:
            yield AskingJudge(answers, line)
        with project.database.write() as connection:
            if answers.trouble is None:
                stored_runs.end_run(connection, run, "complete")
            else:
                stored_runs.end_run(connection, run, "paused", str(answers.trouble))


def _start_run(project: Project, chosen: RewardVerifier, verifier: ServedVerifier) -> int:
    name = PREFIX + chosen.name
    require_generation_name(name)
    identity = Identity({**verifier.config(), "verifier": chosen.kind}, verifier.version)
    with project.database.write() as connection:
        try:
            run = bound_run(connection, name, identity, {})
        except UsageError as error:
            raise UsageError(error.message, "Name this one in workbench.toml: [verifiers.NAME]") from error
        stored_runs.end_run(connection, run, "paused", GO_ON)
    return run


_QUEUED_PER_WORKER = 8
"""Maximum items for each worker that are running or queued for it; further items wait for their client's turn."""
_TURN_S = 0.002
_PIECE_ITEMS = 16
"""Number of items of a large request that a process or the loop judges at a time."""
_MAX_LOOP_ITEMS = 128
"""Maximum items of a request that the event loop judges by itself, without the help of other processes."""


Executor = TypeVar("Executor", LocalExecutor, SolutionExecutor)


class _PooledJudge(AsyncJudge, Generic[Executor]):
    """A verifier with processes on this machine or on a cluster; clients take turns.

    Args:
        places: Maximum items that are running or queued for a process.
    """

    def __init__(self, executor: Executor, line: WaitingItems, places: int) -> None:
        super().__init__(line)
        self._executor: Executor = executor
        self._turns = FairLine(places)
        executor.warm()

    @property
    def state(self) -> Readiness:
        return "starting" if self._executor.state == "idle" else self._executor.state

    @property
    def trouble(self) -> str | None:
        return self._executor.trouble if self._executor.state == "failed" else None

    async def _in_turn(self, begin: Callable[[], Future[Verdict]]) -> Verdict:
        async with AsyncExitStack() as exits:
            with self.stages.of("line"):
                await exits.enter_async_context(self._turns.place())
            with self.stages.of("work"):
                return await asyncio.wrap_future(begin())

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.close)


class AsyncVerifier(_PooledJudge[LocalExecutor]):
    """A local verifier: short texts are judged in the event loop, others in processes.

    Args:
        line: The queue of items that wait for a worker, or for a process for long texts.
        workers: Worker processes; by default one per core, except one core for the loop.
        timeout: Seconds of processor time an item may take in a worker; by default the verifier's own limit, as in a
            run.
    """

    def __init__(
        self, chosen: RewardVerifier, line: WaitingItems, workers: int | None = None, timeout: float | None = None
    ) -> None:
        spare = max(1, (os.cpu_count() or 1) - 1)
        executor = chosen.executor(workers or spare, timeout, spare=spare)
        super().__init__(executor, line, _QUEUED_PER_WORKER * (workers or spare))

    async def _judge(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
        with self.stages.of("first", len(items)):
            answers = await self._first_stage_answers(items)
        left = {row: answer for row, answer in enumerate(answers) if isinstance(answer, Pending)}
        if left:
            with self._line.room([items[row] for row in left]):
                found = dict(
                    zip(left, await self._worker_verdicts([(items[row], left[row]) for row in left]), strict=True)
                )
        verdicts = [found[row] if isinstance(answer, Pending) else answer for row, answer in enumerate(answers)]
        return verdicts, not left and not any(map(self._is_long, items))

    async def _first_stage_answers(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        long = [item for item in items if self._is_long(item)]
        short = [item for item in items if not self._is_long(item)]
        with self._line.room(long):
            reading = [asyncio.wrap_future(self._executor.elsewhere([item])) for item in long]
            known = iter(await self._short_item_answers(short))
            read = iter([answer for (answer,) in await gather_all(reading)] if reading else ())
        return [self._executor.with_known_result(next(read)) if self._is_long(item) else next(known) for item in items]

    async def _short_item_answers(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        if len(items) <= _MAX_LOOP_ITEMS or self._executor.isolation != "staged":
            return await self._answers_in_loop(items)
        left = deque(enumerate(list(items[at : at + _PIECE_ITEMS]) for at in range(0, len(items), _PIECE_ITEMS)))
        first_answers: dict[int, list[FirstAnswer]] = {}

        async def elsewhere() -> None:
            while left:
                number, piece = left.popleft()
                try:
                    found = await asyncio.wrap_future(self._executor.elsewhere(piece))
                    first_answers[number] = [self._executor.with_known_result(answer) for answer in found]
                except VerifierError:
                    first_answers[number] = await self._answers_in_loop(piece)

        # A worker gets its next piece before it has finished one: it never waits for the loop.
        helpers = 2 * self._executor.spare if self.state == "ready" else 0
        helping = [asyncio.ensure_future(elsewhere()) for _ in range(min(helpers, len(left) - 1))]
        try:
            while left:
                # A helping worker takes the first piece before the loop takes one.
                await asyncio.sleep(0)
                if left:
                    number, piece = left.pop()
                    first_answers[number] = await self._answers_in_loop(piece)
        finally:
            # If this was cancelled, no caller waits any more: the helping workers take no further piece.
            left.clear()
        await gather_all(helping)
        return [answer for _, answers in sorted(first_answers.items()) for answer in answers]

    async def _answers_in_loop(self, items: Sequence[VerifierInput]) -> list[FirstAnswer]:
        answers = []
        turned = time.perf_counter()
        for item in items:
            answers.append(self._executor.judge_first_stage(item))
            if time.perf_counter() - turned > _TURN_S and len(items) > 1:
                await asyncio.sleep(0)
                turned = time.perf_counter()
        return answers

    async def _worker_verdicts(self, asked: Sequence[tuple[VerifierInput, Pending]]) -> list[Verdict]:
        try:
            return await gather_all([self._in_turn(partial(self._executor.later, item, left)) for item, left in asked])
        except ExecutorClosed as error:
            raise Busy from error

    def _is_long(self, item: VerifierInput) -> bool:
        return self._executor.isolation != "process" and item.characters > LONG_ITEM_CHARACTERS


class AsyncTester(_PooledJudge[SolutionExecutor]):
    """Runs solutions against the tests that come with them; drops those of disconnected clients.

    Args:
        line: The queue of solutions.
        workers: Maximum solutions that run at a time; by default one per core.
        timeout: Seconds of processor time a test may take; by default as in a run.
    """

    def __init__(
        self, chosen: RewardVerifier, line: WaitingItems, workers: int | None = None, timeout: float | None = None
    ) -> None:
        executor = _solution_executor(chosen, workers, timeout)
        # One more than can run, so that no sandbox waits for the loop.
        super().__init__(executor, line, executor.workers + 1)

    async def _judge(self, items: Sequence[VerifierInput]) -> tuple[list[Verdict], bool]:
        jobs: list[SolutionJob] = []
        try:
            with self._line.room(items):
                with self.stages.of("first", len(items)):
                    # Long tests take seconds to parse, which must not block the event loop.
                    jobs = await asyncio.to_thread(self._executor.jobs, items)
                return await gather_all([self._in_turn(partial(self._begin, job)) for job in jobs]), False
        except ExecutorClosed as error:
            raise Busy from error
        finally:
            for job in jobs:
                job.abandon()

    def _begin(self, job: SolutionJob) -> Future[Verdict]:
        # The nodes of a cluster are known once it has answered, and more may join.
        self._turns.widen(self._executor.workers + 1)
        self._executor.begin(job)
        return job.answer


def _solution_executor(chosen: RewardVerifier, workers: int | None, timeout: float | None) -> SolutionExecutor:
    verifier = cast("SandboxedVerifier", chosen.verifier)
    if chosen.cluster is None:
        return SolutionExecutor(verifier, workers, timeout)
    from workbench.runs.cluster import own_signals

    signals_back = partial(asyncio.get_running_loop().call_soon_threadsafe, own_signals)
    return SolutionExecutor(verifier, workers, timeout, chosen.cluster, signals_back)


@asynccontextmanager
async def open_judge(
    chosen: RewardVerifier, most_waiting: int | None, workers: int | None, timeout: float | None
) -> AsyncIterator[AsyncJudge]:
    """Run a verifier in the running event loop during the context.

    Args:
        most_waiting: Maximum items in the queue and in one request; None limits only their characters.
        workers: See `AsyncVerifier`.
        timeout: Seconds an item may take in a worker or on model servers; by default as in a run.

    Raises:
        UsageError: A server's address or a price is wrong, or the name's stored calls were made with another
            configuration.
        RunError: The verifier calls model servers, and another process has locked the database.
    """
    line = WaitingItems(most_waiting)
    if chosen.by_tests:
        yield AsyncTester(chosen, line, workers, timeout)
    elif chosen.journal is None:
        yield AsyncVerifier(chosen, line, workers, timeout)
    else:
        async with asking(chosen, line, timeout, workers) as judge:
            yield judge
