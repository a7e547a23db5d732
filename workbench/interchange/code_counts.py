"""Counts of what a file of code problems contains."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.code import Problem
from workbench.core.code_tests.broken import with_candidate
from workbench.core.text.figures import counted


class CodeCounts(Struct, frozen=True, kw_only=True):
    """Counts of what files of code problems contain.

    Attributes:
        problems: Number of problems.
        tests: Number of tests in all suites of the problems.
        references: Number of problems with a reference solution.
        entry_points: Number of problems that name the tested function.
        candidates: Number of problems whose tests call ``candidate``, which is undefined and means the entry point.
    """

    problems: int = 0
    tests: int = 0
    references: int = 0
    entry_points: int = 0
    candidates: int = 0

    def with_problem(self, problem: Problem) -> CodeCounts:
        return CodeCounts(
            problems=self.problems + 1,
            tests=self.tests + sum(map(len, problem.suites.values())),
            references=self.references + bool(problem.canonical.strip()),
            entry_points=self.entry_points + bool(problem.entry_point),
            candidates=self.candidates + (with_candidate(problem) != problem),
        )

    def __add__(self, other: CodeCounts) -> CodeCounts:
        return CodeCounts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    @property
    def words(self) -> str:
        parts = [
            f"{counted(self.problems, 'problem')} with {counted(self.tests, 'test')}",
            f"{self.references:,} with a reference solution",
            f"{self.entry_points:,} with an entry point",
        ]
        if self.candidates:
            parts.append(f"the tests of {self.candidates:,} call candidate: that is the entry point")
        return ", ".join(parts)
