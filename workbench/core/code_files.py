"""Lines of our own files of code problems and of their solutions."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.code import SolutionForm, Writer


class StdioTest(Struct, frozen=True, forbid_unknown_fields=True):
    """A test of a program that reads and writes.

    Attributes:
        input: The text on its standard input.
        output: The text that it must write on its standard output.
    """

    input: str
    output: str


TestLine = str | StdioTest
"""A test: Python statements as a text, or a text for standard input with the text expected."""


class ProblemLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A problem with its tests; further keys are kept.

    Attributes:
        task_id: The problem's id in its data set.
        prompt: What is asked.
        source: The benchmark it is from.
        entry_point: The function or class that tests call.
        language: ``python``, or the name of a runner.
        canonical_solution: The reference solution, a complete program.
        canonical_solution_by: Who wrote it; only what people wrote says which tests are right.
        setup: Code run between a solution and each test, such as ``candidate = add``.
        seconds: Wall time a test may take.
        tests: The suite ``base``.
        plus_tests: The suite ``plus``.
        whole_test: The suite ``whole``: one program that stands behind the solution.
        suites: Suites of other names.
    """

    task_id: str | int
    prompt: str
    source: str | None = None
    entry_point: str | None = None
    language: str = "python"
    canonical_solution: str = ""
    canonical_solution_by: Writer = "human"
    setup: str = ""
    seconds: float | None = None
    tests: list[TestLine] = []
    plus_tests: list[TestLine] = []
    whole_test: str | None = None
    suites: dict[str, list[TestLine]] = {}


class SolutionLine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A solution of a problem; further keys are kept.

    Attributes:
        task_id: The problem's id.
        solution_id: Its own id among the problem's solutions.
        code: Its text.
        form: What the text is: a complete program, what goes on where the prompt ends, or a reply with code in it.
        model: Who wrote it.
        recorded_pass: Whether it is known to pass; 1 and 0 are taken too.
        ground_truth: It stands for the true answer where solutions are ranked.
    """

    task_id: str | int
    solution_id: str | int
    code: str
    form: SolutionForm = "program"
    model: str | None = None
    recorded_pass: bool | int | None = None
    ground_truth: bool = False
