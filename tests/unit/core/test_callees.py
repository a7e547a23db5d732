"""Tests compared outside: single calls of the tested function by an unshadowed name."""

from __future__ import annotations

import pytest

from workbench.core.code_tests.callees import callees

OUTSIDE = [
    "assert f(3) == 23757",
    "assert candidate(3, key='a', *[1]) == {'a': (1, 2)}",
    "assert f([i * 2 for i in range(3)], lambda x: x + 1, 'a'.join(['b', 'c'])) == 1",
    "assert f(math.inf, tree([1, 2])) == (1 + 2, 3 * 4)",
    "assert tuple(candidate([1])) == tuple([1])",
    "assert set(f(3)) == set((1, 2)), 'no'",
    "assert round(f(3), 6) == 2.5",
    "assert sorted(f(3), reverse=True) == [3, 1]",
    "assert abs(f(3) - 2.5) < 1e-6",
    "assert 1e-6 >= abs(-2 - f(3))",
    "assert math.isclose(f(3), 2.5, rel_tol=1e-9)",
]

INSIDE = [
    "assert (f(3) == 23757) == True",
    "assert (f(3) == 23757) is True",
    "assert not (f(3) != 23757)",
    "assert not f(3)",
    "assert f(3)",
    "assert f(3) != 4",
    "assert f(3) in [1, 2]",
    "assert f(3) is None",
    "assert 1 == f(3) == 1",
    "assert (f(3), f(4)) == (1, 2)",
    "assert [f(3)] == [1]",
    "assert (f(3) == 1, f(4) == 2) == (True, True)",
    "assert all(f(x) == y for x, y in [(1, 2)]) == True",
    "assert any([f(3) == 1])",
    "assert f(3)[0] == 1",
    "assert f(3).value == 1",
    "assert f(3).pop() == 1",
    "assert f(3)(4) == 1",
    "assert f.__wrapped__(3) == 1",
    "assert (lambda: f(3))() == 1",
    "assert (lambda x: x == 23757)(f(3)) == True",
    "assert (f if True else g)(3) == 1",
    "assert [f][0](3) == 1",
    "assert (y := f(3)) == 1",
    "assert f(y := 3) == 1",
    "assert f(f(3) == 1) == True",
    "assert f(g(3)) == 1",
    "assert f(lambda: f(3) == 1) == 1",
    "assert f(key=f(3) == 1) == 1",
    "assert f(**{'a': g(1)}) == 1",
    "assert f((lambda: 0).__globals__) == 1",
    "assert f((x for x in [1]).gi_frame) == 1",
    "assert f(open('x')) == 1",
    "assert f(eval('f(3) == 1')) == 1",
    "assert f(solution) == 1",
    "assert g(3) == 1",
    "assert wrapped(3) == 1",
    "assert near(f(3), 1) == True",
    "assert same(3) == True",
    "assert abs(f(3) - f(4)) < 1e-6",
    "assert abs(f(3) - 1) < f(4)",
    "assert abs(f(3) + 1) < 1",
    "assert isclose(f(3), 1)",
    "assert math.isclose(f(3), 1, rel_tol=f(4))",
    "assert math.isclose(a=f(3), b=1)",
    "assert sorted(f(3), key=lambda x: x == 1) == [1]",
    "assert list(map(f, [1])) == [1]",
    "assert list(list(f(3))) == [1]",
    "assert round(f(3), 10 ** 9) == 1",
    "assert type(f(3)) == 1",
    "assert '%s' % f(3) == '1'",
    "assert f(3) + 1 == 2",
    "assert f'{f(3)}' == '1'",
    "f(3) == 1",
    "x = f(3)\nassert x == 1",
    "for x in [3]:\n    assert f(x) == 1",
]

SETUP = """
import math
def tree(values):
    return [tree(value) if isinstance(value, list) else value for value in values]
def near(a, b):
    return a == b
def same(x, other=f):
    return f(x) == other(x)
candidate = f
wrapped = lambda x: f(x) == 23757
"""


@pytest.mark.parametrize("source", OUTSIDE)
def test_a_call_of_the_tested_function_is_compared_outside(source: str) -> None:
    assert callees("f", SETUP).assertion_outside(source) is not None


@pytest.mark.parametrize("source", INSIDE)
def test_other_tests_are_decided_inside(source: str) -> None:
    assert callees("f", SETUP).assertion_outside(source) is None


@pytest.mark.parametrize(
    ("setup", "entry_point", "outside"),
    [
        ("", "f", False),
        ("candidate = f", "f", True),
        ("candidate = Solution().f if 'Solution' in globals() else f", "f", True),
        ("from math import pi\ncandidate = f", "f", True),
        ("candidate = f", None, True),
        ("candidate = g", "f", False),
        ("candidate = f if f(3) == 1 else f", "f", False),
        ("candidate = Other().f", "f", False),
        ("candidate = f\ncandidate = g", "f", False),
        ("candidate = f\nfor candidate in [g]:\n    pass", "f", False),
        ("def f(x):\n    return True\ncandidate = f", "f", False),
        ("from tools import f\ncandidate = f", "f", False),
        ("from tools import *\ncandidate = f", "f", False),
        ("def change():\n    global f\n    f = print\nx = change()\ncandidate = f", "f", False),
        ("exec('f = print')\ncandidate = f", "f", False),
        ("globals()['f'] = print\ncandidate = f", "f", False),
        ("import sys\ncandidate = f", "f", False),
        ("Solution.f = print\ncandidate = f", "f", False),
        ("candidate: object = lambda x: f(x) == 3", "f", False),
        ("@wrapped\ndef candidate(x):\n    return f(x)", "f", False),
        ("candidate = (", "f", False),
        ("candidate = sorted", None, False),
        ("class Solution:\n    pass\ncandidate = Solution().f", "f", False),
    ],
)
def test_a_setup_may_give_another_name_and_do_nothing_else_to_it(
    setup: str, entry_point: str | None, outside: bool
) -> None:
    assert (callees(entry_point, setup).assertion_outside("assert candidate(3) == True") is not None) is outside


@pytest.mark.parametrize(
    ("source", "outside"),
    [("assert f(3) == 1", True), ("assert sorted([3]) == [3]", False), ("assert print(3) == 1", False)],
)
def test_without_an_entry_point_a_call_counts_that_only_a_solution_can_answer(source: str, outside: bool) -> None:
    assert (callees(None, "").assertion_outside(source) is not None) is outside


def test_a_name_around_the_call_must_be_the_built_in() -> None:
    assert callees("f", "").assertion_outside("assert sorted(f(3)) == [1]") is not None
    assert callees("f", "sorted = print").assertion_outside("assert sorted(f(3)) == [1]") is None
    assert callees("f", "from numpy import isclose").assertion_outside("assert isclose(f(3), 1)") is None
    assert callees("f", "from math import isclose").assertion_outside("assert isclose(f(3), 1)") is not None
    assert callees("sorted", "").assertion_outside("assert sorted(sorted(3)) == [1]") is None
    assert callees("f", "def as_list(x):\n    return [1]").assertion_outside("assert as_list(f(3)) == [1]") is None
