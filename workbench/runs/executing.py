"""Judge solutions by running them: each is loaded with its problem, runs in the sandbox, and gets a verdict."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct, structs

from workbench.core.code import Execution, Level, Problem, Program, SolutionForm
from workbench.core.database.connection import Database
from workbench.core.errors import VerifierError
from workbench.core.run import ClusterUse
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.data.store import tests
from workbench.data.store.tests import tests_of
from workbench.runs.local import ResultSink, always
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.base import Judged, SandboxedVerifier
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.runners import require_runner
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.judging import failure

if TYPE_CHECKING:
    from workbench.runs.cluster_pool import ClusterPool

MAX_GROUP_SOLUTIONS = 500
"""Maximum solutions in one transaction."""

_GROUP_S = 0.2
_MAX_CACHED_PROBLEMS = 256
"""Problems in the cache: solutions of one problem are usually consecutive."""


class SolutionWork(Struct, eq=False):
    """One solution in progress.

    Attributes:
        form: The form of the solution's text, if known.
        problem: The code problem; None for items that aren't code.
        seconds: Seconds of processor time a test may take; by default the verifier's option.
        missing: Number of programs without a result.
        runs: For each hash seed, the results of its programs by suite.
    """

    item: VerifierInput
    form: SolutionForm | None
    problem: Problem | None
    seconds: float | None = None
    programs: dict[str, Program] = {}
    missing: int = 0
    runs: list[dict[str, Execution]] = []


ProgramPool: TypeAlias = "SandboxPool | ClusterPool"
Work = TypeVar("Work", bound=SolutionWork)
Job = tuple[tuple[Work, str], Program]
"""A program to run; its key is the solution and the suite."""


class SolutionEngine(Iterator[Job[Work]]):
    """Runs solutions in pools; as an iterator it yields their programs.

    Args:
        pools: The pools of the hash seeds; several take turns.
        finish: Called with each solution and its verdict.
        has_room: Whether more solutions may be started while others are in progress.

    Attributes:
        busy: The solutions in progress.
    """

    def __init__(
        self,
        verifier: SandboxedVerifier,
        level: Level,
        pools: Sequence[ProgramPool],
        finish: Callable[[Work, Judged], None],
        has_room: Callable[[], bool] = always,
    ) -> None:
        self.busy: dict[Work, None] = {}
        self._verifier, self._level, self._pools = verifier, level, pools
        self._finish, self._has_room = finish, has_room
        self._works: Iterator[Work] = iter(())
        self._ready: deque[Job[Work]] = deque()
        self._troubles: dict[str, str] = {"python": ""}

    def run(self, works: Iterable[Work], raise_if_cancelled: Callable[[], None]) -> None:
        """Run solutions until there are no more; an exhausted iterator is read again while others are in progress."""
        self._works = iter(works)
        jobs: Iterator[Job[Work]] = self
        for place, pool in enumerate(self._pools):
            if place:
                jobs = iter([job for work in self.busy for job in _jobs_of(work)])
            for (work, suite), execution in pool.run(jobs, raise_if_cancelled):
                if work in self.busy:
                    self._add_result(work, place, suite, execution)

    def __next__(self) -> Job[Work]:
        while not self._ready or self._ready[0][0][0] not in self.busy:
            if self._ready:
                # The solution was dropped.
                self._ready.popleft()
            elif self.busy and not self._has_room():
                raise StopIteration
            else:
                self._start(next(self._works))
        return self._ready.popleft()

    def _start(self, work: Work) -> None:
        problem = work.problem
        work.runs = [{} for _ in self._pools]
        try:
            found = {} if problem is None else self._verifier.programs(problem, work.item.completion, work.form)
            trouble = self._language_problem(problem.language) if problem is not None and found else ""
        except Exception as error:
            return self._finish(work, Judged(verdict=internal_error(error)))
        if work.seconds is not None:
            found = {suite: structs.replace(program, seconds=work.seconds) for suite, program in found.items()}
        work.programs, work.missing = found, len(self._pools) * len(found)
        if trouble:
            verdict = Verdict(outcome=Outcome.ERROR, reason="no_runner", detail=trouble)
            return self._finish(work, Judged(verdict=verdict))
        if not found:
            return self._judge(work)
        self.busy[work] = None
        return self._ready.extend(_jobs_of(work))

    def _language_problem(self, language: str) -> str:
        if language not in self._troubles:
            try:
                require_runner(language, self._level, scratch=self._verifier.scratch > 0)
                self._troubles[language] = ""
            except VerifierError as error:
                self._troubles[language] = str(error)
        return self._troubles[language]

    def _add_result(self, work: Work, place: int, suite: str, execution: Execution) -> None:
        work.runs[place][suite] = execution
        work.missing -= 1
        if not work.missing:
            del self.busy[work]
            self._judge(work)

    def _judge(self, work: Work) -> None:
        # Suites are in their order, not in the order of completion.
        work.runs = [{suite: found[suite] for suite in work.programs} for found in work.runs]
        try:
            judged = self._verifier.verdict(work.problem, work.item.completion, work.form, work.runs)
        except Exception as error:
            judged = Judged(verdict=internal_error(error))
        self._finish(work, judged)


def _jobs_of(work: Work) -> Iterator[Job[Work]]:
    return (((work, suite), program) for suite, program in work.programs.items())


def internal_error(error: Exception) -> Verdict:
    return failure(f"{type(error).__name__}: {error}"[:300])


@contextmanager
def opened_pool(
    level: Level, workers: int | None, settings: PoolSettings, cluster: ClusterUse | None = None, **of_cluster: Any
) -> Iterator[ProgramPool]:
    """Open the sandboxes of this machine, or of a cluster.

    Args:
        workers: Number of solutions that run at a time; by default one per core.
        of_cluster: Further arguments of `cluster_sandbox`.
    """
    if cluster is None:
        with SandboxPool(level, workers or os.cpu_count() or 1, settings=settings) as pool:
            yield pool
        return
    # Only runs on a cluster need Ray.
    from workbench.runs.cluster_pool import cluster_sandbox

    with cluster_sandbox(level, settings, cluster, **of_cluster) as nodes:
        yield nodes


def judge_solutions(
    verifier: SandboxedVerifier,
    level: Level,
    workers: int,
    solutions: Iterator[list[SolutionWork]],
    sink: ResultSink,
    cluster: ClusterUse | None = None,
    *,
    has_room: Callable[[], bool] = always,
) -> None:
    """Judge solutions by running them; all started processes have ended when this returns or raises.

    Args:
        level: The isolation level.
        workers: Number of solutions that run at a time, for each hash seed.
        cluster: The cluster that runs them; by default this machine.
        has_room: Whether more solutions may be started while others are in progress; called once results are stored.
    """
    with ExitStack() as stack:
        pools = _open_pools(stack, verifier, level, workers, sink, cluster)
        sink.note_provenance(structs.replace(pools[0].provenance(), extractor=verifier.extractor))
        results = _ResultGroup(sink)

        def has_room_once_stored() -> bool:
            if not (room := has_room()):
                results.store()
            return room or has_room()

        is_single = len(pools) == 1
        engine = SolutionEngine(verifier, level, pools, results.add, has_room_once_stored if is_single else always)
        # A single pool gets an uninterrupted stream; several pools take turns over each chunk.
        for batch in [chain.from_iterable(solutions)] if is_single else solutions:
            engine.run(batch, results.store_if_due)
        results.store()


def _open_pools(
    stack: ExitStack,
    verifier: SandboxedVerifier,
    level: Level,
    workers: int,
    sink: ResultSink,
    cluster: ClusterUse | None,
) -> list[ProgramPool]:
    settings = [verifier.settings(seed) for seed in verifier.seeds]
    if cluster is None:
        return [stack.enter_context(SandboxPool(level, workers, settings=one)) for one in settings]
    # Only runs on a cluster need Ray.
    from workbench.runs.cluster import connected
    from workbench.runs.cluster_pool import ClusterPool

    ray = stack.enter_context(connected(cluster.address))
    return [stack.enter_context(ClusterPool(ray, level, one, cluster, sink)) for one in settings]


class _ResultGroup:
    def __init__(self, sink: ResultSink) -> None:
        self._sink = sink
        self._judged: list[tuple[int, Judged]] = []
        self._tests: list[TestResult] = []
        self._stored = time.monotonic()

    def add(self, work: SolutionWork, judged: Judged) -> None:
        self._tests += (
            TestResult(work.item.item, suite, execution)
            for suite, execution in work.runs[0].items()
            if not execution.harness_killed
        )
        self._judged.append((work.item.item, judged))
        self.store_if_due()

    def store_if_due(self) -> None:
        if len(self._judged) >= MAX_GROUP_SOLUTIONS or time.monotonic() - self._stored > _GROUP_S:
            self.store()
            self._sink.check()

    def store(self) -> None:
        self._sink.store_executed(self._judged, self._tests)
        self._judged, self._tests, self._stored = [], [], time.monotonic()


def load_solutions(
    database: Database, suites: Sequence[str], chunks: Iterable[list[VerifierInput]], sink: ResultSink
) -> Iterator[list[SolutionWork]]:
    """Yield a project's items with their problems and tests."""
    known: dict[int, Problem | None] = {}
    for chunk in chunks:
        sink.check()
        solutions = tests.solutions_of(database, [item.item for item in chunk])
        wanted = list(dict.fromkeys(solution.question for solution in solutions.values()))
        new = [question for question in wanted if question not in known]
        if len(known) + len(new) > _MAX_CACHED_PROBLEMS:
            known = {question: known[question] for question in wanted if question in known}
        found = tests.problems_of(database, new, suites)
        known.update((question, found.get(question)) for question in new)
        own = tests_of(database.reader(), "completion", [item.item for item in chunk], suites)
        yield [
            SolutionWork(
                item=item,
                form=solutions[item.item].form,
                problem=structs.replace(problem, suites={**problem.suites, **own[item.item]})
                if problem and own[item.item]
                else problem,
            )
            for item in chunk
            for problem in (known[solutions[item.item].question],)
        ]
