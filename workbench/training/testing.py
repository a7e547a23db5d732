"""Run solutions against the tests that come with them, in sandboxes, for callers in any thread."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final

from msgspec import structs

from workbench.core.code import BASE, PASS, Execution, Level, Program, Where
from workbench.core.errors import UsageError, VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.executor import ExecutorClosed, State, wait_for_verdict
from workbench.training.frameworks import REFERENCES
from workbench.training.pay import SuiteVerdict
from workbench.verifiers.base import SandboxedVerifier
from workbench.verifiers.execution.evidence import decision_sites, no_runner_verdict
from workbench.verifiers.execution.given import COLUMNS, RowProblem, problem_in, tests_columns
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.runners import require_runner


class _Abandoned(Exception):
    """No caller waits for the solution any more."""


class SolutionJob:
    """A solution in progress.

    Attributes:
        answer: The verdict; a `SuiteVerdict` if tests were run.
        is_abandoned: Whether no caller waits for it any more.
    """

    def __init__(self, item: VerifierInput, given: RowProblem) -> None:
        self.item, self.given = item, given
        self.answer: Future[Verdict] = Future()
        self.is_abandoned = False

    def abandon(self) -> None:
        self.is_abandoned = True
        self.answer.cancel()

    def raise_if_cancelled(self) -> None:
        if self.is_abandoned:
            raise _Abandoned


class SolutionExecutor:
    """``execution`` with its sandboxes: each has a thread that runs one solution after the other.

    Args:
        workers: Maximum solutions that run at a time.
        timeout: Seconds of processor time a test may take; by default the verifier's option.

    Raises:
        UsageError: The options request several runs of each solution.
        UnsafeError: This machine has no sandbox.
        RunError: This machine doesn't support the requested level.
    """

    def __init__(self, verifier: SandboxedVerifier, workers: int, timeout: float | None = None) -> None:
        if len(verifier.seeds) > 1:
            raise UsageError(
                "A reward has no option hash_seeds.", "It runs each solution only once; leave hash_seeds out."
            )
        self.level: Level = level_of(verifier.wanted, allow_unsafe=False, scratch=verifier.scratch > 0)
        self._verifier = verifier
        self._timeout = timeout
        self._jobs: queue.SimpleQueue[SolutionJob | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._workers = workers
        self._over = threading.Event()
        self._running: set[SolutionJob] = set()
        self.trouble: str | None = None
        self.state: State = "idle"

    @property
    def workers(self) -> int:
        return self._workers

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
                found.append(SolutionJob(item, problem_in(item.reference)))
            except UsageError as error:
                raise UsageError(f"Completion {row + 1}: {error.message}", error.hint) from error
        return found

    def begin(self, job: SolutionJob) -> None:
        """Queue a solution.

        Raises:
            ExecutorClosed: The executor is closed.
        """
        with self._lock:
            if self._over.is_set():
                raise ExecutorClosed
            self._start()
            self._jobs.put(job)

    def warm(self) -> None:
        """Start the sandboxes now; `state` reports when they are ready."""
        with self._lock:
            self._start()

    def close(self) -> None:
        """Stop the sandboxes; waiting callers fail with `ExecutorClosed`."""
        with self._lock:
            self._over.set()
            threads, self._threads = self._threads, []
        for running in list(self._running):
            running.abandon()
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            thread.join()
        while not self._jobs.empty():
            if (job := self._jobs.get()) is not None:
                fail(job, ExecutorClosed())

    def _start(self) -> None:
        if not self._threads:
            self.state = "starting"
            self._threads = [
                threading.Thread(target=self._work, name="workbench-tests", daemon=True) for _ in range(self._workers)
            ]
            for thread in self._threads:
                thread.start()

    def _work(self) -> None:
        while not self._over.is_set():
            try:
                with SandboxPool(self.level, 1, settings=self._verifier.settings(self._verifier.seeds[0])) as pool:
                    self.state, self.trouble = "ready", None
                    while (job := self._jobs.get()) is not None and not self._over.is_set():
                        self._run(pool, job)
                    if job is not None:
                        fail(job, ExecutorClosed())
                    return
            except Exception as error:
                self.trouble = f"{self._verifier.name!r} can't run solutions: {error}"
                self.state = "failed"
                # The next caller gets this error, and the start is tried again.
                if (job := self._jobs.get()) is None:
                    return
                fail(job, VerifierError(self.trouble))

    def _run(self, pool: SandboxPool, job: SolutionJob) -> None:
        if not job.answer.set_running_or_notify_cancel():
            return
        self._running.add(job)
        try:
            job.answer.set_result(self._verdict(pool, job))
        except _Abandoned:
            job.answer.set_exception(ExecutorClosed())
        except VerifierError as error:
            job.answer.set_exception(error)
            raise
        except Exception as error:
            job.answer.set_result(internal_error_verdict(error))
        finally:
            self._running.discard(job)

    def _verdict(self, pool: SandboxPool, job: SolutionJob) -> Verdict:
        programs = self._programs(job)
        if isinstance(programs, Verdict):
            return programs
        runs = {}
        for suite, program in programs.items():
            for key, execution in pool.run([(suite, program)], job.raise_if_cancelled):
                runs[key] = execution
        return self._judged(job, runs)

    def _programs(self, job: SolutionJob) -> dict[str, Program] | Verdict:
        problem = job.given.problem
        found = self._verifier.programs(problem, job.item.completion, None)
        if found and (trouble := self._language_problem(problem.language)):
            return no_runner_verdict(trouble)
        return {suite: self._with_timeout(one) for suite, one in found.items()} or self._judged(job, {})

    def _judged(self, job: SolutionJob, runs: dict[str, Execution]) -> Verdict:
        verdict = self._verifier.verdict(job.given.problem, job.item.completion, None, [runs]).verdict
        return suite_verdict(verdict, job.given, runs) if runs else verdict

    def _with_timeout(self, program: Program) -> Program:
        return program if self._timeout is None else structs.replace(program, seconds=self._timeout)

    def _language_problem(self, language: str) -> str:
        if language == "python":
            return ""
        try:
            require_runner(language, self.level, scratch=self._verifier.scratch > 0)
        except VerifierError as error:
            return str(error)
        return ""


def internal_error_verdict(error: Exception) -> Verdict:
    return Verdict(outcome=Outcome.ERROR, reason="internal", detail=f"{type(error).__name__}: {error}"[:300])


def fail(job: SolutionJob, error: Exception) -> None:
    if job.answer.set_running_or_notify_cancel():
        job.answer.set_exception(error)


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
