"""Test outcomes of code problems: ranked solutions, and their tests."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

Fate = Literal["none", "all", "broken", "apart", "mixed"]
"""What came of a test."""
FATES: Final[dict[Fate, str]] = {
    "none": "passed by no solution",
    "all": "passed by every solution",
    "broken": "broken: the reference solution fails it too",
    "apart": "set apart",
    "mixed": "passed by some",
}
"""The same in words."""


class TestFigures(Struct, frozen=True, kw_only=True):
    """The results of one test over a problem's solutions.

    Attributes:
        question: Row id of the problem.
        position: The test's place in the suite, from 0.
        ran: Solutions that it was run on and counts for.
        why: By what it is broken, or why it was set apart, and by whom; else "".
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
        """Return the share of solutions that pass; None where it was run on none."""
        return self.passed / self.ran if self.ran else None


class ProblemFigures(Struct, frozen=True, kw_only=True):
    """The results of a problem's solutions.

    Attributes:
        judged: Solutions for which a test counts.
        passing: Those of them that pass every test that counts.
        tests: In the suite's order.
        order: Ids of solutions with the tests each passes, the most first.
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
        """Return the share of judged solutions that pass; None without any."""
        return self.passing / self.judged if self.judged else None

    def count(self, fate: Fate) -> int:
        return sum(test.fate == fate for test in self.tests)


class SuiteFigures(Struct, frozen=True, kw_only=True):
    """The results of a run on a suite of tests.

    Attributes:
        lost: Solutions over which the sandbox died: they are in no figure.
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
        """Return the mean over the problems that have one."""
        known = [problem.pass_at_1 for problem in self.problems if problem.pass_at_1 is not None]
        return sum(known) / len(known) if known else None
