"""Test outcomes of code problems: ranked solutions, and their tests."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

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
