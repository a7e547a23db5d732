"""Problems that were written anew as functions, and pools of solutions that models wrote."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.code import Writer


class RefinedProblem(Struct, frozen=True, kw_only=True):
    """A problem of standard input, written anew with a function to write: a line of a file of problems.

    Attributes:
        task_id: The old problem's.
        canonical_solution_by: A model wrote the solution, so that it doesn't say which tests are right.
        tests: Those that ask something of the function.
        proposed_tests: How many tests the model wrote.
        passed_tests: How many of ``tests`` its own solution passes.
    """

    task_id: str
    entry_point: str
    prompt: str
    canonical_solution: str
    canonical_solution_by: Writer
    tests: tuple[str, ...]
    source: str | None
    proposed_tests: int
    passed_tests: int


class RefusedProblem(Struct, frozen=True, kw_only=True):
    """A problem that was not written anew.

    Attributes:
        reason: ``no_reference``: there is no solution to go by; ``no_problem``: no reply, or one that lacks a part;
            ``few_tests``: too few of its tests ask something of the function.
        tests: Tests the model wrote.
        passed: Those that its own solution passes.
    """

    task_id: str
    reason: str
    tests: int
    passed: int


class RefineReport(Struct, frozen=True, kw_only=True):
    """``workbench code refine --json``.

    Attributes:
        problems: Problems of standard input there are.
        written: Those written anew.
        refused: The others.
        tests: Tests of those written.
        passed_tests: How many of them the models' own solutions pass.
    """

    dataset: str
    problems: int
    written: int
    refused: tuple[RefusedProblem, ...]
    tests: int
    passed_tests: int
    file: str


class PoolReport(Struct, frozen=True, kw_only=True):
    """``workbench code pool --json``.

    Attributes:
        run: The run that its calls are counted in.
        samples: Solutions asked for of each problem and model.
        added: New solutions in the data set.
        failed: Calls without a reply.
        skipped: Problems that nothing is written for, by why.
    """

    dataset: str
    run: int
    problems: int
    models: int
    samples: int
    added: int
    failed: int
    skipped: dict[str, int]
