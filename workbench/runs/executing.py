"""Judge solutions by running them: each is loaded with its problem, runs in the sandbox, and gets a verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from types import TracebackType
from typing import Protocol, Self, TypeVar

from msgspec import Struct, structs

from workbench.core.code import CodeTest, Execution, Level, Problem, Program, Provenance, SolutionForm
from workbench.core.database.connection import Database
from workbench.core.errors import VerifierError
from workbench.core.run import ClusterUse
from workbench.core.verdict import VerifierInput
from workbench.data.store import tests
from workbench.data.store.tests import tests_of
from workbench.runs.local import PacedIterator, ResultSink, always
from workbench.runs.store.verdicts import TestResult
from workbench.verifiers.base import Judged, SandboxedVerifier
from workbench.verifiers.execution.evidence import no_runner_verdict
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.runners import require_runner

MAX_GROUP_SOLUTIONS = 500
"""Maximum solutions in one transaction."""

_GROUP_S = 0.2
_MAX_CACHED_PROBLEMS = 256
"""Problems in the cache: solutions of one problem are usually consecutive."""

K = TypeVar("K")
Key = tuple[int, str]
"""A completion's row id and a suite."""


class ProgramPool(Protocol):
    """Runs programs against their tests, as `SandboxPool` does."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def provenance(self) -> Provenance: ...

    def run(
        self, jobs: Iterable[tuple[K, Program]], raise_if_cancelled: Callable[[], None] | None = None
    ) -> Iterator[tuple[K, Execution]]:
        """Yield each job's key and result, in the order of completion; call ``raise_if_cancelled`` regularly."""
        ...


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
        dispatcher = _SolutionDispatcher(verifier, level, sink, has_room)
        # A single pool gets an uninterrupted stream; several pools take turns over each chunk.
        for batch in [chain.from_iterable(solutions)] if len(pools) == 1 else solutions:
            dispatcher.judge(batch, pools)
        dispatcher.store()


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


class SolutionWork(Struct):
    """One solution in progress.

    Attributes:
        form: The form of the solution's text, if known.
        problem: The code problem; None for items that aren't code.
        missing: Number of programs without a result.
        runs: For each hash seed, the results of its programs by suite.
    """

    item: VerifierInput
    form: SolutionForm | None
    problem: Problem | None
    programs: dict[str, Program] = {}
    missing: int = 0
    runs: list[dict[str, Execution]] = []


class _SolutionDispatcher:
    def __init__(
        self, verifier: SandboxedVerifier, level: Level, sink: ResultSink, has_room: Callable[[], bool]
    ) -> None:
        self._verifier = verifier
        self._level = level
        self._sink = sink
        self._room = has_room
        self._busy: dict[int, SolutionWork] = {}
        self._judged: list[tuple[int, Judged]] = []
        self._results: list[TestResult] = []
        self._troubles: dict[str, str] = {"python": ""}
        self._stored = time.monotonic()

    def judge(self, works: Iterable[SolutionWork], pools: Sequence[ProgramPool]) -> None:
        jobs: Iterator[tuple[Key, Program]] = self._start_solutions(works, len(pools))
        if len(pools) == 1:
            jobs = PacedIterator(jobs, self._has_room)
        for place, pool in enumerate(pools):
            if place:
                jobs = iter([job for work in list(self._busy.values()) for job in _start_solutions(work)])
            for (item, suite), execution in pool.run(jobs, self._store_if_due):
                self._add_result(self._busy[item], place, suite, execution)

    def store(self) -> None:
        self._sink.store_executed(self._judged, self._results)
        self._judged, self._results, self._stored = [], [], time.monotonic()

    def _has_room(self) -> bool:
        if not self._busy or self._room():
            return True
        # Finished solutions make room once they are stored.
        self.store()
        return self._room()

    def _start_solutions(self, works: Iterable[SolutionWork], seeds: int) -> Iterator[tuple[Key, Program]]:
        for work in works:
            verifier, item = self._verifier, work.item
            if work.problem is not None:
                work.programs = verifier.programs(work.problem, item.completion, work.form)
            work.missing, work.runs = seeds * len(work.programs), [{} for _ in range(seeds)]
            if work.problem is None or not work.missing:
                self._finish_solution(work)
            elif trouble := self._language_problem(work.problem.language):
                self._add_verdict(item.item, Judged(verdict=no_runner_verdict(trouble)))
            else:
                self._busy[item.item] = work
                yield from _start_solutions(work)

    def _language_problem(self, language: str) -> str:
        if language not in self._troubles:
            try:
                require_runner(language, self._level, scratch=self._verifier.scratch > 0)
                self._troubles[language] = ""
            except VerifierError as error:
                self._troubles[language] = str(error)
        return self._troubles[language]

    def _add_result(self, work: SolutionWork, place: int, suite: str, execution: Execution) -> None:
        work.runs[place][suite] = execution
        work.missing -= 1
        if not work.missing:
            del self._busy[work.item.item]
            self._finish_solution(work)

    def _finish_solution(self, work: SolutionWork) -> None:
        item = work.item
        # Suites are stored in their order, not in the order of completion.
        runs = [{suite: found[suite] for suite in work.programs} for found in work.runs]
        judged = self._verifier.verdict(work.problem, item.completion, work.form, runs)
        self._results += (
            TestResult(item.item, suite, execution)
            for suite, execution in runs[0].items()
            if not execution.harness_killed
        )
        self._add_verdict(item.item, judged)

    def _add_verdict(self, item: int, judged: Judged) -> None:
        self._judged.append((item, judged))
        self._store_if_due()

    def _store_if_due(self) -> None:
        if len(self._judged) >= MAX_GROUP_SOLUTIONS or time.monotonic() - self._stored > _GROUP_S:
            self.store()
            self._sink.check()


def _start_solutions(work: SolutionWork) -> Iterator[tuple[Key, Program]]:
    return (((work.item.item, suite), program) for suite, program in work.programs.items())


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
                problem=_with_item_tests(known[solutions[item.item].question], own[item.item]),
            )
            for item in chunk
        ]


def _with_item_tests(problem: Problem | None, own: dict[str, tuple[CodeTest, ...]]) -> Problem | None:
    return structs.replace(problem, suites={**problem.suites, **own}) if problem and own else problem
