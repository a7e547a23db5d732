"""Broken tests, which tell nothing about any solution."""

from __future__ import annotations

import pytest
from msgspec import structs

from workbench.core.code import CodeTest, Form, Problem
from workbench.core.code_tests.broken import Fault, broken_in, broken_tests, with_candidate

ADD = Problem(
    task_id="add",
    prompt="Write add(a, b); a helper twice(a) may be of use.",
    canonical="LIMIT = 9\ndef add(a, b):\n    return a + b\n",
    entry_point="add",
    setup="import math\ncandidate = add",
)


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("assert add(1, 2) == 3", None),
        ("assert candidate(math.pi, LIMIT) > twice(3)", None),
        ("from os import path\nassert path and [add(x, y) for x, y in [(1, 2)]]", None),
        ("try:\n    add(1)\nexcept TypeError as error:\n    assert error", None),
        ("match add(1, 2):\n    case [first, *rest]:\n        assert first and rest", None),
        ("assert True", None),
        ("assert add(1, 2) == 3)", "syntax"),
        (" assert add(1, 2) == 3", "syntax"),
        ("assert add(1, 2) = 3", "syntax"),
        ("return add(1, 2)", "syntax"),
        ("print add(1, 2)", "syntax"),
        ("assert add('\0') == 3", "syntax"),
        ("assert ad(1, 2) == 3", "nothing"),
        ("assert add(1, two) == 3", "nothing"),
        ("assert add(1, 2) == null", "nothing"),
        ("assert False, 'no test'", "constant"),
        ("assert 1 + 1 == 3", "constant"),
        ("assert ()", "constant"),
    ],
)
def test_a_broken_test_is_recognised_by_its_text(source: str, fault: Fault | None) -> None:
    found = broken_tests(ADD, [CodeTest(form="statement", source=source)])
    assert [wrong.fault for wrong in found.values()] == ([] if fault is None else [fault])


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("assert ad(1, 2) == 3", "NameError: name 'ad' is not defined"),
        ("assert add(1, 2) == 3)", "SyntaxError: unmatched ')'"),
        ("assert False, 'no test'", "AssertionError"),
    ],
)
def test_a_broken_test_names_the_error_of_the_reference(source: str, error: str) -> None:
    assert broken_tests(ADD, [CodeTest(form="statement", source=source)])[0].error == error


def called(source: str, **fields: str | None) -> Problem:
    """A problem with one test; fields as in `Problem`."""
    suites: dict[str, tuple[CodeTest, ...]] = {"base": (CodeTest(form="expression", source=source),)}
    return structs.replace(Problem(task_id="add", entry_point="add", suites=suites), **fields)


def test_candidate_is_the_entry_point_unless_defined() -> None:
    bound = with_candidate(called("assert candidate(1, 2) == 3", setup="import math"))
    assert bound.setup == "import math\ncandidate = add"
    assert broken_in(called("assert candidate(1, 2) == 3")) != [] == broken_in(bound)


@pytest.mark.parametrize(
    "problem",
    [
        called("assert add(1, 2) == 3"),
        called("assert 'candidate' == add(1)"),
        called("candidate = 3\nassert add(candidate)"),
        called("assert candidate(1) == 3", setup="def candidate(x):\n    return add(x, 2)"),
        called("assert candidate(1) == 3", prompt="Write add, and candidate beside it."),
        called("assert candidate(1) == 3", entry_point=None),
        called("assert candidate(1) == 3", entry_point="add; import os"),
        called("assert candidate(1) == 3", setup="from tools import *"),
        called("assert candidate(1) == 3", language="javascript"),
    ],
)
def test_tests_that_define_or_never_call_candidate_are_unchanged(problem: Problem) -> None:
    assert with_candidate(problem) is problem


@pytest.mark.parametrize(
    ("setup", "entry_point"), [("exec('ad = 3')", "add"), ("from tools import *", "add"), ("candidate = add", None)]
)
def test_a_name_that_may_be_defined_breaks_no_test(setup: str, entry_point: str | None) -> None:
    problem = Problem(task_id="add", setup=setup, entry_point=entry_point)
    assert broken_tests(problem, [CodeTest(form="statement", source="assert ad(1, 2) == 3")]) == {}


@pytest.mark.parametrize(
    ("form", "language"), [("program", "python"), ("stdio", "python"), ("statement", "javascript")]
)
def test_other_tests_are_not_judged_by_pythons_grammar(form: Form, language: str) -> None:
    problem = Problem(task_id="add", language=language, entry_point="add")
    assert broken_tests(problem, [CodeTest(form=form, source="let x = (", expected="")]) == {}


def test_another_interpreter_may_have_another_grammar() -> None:
    tests = [CodeTest(form="statement", source=source) for source in ("assert add(", "assert ad(1)", "assert 0")]
    found = broken_tests(ADD, tests, grammar=False)
    assert {place: wrong.fault for place, wrong in found.items()} == {1: "nothing", 2: "constant"}
