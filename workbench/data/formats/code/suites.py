"""Tests of a row as suites: each test by its form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from workbench.core.code import CodeTest
from workbench.core.code_files import TestLine
from workbench.core.code_tests.assertion import form_of
from workbench.data.formats.code.row import CodeRow
from workbench.data.formats.explain import RefusedError

Tests = tuple[CodeTest, ...]


WANTED: Final = "a list of tests: texts, or objects with input and output"


def tests_from(row: CodeRow, key: str) -> Tests:
    """The tests in a cell that lists them.

    Raises:
        RefusedError: The cell is no list of tests, or a test is empty.
    """
    return listed(key, row.value(key, list[TestLine], WANTED) or [])


def listed(key: str, tests: Sequence[TestLine]) -> Tests:
    """Tests as a file lists them.

    Args:
        key: The field that they are from, for messages.

    Raises:
        RefusedError: A test is empty.
    """
    for number, test in enumerate(tests, 1):
        if isinstance(test, str) and not test.strip():
            raise RefusedError("wrong_type", key, f"Test {number} in {key} is empty. Remove it.")
    return tuple(statement(test) if isinstance(test, str) else stdio(test.input, test.output) for test in tests)


def statements(sources: Iterable[str]) -> Tests:
    """Tests of Python statements."""
    return tuple(map(statement, sources))


def statement(source: str) -> CodeTest:
    """A test of Python statements; an assertion about one call is marked as such."""
    return CodeTest(form=form_of(source), source=source)


def stdio(given: str, wanted: str) -> CodeTest:
    """A test of a whole program by what it writes."""
    return CodeTest(form="stdio", source=given, expected=wanted)


def program(source: str | None) -> Tests:
    """A suite of one test that stands behind the solution as a program; none without a text."""
    return (CodeTest(form="program", source=source),) if source and source.strip() else ()


def named(**suites: Tests) -> dict[str, Tests]:
    """Suites by name, without the empty ones."""
    return {name: tests for name, tests in suites.items() if tests}


def source_of(task_id: str) -> str | None:
    """``code/HumanEval`` of ``HumanEval/12``; None for ids of another kind."""
    name, slash, _ = task_id.partition("/")
    return f"code/{name}" if slash and name.strip() else None
