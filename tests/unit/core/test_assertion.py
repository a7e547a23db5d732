"""Tests that are an assertion about a single call, recognised by parsing only."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.code_tests.assertion import LONGEST, assertion_of, form_of

EXPRESSIONS = {
    "plain": ("assert f(1) == 2", "f(1)", "2"),
    "with a message": ("assert f(1) == 'a', 'no'", "f(1)", "'a'"),
    "in brackets": ("assert (f(1) ==\n  (1, [2.5, None], {'a': {3}}))", "f(1)", "(1, [2.5, None], {'a': {3}})"),
    "negative": ("assert f('é') == -1j", "f('é')", "-1j"),
    "empty set": ("  \nassert f() == set()\n", "f()", "set()"),
    "wide characters": ("assert f('日本') == b'\\x00'", "f('日本')", "b'\\x00'"),
    "many numbers": ("assert f(0.5) == " + repr([0.5] * 50_000), "f(0.5)", repr([0.5] * 50_000)),
    "many braces": ("assert f('f') == " + repr([{}] * 50_000), "f('f')", repr([{}] * 50_000)),
    "a computed value": ("assert f(1) == (1 + 1, 2 * -3)", "f(1)", "(1 + 1, 2 * -3)"),
    "a set": ("assert f(1) == set([1, 2])", "f(1)", "set([1, 2])"),
    "converted": ("assert sorted(f(1), reverse=True) == sorted((1, 2))", "f(1)", "sorted((1, 2))"),
    "in brackets of its own": ("assert (f(1)) == 2", "f(1)", "2"),
    "near": ("assert 1e-6 > abs(2.5 - f(1))", "f(1)", "True"),
    "comment": ("assert f(1) == 2  # two", "f(1)", "2"),
}
STATEMENTS = {
    "no equality": "assert f(1) != 2",
    "a chain": "assert f(1) == f(2) == 2",
    "the literal on the left": "assert 2 == f(1)",
    "what takes long to compute": "assert f(1) == 10 ** 10 ** 10",
    "a long product": "assert f(1) == " + " * ".join(["9" * 300] * 9),
    "what can't be computed": "assert f(1) == 1 / 0",
    "a member that can't be in a set": "assert f(1) == set([[1]])",
    "members that may all hash alike": "assert f(1) == set([" + ",".join(["1"] * 6_000) + "])",
    "a name": "assert f(1) == inf",
    "negated": "assert not f(1) == 2",
    "two statements": "x = 1\nassert f(x) == 2",
    "binds a name": "assert (x := f(1)) == 2",
    "awaits": "assert (await f(1)) == 2",
    "syntax error": "assert f(1 == 2",
    "no assert": "f(1) == 2",
    "empty": "",
    "NUL": "assert f(1) == '\0'",
    "half a character": "assert f('\ud800') == 1",
    "huge number": "assert f(1) == " + "9" * 5_000,
    "deep literal": "assert f(1) == " + "[" * 150 + "]" * 150,
    "deep beyond parsing": "assert f(1) == " + "(" * 50_000,
    "keys that may all hash alike": "assert f(1) == {" + ",".join(str(n * (2**61 - 1)) for n in range(6_000)) + "}",
    "a module's long name": "import " + "a." * 100_000 + "a",
    "a module's long name over lines": "from x." + "a.\\\n" * 100_000 + "a import b",
    "many fields": "assert f'" + "{x}" * 100_000 + "' == 1",
    "many fields over lines": 'assert f"""' + "{x}\n" * 100_000 + '""" == 1',
    "deep operators": "assert f(" + "-" * 100_000 + "1) == 1",
    "too long": "assert f(1) == '" + "x" * LONGEST + "'",
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_the_sides_of_an_assertion_are_extracted_verbatim(name: str) -> None:
    source, left, right = EXPRESSIONS[name]
    found = assertion_of(source)
    assert found is not None
    assert (found.left, found.right) == (left, right)
    assert form_of(source) == "expression"


@pytest.mark.parametrize("name", STATEMENTS)
def test_other_tests_run_as_statements(name: str) -> None:
    assert form_of(STATEMENTS[name]) == "statement"


@given(st.text(alphabet="assert f()=[]{}'\"\\\n\t:;,.+-*#0123456789axé\0\ud800", max_size=60))
def test_any_text_can_be_parsed(text: str) -> None:
    assert form_of(text) in ("expression", "statement")


@given(
    left=st.sampled_from(["f('é',\n 2)", "f( [1,\r 2] )", "f('''a\r\nb\x0c''')", "g()"]),
    right=st.sampled_from(["[1,\r\n 'é']", "'''a\n\u2028b'''", "(1,\n\n2)", "-3"]),
    end=st.sampled_from(["", " , 'é'", ",f(\n'ü')", "\n\x0c", "  # é"]),
)
def test_sides_are_extracted_as_python_does(left: str, right: str, end: str) -> None:
    source = f"assert {left} == {right}{end}"
    found = assertion_of(source)
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Assert)
    assert isinstance(statement.test, ast.Compare)
    sides = [statement.test.left, *statement.test.comparators]
    assert found is not None
    assert [found.left, found.right] == [ast.get_source_segment(source, side) for side in sides]
