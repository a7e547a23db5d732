"""Parsing replies: tests must parse, assert, call the entry point and be new; nothing is executed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.coding.evolution.replies import executable_tests, parse_proposed_tests, parse_rewritten
from workbench.coding.records.evolution import REJECTIONS
from workbench.core.code_tests.broken import LONGEST_TEST, bound_names


def reply_with(*tests: object) -> str:
    return json.dumps({"tests": tests})


@pytest.mark.parametrize(
    "reply",
    [
        reply_with("assert f(1) == 2", "assert f(2) == 3"),
        f"Here they are:\n```json\n{reply_with('assert f(1) == 2', 'assert f(2) == 3')}\n```\nDone.",
        f"<think>{reply_with('assert g(0)')}</think>{reply_with('assert f(1) == 2', 'assert f(2) == 3')}",
        reply_with("assert f(1) == 2", "assert f(2) == 3", "assert f(3)")[:-12],
        reply_with("assert f(1) == 2", 7, None, "assert f(2) == 3"),
        '{"tests": ["assert f(1) == 2",\n "assert f(2) == 3"',
    ],
    ids=["plain", "fenced", "thinking", "cut", "mixed", "open"],
)
def test_tests_are_found_in_a_reply_however_it_is_wrapped(reply: str) -> None:
    assert parse_proposed_tests(reply) == ["assert f(1) == 2", "assert f(2) == 3"]


@pytest.mark.parametrize("reply", ["", "no", "{", '{"tests": 3}', "[" * 5000, '{"tests": [' + "[" * 100_000])
def test_a_reply_without_tests_has_no_tests(reply: str) -> None:
    taken = executable_tests(reply, ["f"], [])
    assert (taken.tests, taken.proposed) == ((), 0)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("assert f(", "no_python"),
        ("assert f(" + "(" * 500 + "1" + ")" * 500 + ")", "no_python"),
        (f"assert f({'1+' * (LONGEST_TEST // 2)}1)", "no_python"),
        ("assert f(" + "-" * 200 + "1) == 1", "no_python"),
        ("x = f(1)", "no_assert"),
        ("assert f(1) == 1; assert f(2) == 2", "no_assert"),
        ("import os", "no_assert"),
        ("assert False", "no_call"),
        ("assert 1 == 1", "no_call"),
        ("assert sorted([1]) == [1]", "no_call"),
        ("assert g(1) == 2", "no_call"),
        ("assert (f := 3)", "reaches_out"),
        ("assert f(open('/etc/passwd').read()) == 1", "reaches_out"),
        ("assert f(random.random()) == 1", "reaches_out"),
        ("assert f.__globals__", "reaches_out"),
        ("assert f(().__class__.__base__.__subclasses__()) == 1", "reaches_out"),
        ("assert f(__import__('os').getpid()) == 1", "reaches_out"),
        ("assert  f( 1 )==2 , 'why'", "duplicate"),
    ],
)
def test_a_test_is_rejected_with_a_reason(source: str, code: str) -> None:
    taken = executable_tests(reply_with(source), ["f"], ["assert f(1) == 2"])
    assert (taken.tests, dict(taken.rejected)) == ((), {code: 1})
    assert code in REJECTIONS


def test_forms_are_recognised_and_duplicates_rejected() -> None:
    taken = executable_tests(
        reply_with("assert f(1) == 2", "assert f(1)==2", "assert -1 < f(0.5) < 1", "assert sorted(f([2])) == [2]"),
        ["f"],
        [],
    )
    assert [test.form for test in taken.tests] == ["expression", "statement", "expression"]
    assert taken.rejected == {"duplicate": 1}


def test_the_entry_point_and_its_aliases_come_from_the_data() -> None:
    assert bound_names("candidate = solve\nother, third = 1, 2") == ["candidate", "other", "third"]
    assert bound_names("candidate =") == []
    names = ["solve", *bound_names("candidate = solve")]
    assert (
        len(executable_tests(reply_with("assert candidate(1)", "assert solve(2)", "assert sorted(3)"), names, []).tests)
        == 2
    )


def test_without_an_entry_point_any_call_but_a_builtin_s_counts() -> None:
    assert len(executable_tests(reply_with("assert thing(1)", "assert len([])", "assert True"), [], []).tests) == 1


def test_a_rewritten_problem_needs_all_its_parts() -> None:
    whole = {"question": "Do.", "entry_point": "f", "solution": "def f(): ...", "tests": ["assert f() is None"]}
    found = parse_rewritten(f"```json\n{json.dumps(whole)}\n```")
    assert found is not None
    assert (found.entry_point, found.tests) == ("f", ("assert f() is None",))
    for name in whole:
        assert parse_rewritten(json.dumps({**whole, name: None})) is None
    assert parse_rewritten(json.dumps({**whole, "entry_point": "not a name"})) is None


@given(st.text() | st.text('{}[]",:tesassrtf()=1 \\', max_size=60))
def test_any_text_is_read_without_an_error(reply: str) -> None:
    executable_tests(reply, ["f"], [])
    executable_tests(json.dumps({"tests": [reply]}), ["f"], [reply])
    parse_rewritten(reply)
