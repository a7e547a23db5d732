"""Measures test outcomes: pass@1 of problems, ranked solutions, tests that all or no solutions pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import BROKEN, NOT_RUN, PASS, Problem, counted
from workbench.core.code_tests.broken import TestFault, broken_tests
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.data.store.tests import OutcomeRow, lost_solutions, outcome_rows, problems_of

Fate = Literal["none", "all", "broken", "apart", "mixed"]
"""The result of a test over all solutions."""
FATES: Final[dict[Fate, str]] = {
    "none": "passed by no solution",
    "all": "passed by every solution",
    "broken": "broken: the reference solution fails it too",
    "apart": "excluded",
    "mixed": "passed by some",
}
"""Descriptions of the results."""


class TestFigures(Struct, frozen=True, kw_only=True):
    """The results of one test over a problem's solutions.

    Attributes:
        question: Row id of the problem.
        position: The test's position in the suite, from 0.
        ran: Number of solutions on which the test was run and counts.
        passed: Number of these solutions that pass.
        why: Why the test is broken, or why it was excluded and by whom; else "".
        fate: Whether the test counts, is broken or is excluded.
    """

    __test__ = False

    question: int
    dataset: str
    task_id: str
    suite: str
    position: int
    source: str
    ran: int
    passed: int
    why: str
    fate: Fate

    @property
    def rate(self) -> float | None:
        return self.passed / self.ran if self.ran else None


class ProblemFigures(Struct, frozen=True, kw_only=True):
    """The results of a problem's solutions.

    Attributes:
        judged: Number of solutions with at least one counted test.
        passing: Number of judged solutions that pass every counted test.
        tests: Tests in the suite's order.
        order: Ids of solutions with their number of passed tests, in descending order of that number.
    """

    dataset: str
    task_id: str
    solutions: int
    judged: int
    passing: int
    tests: list[TestFigures]
    order: list[tuple[str, int]]

    @property
    def pass_at_1(self) -> float | None:
        return self.passing / self.judged if self.judged else None

    def count(self, fate: Fate) -> int:
        return sum(test.fate == fate for test in self.tests)


class SuiteFigures(Struct, frozen=True, kw_only=True):
    """The results of a run on a suite of tests.

    Attributes:
        lost: Number of solutions on which the sandbox crashed; they are in no metric.
    """

    verifier: str
    run: int
    suite: str
    problems: list[ProblemFigures]
    lost: int

    @property
    def tests(self) -> list[TestFigures]:
        return [test for problem in self.problems for test in problem.tests]

    @property
    def pass_at_1(self) -> float | None:
        """Return the mean over the problems with a pass@1."""
        known = [problem.pass_at_1 for problem in self.problems if problem.pass_at_1 is not None]
        return sum(known) / len(known) if known else None


def suite_figures(project: Project, selection: Selection | None = None, run: int | None = None) -> list[SuiteFigures]:
    """Return the test results of each verifier's newest complete run, by suite, with problems in the order of import.

    Args:
        selection: Use only these solutions; excluded ones never count.
        run: Use only this run, complete or not.

    Raises:
        UsageError: The selection names something unknown.
    """
    found: list[SuiteFigures] = []
    rows = outcome_rows(project.database.reader(), selection or Selection(), run)
    for (verifier, number, suite), part in groupby(rows, key=attrgetter("verifier", "run", "suite")):
        by_problem = [list(group) for _, group in groupby(part, key=attrgetter("question"))]
        texts = problems_of(project.database, [group[0].question for group in by_problem], [suite])
        problems = [_problem_figures(group, texts[group[0].question], suite) for group in by_problem]
        lost = lost_solutions(project.database.reader(), selection or Selection(), number, suite)
        found.append(SuiteFigures(verifier=verifier, run=number, suite=suite, problems=problems, lost=lost))
    return found


def _problem_figures(rows: Sequence[OutcomeRow], problem: Problem, suite: str) -> ProblemFigures:
    judged = [row for row in rows if counted(row.outcomes)]
    return ProblemFigures(
        dataset=rows[0].dataset,
        task_id=problem.task_id,
        solutions=len(rows),
        judged=len(judged),
        passing=sum(set(row.outcomes) - {BROKEN} == {PASS} for row in judged),
        tests=list(_test_figures(rows, problem, suite)),
        order=sorted(((row.solution, row.outcomes.count(PASS)) for row in rows), key=lambda one: -one[1]),
    )


def _test_figures(rows: Sequence[OutcomeRow], problem: Problem, suite: str) -> Iterator[TestFigures]:
    tests = problem.suites.get(suite, ())
    faults, excluded = broken_tests(problem, tests, suite), problem.apart.get(suite, {})
    for place, test in enumerate(tests):
        letters = [row.outcomes[place] for row in rows if place < len(row.outcomes)]
        ran = sum(letter not in (NOT_RUN, BROKEN) for letter in letters)
        passed, reason, fault = letters.count(PASS), excluded.get(place), faults.get(place)
        yield TestFigures(
            question=rows[0].question,
            dataset=rows[0].dataset,
            task_id=problem.task_id,
            suite=suite,
            position=place,
            source=test.source,
            ran=ran,
            passed=passed,
            why=reason.words if reason else fault.error if fault else "",
            fate="apart" if reason else _test_fate(fault, letters, ran, passed),
        )


def _test_fate(fault: TestFault | None, letters: Sequence[str], ran: int, passed: int) -> Fate:
    if fault is not None or (BROKEN in letters and not ran):
        return "broken"
    return "mixed" if not ran or 0 < passed < ran else "all" if passed else "none"
