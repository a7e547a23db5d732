"""Run solutions against the tests that come with them, in sandboxes, for callers in any thread."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, Final

from msgspec import structs

from workbench.core.code import BASE, PASS, Execution, Level, Where
from workbench.core.errors import UsageError, VerifierError
from workbench.core.run import ClusterUse
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executing import ProgramPool, SolutionEngine, SolutionWork, internal_error, opened_pool
from workbench.runs.executor import ExecutorClosed, QueueExecutor, wait_for_verdict
from workbench.training.frameworks import REFERENCES
from workbench.training.pay import SuiteVerdict
from workbench.verifiers.base import Judged, SandboxedVerifier
from workbench.verifiers.execution.evidence import decision_sites
from workbench.verifiers.execution.given import COLUMNS, RowProblem, problem_in, tests_columns
from workbench.verifiers.execution.levels import level_of

_SOLUTIONS_PER_PROCESSOR: Final = 4
"""Solutions assigned for each processor of a cluster's nodes: running, queued there, and in transit."""
_POLL_S: Final = 0.01
_IDLE_S: Final = 0.5
_RETRY_S: Final = 5.0


class SolutionJob(SolutionWork, eq=False, kw_only=True):
    """A solution in progress.

    Attributes:
        answer: The verdict; a `SuiteVerdict` if tests were run.
        is_abandoned: Whether no caller waits for it any more.
    """

    given: RowProblem
    answer: Future[Verdict]
    is_abandoned: bool = False

    def abandon(self) -> None:
        self.is_abandoned = True
        self.answer.cancel()

    def fail(self, error: Exception) -> None:
        if self.answer.running() or self.answer.set_running_or_notify_cancel():
            self.answer.set_exception(error)


class SolutionExecutor(QueueExecutor[SolutionJob]):
    """``execution`` with its sandboxes, here or on a cluster; one thread starts solutions and receives the results.

    The solutions of a node that dies are run on another one, and a node with a weaker sandbox is rejected, as in runs.

    Args:
        workers: Maximum solutions that run at a time on this machine; by default one per core.
        timeout: Seconds of processor time a test may take; by default the verifier's option.
        cluster: The cluster that runs solutions; it also records the work of its nodes.
        connected: Called in that thread each time the sandboxes are opened; see `runs.cluster.own_signals`.

    Attributes:
        busy: The solutions in progress.

    Raises:
        UsageError: The options request several runs of each solution, the cluster's address is invalid, or Ray is not
            installed.
        UnsafeError: This machine has no sandbox.
        RunError: This machine doesn't support the requested level.
    """

    def __init__(
        self,
        verifier: SandboxedVerifier,
        workers: int | None = None,
        timeout: float | None = None,
        cluster: ClusterUse | None = None,
        connected: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__("workbench-tests")
        if cluster is not None:
            from workbench.runs.cluster import require_cluster

            require_cluster(cluster.address, workers)
        if len(verifier.seeds) > 1:
            raise UsageError(
                "A reward has no option hash_seeds.", "It runs each solution only once; leave hash_seeds out."
            )
        self.level: Level = level_of(verifier.wanted, allow_unsafe=False, scratch=verifier.scratch > 0)
        self._verifier = verifier
        self._workers, self._timeout, self._cluster, self._connected = workers, timeout, cluster, connected
        self.busy: dict[SolutionJob, None] = {}

    @property
    def workers(self) -> int:
        if self._cluster is None:
            return self._workers or os.cpu_count() or 1
        return _SOLUTIONS_PER_PROCESSOR * max(1, sum(node.workers for node in self._cluster.nodes if not node.refused))

    def judge(self, items: Sequence[VerifierInput], deadline: float | None = None) -> list[Verdict]:
        """Return the verdicts on several solutions, in order.

        Args:
            items: The solutions; their references are tests, see `tested`.
            deadline: Seconds of wall time for all solutions; those without a verdict by then get the abstention
                "timeout".

        Raises:
            UsageError: Tests can't be read.
            VerifierError: The sandboxes can't start.
            ExecutorClosed: The executor was closed while solutions waited.
        """
        ends = None if deadline is None else time.monotonic() + deadline
        jobs = self.jobs(items)
        try:
            for job in jobs:
                self.begin(job)
            return [wait_for_verdict(job.answer, ends) for job in jobs]
        finally:
            # After a deadline, or if the waiting caller was interrupted.
            for job in jobs:
                job.abandon()

    def jobs(self, items: Sequence[VerifierInput]) -> list[SolutionJob]:
        """Return the solutions with their parsed tests.

        Raises:
            UsageError: Tests can't be read.
        """
        found = []
        for row, item in enumerate(items):
            try:
                given = problem_in(item.reference)
            except UsageError as error:
                raise UsageError(f"Completion {row + 1}: {error.message}", error.hint) from error
            found.append(SolutionJob(item, None, given.problem, self._timeout, given=given, answer=Future()))
        return found

    def begin(self, job: SolutionJob) -> None:
        """Queue a solution.

        Raises:
            ExecutorClosed: The executor is closed.
        """
        self._put(job)

    def _run_thread(self) -> None:
        settings = self._verifier.settings(self._verifier.seeds[0])
        of_cluster = {} if self._cluster is None else {"look_s": _POLL_S}
        while not self._closed:
            try:
                with opened_pool(self.level, self._workers, settings, self._cluster, **of_cluster) as pool:
                    self._connected()
                    while not pool.is_ready:
                        self._drop_gone(pool)
                        pool.attend()
                    self.state, self.trouble = "ready", None
                    self._run_queued_jobs(pool)
            except ExecutorClosed:
                break
            except Exception as error:
                self.trouble = f"{self._verifier.name!r} can't run solutions: {error}"
                self.state = "failed"
                self._fail_jobs(VerifierError(self.trouble), time.monotonic() + _RETRY_S)
        self._fail_jobs(ExecutorClosed())

    def _fail_jobs(self, error: Exception, until: float = 0.0) -> None:
        """Fail the waiting solutions, and those that arrive before a time."""
        for begun in self.busy:
            begun.fail(error)
        self.busy.clear()
        with suppress(queue.Empty):
            while not (self._closed and until):
                if (job := self._jobs.get(timeout=max(0.0, until - time.monotonic()))) is not None:
                    job.fail(error)

    def _run_queued_jobs(self, pool: ProgramPool) -> None:
        engine = SolutionEngine(self._verifier, self.level, [pool], _finish)
        self.busy = engine.busy
        while True:
            try:
                first = self._jobs.get(timeout=_IDLE_S)
            except queue.Empty:
                # Nodes also join and leave while there is no work.
                pool.attend()
                continue
            engine.run(_Arrivals(self._jobs, first), partial(self._drop_gone, pool))

    def _drop_gone(self, pool: ProgramPool) -> None:
        if self._closed:
            raise ExecutorClosed
        if gone := {job for job in self.busy if job.is_abandoned}:
            pool.drop(lambda key: key[0] in gone)
            for job in gone:
                del self.busy[job]
                job.fail(ExecutorClosed())


class _Arrivals(Iterator[SolutionJob]):
    """Iterates over the queued solutions that a caller waits for; if none is queued, it can be read again later."""

    def __init__(self, jobs: queue.SimpleQueue[SolutionJob | None], first: SolutionJob | None) -> None:
        self._jobs = jobs
        self._next = [first]

    def __next__(self) -> SolutionJob:
        while True:
            try:
                job = self._next.pop() if self._next else self._jobs.get_nowait()
            except queue.Empty:
                raise StopIteration from None
            if job is None:
                raise ExecutorClosed
            if job.answer.set_running_or_notify_cancel():
                return job


def _finish(job: SolutionJob, judged: Judged) -> None:
    verdict, (runs,) = judged.verdict, job.runs
    try:
        verdict = suite_verdict(verdict, job.given, runs) if runs else verdict
    except Exception as error:
        verdict = internal_error(error)
    job.answer.set_result(verdict)


# -- Tests as a reward: a data set's columns with tests in place of references, and the test reward.


def with_tests(columns: Mapping[str, Any], wanted: str | None, length: int) -> dict[str, Any]:
    """Return a data set's columns with tests in place of references; see `tests_columns` for arguments and errors."""
    tests = tests_columns(columns, wanted, length)
    known = {name: value for name, value in columns.items() if name not in (*REFERENCES, *COLUMNS)}
    return {**known, wanted or REFERENCES[1]: tests}


_OF_TIME: Final = frozenset("tn")
_INSIDE: Final[frozenset[Where]] = frozenset({"inside", "program"})
_LEAST: Final = 0.01


def suite_verdict(verdict: Verdict, given: RowProblem, runs: Mapping[str, Execution]) -> SuiteVerdict:
    ran = {suite: one for suite, one in runs.items() if not one.harness_killed}
    every = [
        (test, letter, _weight(given, suite, place))
        for suite, one in ran.items()
        for place, (test, letter) in enumerate(zip(given.problem.suites[suite], one.outcomes, strict=True))
        if letter != "b"
    ]
    forgeable = sum(one.forgeable for one in ran.values())
    missed = {letter for _, letter, _ in every if letter != PASS}
    passes = [(test, weight) for test, letter, weight in every if letter == PASS]
    total = sum(weight for _, _, weight in every)
    trusted = None
    if forgeable:
        where = decision_sites(given.problem, [test for test, _ in passes])
        # A non-plain value moves its test into the sandbox, and the message doesn't name the test: assume the hardest
        # one.
        sure = sorted(weight for test, weight in passes if where[test] not in _INSIDE)[: len(passes) - forgeable]
        trusted = len(sure) / len(every), sum(sure) / total
    return SuiteVerdict(
        **structs.asdict(verdict),
        passed=len(passes),
        total=len(every),
        forgeable=forgeable,
        late=bool(missed) and missed <= _OF_TIME,
        weighted=sum(weight for _, weight in passes) / total if total else None,
        trusted=trusted,
    )


def _weight(given: RowProblem, suite: str, place: int) -> float:
    if given.rates is None or suite != BASE:
        return 1.0
    return max(1 - given.rates[place], _LEAST)
