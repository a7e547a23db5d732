"""Rows of the Code screens: the list of problems, and one problem's solutions against its tests."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import CodeTest, ExcludedTest, Execution, Problem, SolutionForm, Where
from workbench.core.run import RunState

ProblemKind = Literal["all", "mixed", "none", "every", "waiting", "broken", "differs", "suites"]
"""Which problems: by what comes of their solutions in one run, or all of them."""

PROBLEM_KINDS: Final[dict[ProblemKind, str]] = {
    "all": "all problems",
    "mixed": "some solutions pass, some fail",
    "none": "no solution passes",
    "every": "every solution passes",
    "waiting": "solutions wait to be run",
    "differs": "tests and gold differ",
    "suites": "solutions pass one suite and fail another",
    "broken": "no test counts: every one is broken or set apart",
}
"""The kinds in words."""

PROBLEM_SORTS: Final = ("task_id", "dataset", "entry_point", "solutions", "tests", "gold", "passing", "beside", "done")
"""Columns that the list sorts by."""


class SuiteRun(Struct, frozen=True, kw_only=True):
    """A run that has outcomes of a suite.

    Attributes:
        verifier: The verifier's name.
        complete: Whether it has ever been complete.
    """

    run: int
    verifier: str
    suite: str
    state: RunState
    complete: bool


class ProblemQuery(Struct, frozen=True, kw_only=True):
    """The problems of a list, and their order.

    Attributes:
        search: Part of a task id, an entry point or a prompt; ASCII letters match in either case.
        kind: Which by their outcomes.
        dataset: Only of this data set.
        run: Whose outcomes are counted; None: nobody's, so that every solution waits.
        beside: Outcomes of another suite, to be held against them.
        sort: One of ``PROBLEM_SORTS``, or None for the order of import.
    """

    search: str = ""
    kind: ProblemKind = "all"
    dataset: str | None = None
    run: SuiteRun | None = None
    beside: SuiteRun | None = None
    sort: str | None = None
    descending: bool = False


class ProblemRow(Struct, frozen=True, kw_only=True):
    """A problem as a line of the list.

    Attributes:
        id: Row id of its question.
        tests: Tests by suite.
        correct: Solutions that gold calls correct.
        golden: Solutions that have gold.
        passing: Solutions that pass every test of the run's suite.
        done: Solutions that have outcomes in the run.
        judged: Those of them whose outcomes say something: a test counts.
        beside: Passing solutions of those that were run on another suite, which is held against it.
    """

    id: int
    task_id: str
    dataset: str
    entry_point: str
    solutions: int
    tests: dict[str, int]
    correct: int
    golden: int
    passing: int
    done: int
    judged: int
    beside: float | None = None

    @property
    def share_correct(self) -> float | None:
        return self.correct / self.golden if self.golden else None

    @property
    def pass_at_1(self) -> float | None:
        """Return passing solutions over judged ones (unbiased pass@k for k = 1, Chen et al. 2021)."""
        return self.passing / self.judged if self.judged else None


class MatrixSolution(Struct, frozen=True, kw_only=True):
    """A solution as a row of the matrix.

    Attributes:
        id: Row id of the completion.
        key: The completion's id.
        solution_id: The source's own id.
        ground_truth: It stands in for the reference in rankings.
        gold: ``correct``, ``incorrect`` or ``none``.
        verdicts: What verifiers say, by name, in a word.
        outcomes: One letter a test in the suite's order; "" where it has not been run.
        execution: More of what came of it; None where nothing more is known, or it has not been run.
        tests: Tests that were written for this solution alone; else empty.
    """

    id: int
    key: str
    solution_id: str
    model: str
    ground_truth: bool
    gold: str
    verdicts: dict[str, str]
    outcomes: str
    execution: Execution | None
    tests: tuple[CodeTest, ...] = ()


class PassMatrix(Struct, frozen=True, kw_only=True):
    """A problem's solutions against the tests of one suite, as one run found them.

    Attributes:
        question: The problem's row id.
        problem: The problem with the tests of ``suite`` alone.
        suites: Tests by suite; the most of any solution where each has tests of its own.
        suite: The suite that is shown; "" where there are no tests.
        runs: Runs with outcomes of the suite, those that have been complete first, then the newest.
        run: The one that is shown; None where none has any.
        evolution: The evolution that has made the suite; without a run its own outcomes are shown. None for others.
        rounds: The round of it that each test came with; empty for other suites.
        verifiers: Whose verdicts the solutions carry, in order.
        solutions: In the order of import.
        where: Where each test of the suite is decided.
        faults: The error by which a broken test is one, of those whose text tells.
    """

    question: int
    problem: Problem
    dataset: str
    suites: dict[str, int]
    suite: str
    runs: tuple[SuiteRun, ...]
    run: SuiteRun | None
    evolution: str | None
    rounds: tuple[int, ...]
    verifiers: tuple[str, ...]
    solutions: tuple[MatrixSolution, ...]
    where: dict[CodeTest, Where] = {}
    faults: dict[CodeTest, str] = {}

    @property
    def shared(self) -> tuple[CodeTest, ...]:
        """Return the suite's tests in order, if all solutions share them; empty if each has tests of its own."""
        return self.problem.suites.get(self.suite, ())

    @property
    def excluded(self) -> dict[int, ExcludedTest]:
        return self.problem.apart.get(self.suite, {})

    def count(self, *places: Where) -> int:
        return sum(self.where.get(test) in places for test in self.shared)

    @property
    def width(self) -> int:
        return self.suites.get(self.suite, 0)

    @property
    def own(self) -> bool:
        return self.width > len(self.shared)

    def test_of(self, solution: MatrixSolution, position: int) -> CodeTest | None:
        """Return the test that a solution is run on; None if it has no such test."""
        tests = solution.tests if self.own else self.shared
        return tests[position] if position < len(tests) else None


class SolutionCode(Struct, frozen=True, kw_only=True):
    """A solution's code as it is run.

    Attributes:
        stored: The completion's text.
        form: What that text is.
        source: The program made of it.
        extractor: How code was taken from a reply.
    """

    stored: str
    form: SolutionForm
    source: str
    extractor: str
