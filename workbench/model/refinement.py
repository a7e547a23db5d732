"""Problems that were written anew as functions, and pools of solutions that models wrote."""

from __future__ import annotations

from msgspec import Struct


class RefinedProblem(Struct, frozen=True, kw_only=True):
    """A problem of standard input, written anew with a function to write: a line of a file of problems.

    Attributes:
        task_id: The old problem's.
        tests: Those that the solution passes.
        proposed_tests: How many tests the model wrote.
    """

    task_id: str
    entry_point: str
    prompt: str
    canonical_solution: str
    tests: tuple[str, ...]
    source: str | None
    proposed_tests: int


class RefusedProblem(Struct, frozen=True, kw_only=True):
    """A problem that was not written anew.

    Attributes:
        reason: ``no_reference``: there is no solution to go by; ``no_problem``: no reply, or one that lacks a part;
            ``few_tests``: the new solution passes too few of its tests.
        tests: Tests the model wrote.
        passed: Those that its solution passes.
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
    """

    dataset: str
    problems: int
    written: int
    refused: tuple[RefusedProblem, ...]
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
