"""Rows of the Code screens: the list of problems, and one problem's solutions against its tests."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.code import CodeTest, ExcludedTest, Execution, Problem, SolutionForm, Where
from workbench.core.run import RunState

ProblemKind = Literal["all", "mixed", "none", "every", "waiting", "broken", "differs", "suites"]
"""Kinds of problems by the results of their solutions in one run."""

PROBLEM_KINDS: Final[dict[ProblemKind, str]] = {
    "all": "all problems",
    "mixed": "some solutions pass, some fail",
    "none": "no solution passes",
    "every": "every solution passes",
    "waiting": "solutions wait to be run",
    "differs": "tests and gold differ",
    "suites": "solutions pass one suite and fail another",
    "broken": "no test counts: every one is broken or excluded",
}
"""Descriptions of the kinds."""

PROBLEM_SORTS: Final = ("task_id", "dataset", "entry_point", "solutions", "tests", "gold", "passing", "beside", "done")
"""Columns by which the list of problems can be sorted."""


class SuiteRun(Struct, frozen=True, kw_only=True):
    """A run with outcomes of a suite.

    Attributes:
        verifier: The verifier's name.
        complete: Whether the run has ever been complete (items may have been added since).
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
        kind: Only problems whose outcomes are of this kind.
        dataset: Only problems of this data set.
        run: The run whose outcomes are counted; None if there is no run, so that no solution has outcomes.
        beside: A run with outcomes of another suite, for comparison.
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
        tests: Number of tests by suite.
        correct: Number of solutions whose gold is correct.
        golden: Number of solutions with gold.
        passing: Number of solutions that pass every test of the run's suite.
        done: Number of solutions with outcomes in the run.
        judged: Number of the ``done`` solutions with at least one counted test.
        beside: Share of solutions that pass another suite, for comparison; None if none was run on it.
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
        """Return the share of judged solutions that pass (the unbiased pass@k for k = 1, Chen et al. 2021)."""
        return self.passing / self.judged if self.judged else None


class MatrixSolution(Struct, frozen=True, kw_only=True):
    """A solution as a row of the matrix.

    Attributes:
        id: Row id of the completion.
        key: The completion's id.
        solution_id: The source's own id.
        ground_truth: Whether it is marked as the problem's ground truth, which rankings use instead of the reference.
        gold: ``correct``, ``incorrect`` or ``none``.
        verdicts: The verdict of each verifier, by its name.
        outcomes: One letter for each test in the suite's order; "" if it has not been run.
        execution: Further details of its execution; None if unknown, or if it has not been run.
        tests: Tests written only for this solution; empty if the suite's tests are shared.
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
    """A problem's solutions against the tests of one suite, by one run.

    Attributes:
        question: The problem's row id.
        problem: The problem with only the tests of ``suite``.
        suites: Number of tests by suite; the maximum over solutions if each solution has its own tests.
        suite: The suite that is shown; "" without tests.
        runs: Runs with outcomes of the suite, complete ones first, then the newest.
        run: The run that is shown; None if no run has outcomes.
        evolution: The evolution that created the suite; without a run, its own outcomes are shown. None for other
            suites.
        rounds: The round of the evolution in which each test was added; empty for other suites.
        verifiers: Verifiers whose verdicts are in ``solutions``, in order.
        solutions: Solutions in the order of import.
        where: Where the outcome of each test is decided: inside or outside the sandbox, by test.
        faults: The error of each broken test, by test, if its text shows that it is broken.
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
        """Return the suite's tests in order if all solutions share them; empty if each solution has its own tests."""
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
        tests = solution.tests if self.own else self.shared
        return tests[position] if position < len(tests) else None


class SolutionCode(Struct, frozen=True, kw_only=True):
    """A solution's code in the form that is run.

    Attributes:
        stored: The completion's text as stored.
        form: The form of the stored text: a program, a continuation of the prompt, or a reply.
        source: The program built from it.
        extractor: How code was extracted from a reply.
    """

    stored: str
    form: SolutionForm
    source: str
    extractor: str
