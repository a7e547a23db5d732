"""What came of having models write tests and solutions."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

SolutionKind = Literal["correct", "incorrect"]
"""What a model is asked to write: code that solves the problem, or code that almost does."""

SKIPPED: Final[dict[str, str]] = {
    "language": "not Python",
    "stdio": "tests of standard input: there is nothing that an assert could call",
    "no_tests": "no tests to score solutions by",
}
"""Why nothing is written for a problem, by code."""


class TestsWritten(Struct, frozen=True, kw_only=True):
    """What a command that writes tests has come to.

    Attributes:
        run: The run that its calls are counted in.
        model: Who writes, by the name it is asked for by.
        with_solution: Tests were written for each solution, by a writer who saw it; else for each problem.
        targets: Problems, or solutions, that tests were asked for.
        unchanged: Those that had their tests before.
        failed: Those without a reply, by the failure's code.
        empty: Those of the whole suite whose reply holds no test that is kept.
        found: Tests in all replies that the suite was made of.
        kept: Those that are in it.
        dropped: Those that are left out, by code.
        skipped: Problems that nothing is written for, by a code of `SKIPPED`.
    """

    __test__ = False

    suite: str
    dataset: str
    run: int
    model: str
    with_solution: bool
    targets: int
    unchanged: int
    failed: dict[str, int]
    empty: int
    found: int
    kept: int
    dropped: dict[str, int]
    skipped: dict[str, int]


class ProblemSolutions(Struct, frozen=True, kw_only=True):
    """The solutions of one problem as far as they were written.

    Attributes:
        scores: Distinct scores, rounded to two decimals, the best first: of the reference, of solutions that were
            there, and of those written; without those that fail all tests by errors alone.
        reached: There are as many as were wanted.
        rounds: Rounds that were asked for.
        written: New solutions.
        repeated: Replies with the code of another solution.
        empty: Replies without code.
        failed: Calls without a reply.
    """

    task_id: str
    scores: tuple[float, ...]
    reached: bool
    rounds: int
    written: int
    repeated: int
    empty: int
    failed: int


class SolutionsWritten(Struct, frozen=True, kw_only=True):
    """What a command that writes solutions has come to, over all of its starts.

    Attributes:
        run: The run that its calls are counted in.
        k: Distinct scores that were wanted.
        suites: The tests that solutions were scored by.
        imported: Solutions that are new in the data set; the others it had already.
        problems: The problems in the order of import.
        skipped: Problems that nothing is written for, by a code of `SKIPPED`.
    """

    dataset: str
    run: int
    k: int
    suites: tuple[str, ...]
    imported: int
    problems: tuple[ProblemSolutions, ...]
    skipped: dict[str, int]
