"""Tests that can say nothing of any solution."""

from __future__ import annotations

import pytest

from workbench.core.code import CodeTest, Form, Problem
from workbench.core.code_tests.broken import Fault, broken_tests

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
def test_a_broken_test_is_told_by_its_text(source: str, fault: Fault | None) -> None:
    found = broken_tests(ADD, [CodeTest(form="statement", source=source)])
    assert found == ({} if fault is None else {0: fault})


@pytest.mark.parametrize(
    ("setup", "entry_point"), [("exec('ad = 3')", "add"), ("from tools import *", "add"), ("candidate = add", None)]
)
def test_where_a_name_may_come_from_anywhere_it_breaks_no_test(setup: str, entry_point: str | None) -> None:
    problem = Problem(task_id="add", setup=setup, entry_point=entry_point)
    assert broken_tests(problem, [CodeTest(form="statement", source="assert ad(1, 2) == 3")]) == {}


@pytest.mark.parametrize(
    ("form", "language"), [("program", "python"), ("stdio", "python"), ("statement", "javascript")]
)
def test_other_tests_are_not_judged_by_pythons_grammar(form: Form, language: str) -> None:
    problem = Problem(task_id="add", language=language, entry_point="add")
    assert broken_tests(problem, [CodeTest(form=form, source="let x = (", expected="")]) == {}


def test_another_interpreter_has_a_grammar_of_its_own() -> None:
    tests = [CodeTest(form="statement", source=source) for source in ("assert add(", "assert ad(1)", "assert 0")]
    assert broken_tests(ADD, tests, grammar=False) == {1: "nothing", 2: "constant"}
