"""Tests in the formats of data sets: next to a solution in a row, or as the text of a reference.

They are JSON or plain statements: the output of ``code evolve --export`` (its lines, or verl's ``ground_truth`` in
them), workbench's own lines of problems, lists of assertions or of exchanges (an input and its output), ``inputs`` and
``outputs`` as in APPS and verl's
data sets.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from workbench.core.code import BASE, WHOLE, CodeTest, Problem, StdioTest, TestLine
from workbench.core.code_tests.assertion import LONGEST, Sources, form_of, parsed
from workbench.core.columns import FieldError, column, is_missing, text
from workbench.core.errors import UsageError
from workbench.core.installed import find_page, require_app

COLUMNS: Final = ("tests", "ground_truth", "reward_model", "input_output", "test_list")
"""Usual names of a column of tests."""
BESIDE: Final = (
    *("entry_point", "setup", "language", "seconds", "pass_rates"),
    *("plus_tests", "whole_test", "suites"),
)
"""Columns with additional data about the tests in ``tests``."""
_REMEMBERED: Final = 4_096
MAX_TESTS: Final = 1 << 15
"""Maximum tests of a completion that are parsed, which takes some three seconds; stored problems have a few hundred."""
_Rate = Annotated[float, Meta(ge=0, le=1)]


class RowTests(Struct, frozen=True, kw_only=True):
    """A problem's tests in a row; other keys of the row are ignored.

    Attributes:
        tests: The suite ``base``.
        plus_tests: The suite ``plus``.
        whole_test: The suite ``whole``: one program appended to the solution.
        suites: Suites of other names.
        pass_rates: The share of solutions that pass each test of ``base``.
    """

    tests: list[TestLine] = []
    plus_tests: list[TestLine] = []
    whole_test: str | None = None
    suites: dict[str, list[TestLine]] = {}
    entry_point: str | None = None
    setup: str | None = None
    language: str | None = None
    seconds: Annotated[float, Meta(gt=0)] | None = None
    pass_rates: list[_Rate] | None = None


class RowProblem(Struct, frozen=True):
    """A problem, and the pass rates of its tests.

    Attributes:
        rates: The share of solutions that pass each test of ``base``; None if unknown.
    """

    problem: Problem
    rates: tuple[float, ...] | None


def tests_text(name: str, value: object) -> str:
    """Return tests as the text of a reference: data that is not text becomes JSON.

    Raises:
        FieldError: The value can't be serialised.
    """
    plain = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(plain, Mapping | Sequence) or isinstance(plain, str):
        return text(name, plain)
    try:
        return msgspec.json.encode(plain, enc_hook=_to_list).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise FieldError(name, f"holds no tests: {error}") from error


def _to_list(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} can't be written as JSON")


def tests_columns(columns: Mapping[str, Any], wanted: str | None, length: int) -> list[str | None]:
    """Return the tests of each row of a data set; None for a row without any.

    Args:
        wanted: The column's name; by default the one of `COLUMNS` that exists.

    Raises:
        UsageError: The column doesn't exist.
        FieldError: A value is not a test.
    """
    there = [name for name in ((wanted,) if wanted is not None else COLUMNS) if name in columns]
    if not there:
        raise FieldError(wanted or COLUMNS[0], "is missing: the tests must be in a column")
    name = there[0]
    values = column(name, columns[name], length)
    beside = (
        {more: column(more, columns[more], length) for more in BESIDE if more in columns} if name == "tests" else {}
    )
    return [
        None
        if is_missing(value)
        else _tests_of_row(name, row, value, {more: given[row] for more, given in beside.items()})
        for row, value in enumerate(values)
    ]


def _tests_of_row(name: str, row: int, value: Any, beside: dict[str, Any]) -> str:
    place = f"{name}[{row}]"
    if name == "reward_model":
        if not isinstance(value, Mapping) or "ground_truth" not in value:
            raise FieldError(place, "must be an object with ground_truth")
        return tests_text(f"{place}.ground_truth", value["ground_truth"])
    known = {more: given for more, given in beside.items() if not is_missing(given)}
    return tests_text(place, {"tests": value, **known} if known and not isinstance(value, str | Mapping) else value)


def problem_of(given: str) -> RowProblem:
    """Parse the tests in a text.

    Raises:
        UsageError: The text has no valid tests; the message gives the reason.
    """
    document = _parse_json(given)
    if document is None:
        return RowProblem(Problem(task_id="", suites={BASE: _parse_statements(given)}), None)
    if isinstance(document, list):
        document = {"tests": document}
    # If rows come from columns, each row has the keys of all.
    document = {name: value for name, value in document.items() if value is not None}
    if isinstance(inner := document.get("reward_model"), dict) and "tests" not in document:
        return problem_of(tests_text("reward_model.ground_truth", inner.get("ground_truth")))
    if "inputs" in document:
        return RowProblem(_problem_of_exchanges(document), None)
    if "assert_case" in document:
        document = {**document, "tests": document["assert_case"]}
    try:
        found = msgspec.convert(document, RowTests)
    except msgspec.ValidationError as error:
        raise UsageError(f"The tests can't be read: {error}.", f"{find_page('rewards')} shows the forms.") from error
    return RowProblem(_problem(found), _rates(found))


problem_in: Final = lru_cache(_REMEMBERED)(problem_of)
"""The cached `problem_of`: a training repeats its problems."""


def _parse_json(given: str) -> Any:
    if given.lstrip()[:1] not in ("{", "["):
        return None
    try:
        found = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError) as error:
        if parsed(given) is not None:
            return None
        raise UsageError(f"The tests are not valid JSON: {error}.") from error
    return found if isinstance(found, dict | list) else None


def _parse_statements(given: str) -> tuple[CodeTest, ...]:
    if len(given) > LONGEST:
        raise UsageError(
            f"The tests are {len(given):,} characters of Python; at most {LONGEST:,} are read.",
            "Give them as JSON, or give fewer.",
        )
    tree = parsed(given)
    if tree is None:
        raise UsageError("The tests are neither JSON nor Python.", f"{find_page('rewards')} shows the forms.")
    _require_test_count(tree.body)
    if all(isinstance(statement, ast.Assert) for statement in tree.body):
        return tuple(map(_test_of_source, map(Sources(given).of, tree.body)))
    return (CodeTest(form="program", source=given),)


def _test_of_source(source: str) -> CodeTest:
    return CodeTest(form=form_of(source), source=source)


def _problem_of_exchanges(document: Mapping[str, Any]) -> Problem:
    require_app("Tests given as inputs and outputs")
    from workbench.data.formats.code.contests import candidate_setup, tests_of
    from workbench.data.formats.lines import RefusedError

    try:
        function, tests = tests_of(document, "the tests")
    except RefusedError as error:
        raise UsageError(error.message) from error
    _require_test_count(tests)
    return Problem(
        task_id="",
        entry_point=function,
        setup=candidate_setup(function) if function else "",
        suites={BASE: tuple(tests)},
    )


def _problem(found: RowTests) -> Problem:
    suites = {BASE: found.tests, "plus": found.plus_tests, **found.suites}
    _require_test_count([*(found.whole_test or "")[:1], *(test for tests in suites.values() for test in tests)])
    read = {name: tuple(map(_test, tests)) for name, tests in suites.items() if tests}
    if found.whole_test:
        read[WHOLE] = (CodeTest(form="program", source=found.whole_test),)
    return Problem(
        task_id="",
        entry_point=found.entry_point or None,
        setup=found.setup or "",
        language=found.language or "python",
        seconds=found.seconds,
        suites=read,
    )


def _test(line: TestLine) -> CodeTest:
    if isinstance(line, StdioTest):
        return CodeTest(form="stdio", source=line.input, expected=line.output)
    return _test_of_source(line)


def _require_test_count(tests: Sequence[Any]) -> None:
    if not tests:
        raise UsageError("There are no tests.", f"{find_page('rewards')} shows the forms.")
    if len(tests) > MAX_TESTS:
        raise UsageError(f"There are {len(tests):,} tests; at most {MAX_TESTS:,} are read.", "Give fewer.")


def _rates(found: RowTests) -> tuple[float, ...] | None:
    if found.pass_rates is None:
        return None
    if len(found.pass_rates) != len(found.tests):
        raise UsageError(f"There are {len(found.pass_rates):,} pass_rates for {len(found.tests):,} tests.")
    return tuple(found.pass_rates)
