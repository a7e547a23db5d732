"""Test code is split by its syntax tree, and only where that changes nothing."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from workbench.data.formats.code.evalplus import LONGEST, SplitSource, split_check, split_module

EVALPLUS = """
import numpy as np

def is_floats(x) -> bool:
    # check if it is float; List[float]; Tuple[float]
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False


def assertion(out, exp, atol):
    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        np.testing.assert_allclose(out, exp, atol=atol)
    else:
        assert exact_match

"""
LOOP = "for i, (inp, exp) in enumerate(zip(inputs, results)):\n"


def sources(split: SplitSource) -> list[str]:
    return [test.source for test in split.tests]


def forms(split: SplitSource) -> list[str]:
    return [test.form for test in split.tests]


def check(*lines: str) -> SplitSource:
    return split_check("def check(candidate):\n" + "".join(f"    {line}\n" for line in lines), "f")


def test_plain_assertions_are_tests_as_they_are_written() -> None:
    split = check('"""Checks."""', "assert candidate(1) == 2, 'one'", "assert True", "assert candidate((1,)) == (  1,)")
    assert sources(split) == ["assert candidate(1) == 2, 'one'", "assert candidate((1,)) == (  1,)"]
    assert forms(split) == ["expression", "expression"]
    assert split.setup == "candidate = f"


def test_a_test_keeps_the_statements_before_it_that_it_needs() -> None:
    split = check("import math", "x = 4", "y = 5", "assert candidate(x) == 2", "assert candidate(9) == math.pi")
    assert sources(split) == [
        "x = 4\nassert candidate(x) == 2",
        "import math\nassert candidate(9) == math.pi",
    ]


def test_tests_after_a_statement_with_effects_are_not_split() -> None:
    split = check("candidate(0)", "x = [1]", "assert candidate(1) == 1")
    assert sources(split) == []


def test_tests_that_may_affect_each_other_are_not_split() -> None:
    assert not check("x = [2, 1]", "assert candidate(x) is None", "assert x == [1, 2]").tests
    assert not check("x = [2, 1]", "for n in x:", "    assert candidate(n) == x", "assert x == [1, 2]").tests
    assert not check("for n in range(3):", "    assert candidate(n) == n", "assert n == 2").tests
    assert sources(check("x = [2, 1]", "assert candidate(x) is None", "assert candidate([]) == []")) == [
        "x = [2, 1]\nassert candidate(x) is None",
        "assert candidate([]) == []",
    ]


def test_a_loop_that_is_not_over_literals_is_one_test() -> None:
    split = check("assert candidate(1) == 1", "for n in range(3):", "    assert candidate(n) == n")
    assert sources(split) == ["assert candidate(1) == 1", "for n in range(3):\n    assert candidate(n) == n"]


def test_a_loop_over_literals_gives_a_test_a_round() -> None:
    split = check("for i, n in enumerate([[4], [5]]):", "    m = n[0]", "    assert candidate(m) == m + i")
    assert sources(split) == [
        "i = 0\nn = [4]\nm = n[0]\nassert candidate(m) == m + i",
        "i = 1\nn = [5]\nm = n[0]\nassert candidate(m) == m + i",
    ]


@pytest.mark.parametrize(
    "body",
    [
        ["for n in [1, 2]:", "    if n == 2:", "        break", "    assert candidate(n) == n"],
        ["xs = [1, 2]", "for n in xs:", "    assert candidate(n) == xs[0]"],
        ["for n in [*a, 2]:", "    assert candidate(n) == n"],
        ["for a, b in [(1, 2)]:", "    assert candidate(a) == b"],
        ["for n in sorted([2, 1]):", "    assert candidate(n) == n"],
        ["for n in [1]:", "    assert candidate(n) == n", "else:", "    pass"],
    ],
    ids=["left early", "the list itself is read", "a star", "pairs", "a call", "else"],
)
def test_a_loop_that_cannot_be_unrolled_stays_one_test(body: list[str]) -> None:
    assert len(check(*body).tests) == 1


def test_evalplus_rounds_without_tolerance_are_compared_outside() -> None:
    body = f"inputs = [[1, (2, 3)], [], [0.5]]\n    results = [3, {{'a': None}}, 0.25]\n    {LOOP}"
    split = split_check(
        f"{EVALPLUS}\ndef check(candidate):\n    {body}        assertion(candidate(*inp), exp, 0)\n", "f"
    )
    assert sources(split) == [
        "assert candidate(1, (2, 3)) == 3",
        "assert candidate() == {'a': None}",
        "inp = [0.5]\nexp = 0.25\nassertion(candidate(*inp), exp, 0)",
    ]
    assert forms(split) == ["expression", "expression", "statement"]
    assert "numpy" not in split.setup
    assert split.setup.endswith("candidate = f")


def test_a_modified_evalplus_comparison_is_unchanged() -> None:
    other = EVALPLUS.replace("atol = 1e-6", "atol = 1e-2")
    body = f"inputs = [[1]]\nresults = [3]\n{LOOP}    assertion(f(*inp), exp, 0)\n"
    split = split_module(other + body, "f")
    assert sources(split) == ["inp = [1]\nexp = 3\nassertion(f(*inp), exp, 0)"]
    assert "import numpy as np" in split.setup
    assert "0.01" in split.setup


def test_a_module_of_checks_gets_the_name_it_calls() -> None:
    body = f"from math import inf\ninputs = [[1], [2]]\nresults = [3, inf]\n{LOOP}"
    called = split_module(f"{EVALPLUS}{body}    assertion(candidate(*inp), exp, 0.5)\n", "f")
    assert sources(called) == [
        "inp = [1]\nexp = 3\nassertion(candidate(*inp), exp, 0.5)",
        "inp = [2]\nexp = inf\nassertion(candidate(*inp), exp, 0.5)",
    ]
    assert called.setup.startswith("from math import inf\n")
    assert called.setup.endswith("candidate = f")
    direct = split_module(f"{EVALPLUS}{body}    assertion(f(*inp), exp, 0)\n", "f")
    assert sources(direct)[0] == "assert f(1) == 3"
    assert "candidate" not in direct.setup


def test_a_check_through_a_helper_keeps_the_helper() -> None:
    source = (
        "def same(a, b):\n    assert a == b\n\nMETADATA = {'author': 'me'}\n\ndef check(candidate):\n"
        "    same(candidate(1), 2)\n\ncheck(f)\n"
    )
    split = split_check(source, "f")
    assert sources(split) == ["same(candidate(1), 2)"]
    assert split.setup == "def same(a, b):\n    assert a == b\ncandidate = f"


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def check(candidate:",
        "assert f(1) == 1",
        "def check():\n    assert f(1) == 1",
        "def check(candidate):\n    pass",
        "def check(candidate):\n    try:\n        assert candidate(1) == 1\n    except ValueError:\n        pass",
        "def check(candidate):\n    assert candidate(1) == 1\n    candidate(2)",
        "def check(candidate):\n    x = 0\n    x += 1\n    assert candidate(x) == 1",
        "print('at import')\ndef check(candidate):\n    assert candidate(1) == 1",
        "def check(candidate):\n    assert candidate(" + "(" * 100_000,
        "def check(candidate):\n    assert candidate('" + "x" * LONGEST + "') == 1",
    ],
    ids=[
        "nothing",
        "no Python",
        "no check",
        "no parameter",
        "no assertion",
        "a try",
        "a call behind them",
        "a sum",
        "does something outside",
        "too deep",
        "too long",
    ],
)
def test_code_that_cannot_be_split_stays_whole(source: str) -> None:
    assert split_check(source, "f") == SplitSource()


def test_line_ends_of_another_system_change_nothing() -> None:
    assert check("assert candidate('a') == 1") == split_check(
        "def check(candidate):\r\n    assert candidate('a') == 1\r\n", "f"
    )


def test_real_checks_split_as_the_shared_data_has_them(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "code" / "problems.jsonl").read_text().splitlines()]
    for row in rows:
        split = split_check(row["whole_test"], row["entry_point"])
        assert [ast.unparse(ast.parse(source)) for source in sources(split)] == row["tests"], row["task_id"]
        assert split.setup == row["setup"]


DEEP = "+".join("1" * 950)


@pytest.mark.parametrize(
    "lines",
    [
        [f"x = f({DEEP})", "assert candidate(x) == 1"],
        ["assert candidate(1) == 1", "for n in range(2):", f"    assert candidate(n) == {DEEP}"],
    ],
    ids=["before", "in a loop"],
)
def test_code_too_deep_to_be_written_again_stays_whole(lines: list[str]) -> None:
    assert check(*lines) == SplitSource()


def test_tests_that_repeat_too_much_stay_whole() -> None:
    long = "x" * 100_000
    assert check(f"x = {long!r}", *["assert candidate(x) == 1"] * 1000) == SplitSource()
    assert len(check(f"for n in [{'1,' * 1000}]:", f"    assert candidate(n) == {long!r}").tests) == 1
