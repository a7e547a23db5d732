"""Tests parsed from replies: the tagged text, dropped tests with reasons, and hostile replies."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from workbench.coding.options import SuiteOptions
from workbench.coding.synthesis.tests import FILTERS, MAX_FOUND_TESTS, ParsedTests, extracted, read_tests
from workbench.core.code import Problem

ADD = Problem(task_id="own/add", prompt="", entry_point="add", setup="candidate = add")
AS_RELEASED = SuiteOptions()
STRICT = SuiteOptions(filters="all")


def tagged(*tests: str) -> str:
    return "\n".join(f"<assertion>{test}</assertion>" for test in tests)


def sources(written: ParsedTests) -> list[str]:
    return [test.source for test in written.tests]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (tagged("assert a", "assert b"), ["assert a", "assert b"]),
        ("<assertion>\nassert a\n</assertion>", ["\nassert a\n"]),
        ("<assertion> assert a </assertion>", [" assert a "]),
        ("<Assertion>assert a</Assertion><ASSERTION>b</ASSERTION>", []),
        ("<assertion>```python\nassert a\n```</assertion>", ["```python\nassert a\n```"]),
        ("<assertion>assert a</assertion><assertion>assert b", ["assert a"]),
        ("<assertion>assert f('</assertion>') == 1</assertion>", ["assert f('"]),
        ("<assertion>a <assertion>b</assertion>c</assertion>", ["a <assertion>b"]),
        ("</assertion><assertion></assertion>", [""]),
        (f"<think>{tagged('no')}</think>{tagged('no')}</think> {tagged('yes')}", ["yes"]),
        (f"<think>{tagged('kept, it never ends')}", ["kept, it never ends"]),
        (f"{tagged('no')}</think>", []),
        ("<assertion>assert '\ud800'</assertion>", ["assert '?'"]),
        ("", []),
    ],
)
def test_the_text_between_the_tags_is_extracted(reply: str, found: list[str]) -> None:
    assert extracted(reply) == found


@given(st.lists(st.sampled_from(["<assertion>", "</assertion>", "</think>", "<think>", "a", "\n", " "]), max_size=30))
def test_parsing_equals_the_released_expression(parts: list[str]) -> None:
    reply = "".join(parts)
    behind = reply.rpartition("</think>")[2]
    assert extracted(reply) == re.findall(r"<assertion>(.*?)</assertion>", behind, re.DOTALL)


def test_blanks_stay_unless_they_are_to_be_stripped() -> None:
    reply = tagged(" assert add(1, 1) == 2", "\nassert add(1, 2) == 3\n", "assert add(1, 3) == 4")
    plain = read_tests(reply, ADD, AS_RELEASED)
    assert sources(plain) == [" assert add(1, 1) == 2", "\nassert add(1, 2) == 3\n", "assert add(1, 3) == 4"]
    assert [test.form for test in plain.tests] == ["statement", "expression", "expression"]
    assert read_tests(reply, ADD, STRICT).dropped == {"no_python": 1}
    stripped = read_tests(reply, ADD, structs.replace(STRICT, strip=True))
    assert sources(stripped) == ["assert add(1, 1) == 2", "assert add(1, 2) == 3", "assert add(1, 3) == 4"]
    assert stripped.dropped == {}


def test_dropped_tests_are_counted_by_reason() -> None:
    written = read_tests(
        tagged(
            "assert add(1, 2) == 3",
            "assert  add( 1,2 )==3, 'in another spelling'",
            "assert add(1, 2) == 4",
            "assert add(1,",
            "assert True",
            "add(1, 2)",
            "import math\nassert math.isclose(add(.1, .2), .3)",
            "assert candidate('a', 'b') == 'ab'",
        ),
        ADD,
        STRICT,
    )
    assert sources(written) == [
        "assert add(1, 2) == 3",
        "assert add(1, 2) == 4",
        "import math\nassert math.isclose(add(.1, .2), .3)",
        "assert candidate('a', 'b') == 'ab'",
    ]
    assert [test.form for test in written.tests] == ["expression", "expression", "statement", "expression"]
    assert (written.found, written.dropped) == (8, {"duplicate": 1, "no_python": 1, "no_call": 1, "no_assert": 1})


@pytest.mark.parametrize("code", FILTERS)
def test_each_filter_can_be_left_out(code: str) -> None:
    reply = tagged("assert add(0, 0) == 0", "assert add(1,", "add(1, 2)", "assert True", "assert add(0,0)==0")
    reply += tagged("assert add(2, 2) == 4")
    one = structs.replace(STRICT, count=1)
    faults = dict.fromkeys(FILTERS, 1)
    assert read_tests(reply, ADD, one).dropped == faults
    rest = read_tests(
        reply, ADD, structs.replace(one, count=1 + (code != "surplus"), filters=",".join({*FILTERS} - {code}))
    )
    assert rest.dropped == {name: 1 for name in faults if name != code}
    assert len(rest.tests) == 2


def test_without_filters_all_tests_are_kept_as_in_the_paper() -> None:
    written = read_tests(tagged("assert add(1,", "assert True", "assert True", ""), ADD, AS_RELEASED)
    assert (sources(written), written.dropped) == (["assert add(1,", "assert True", "assert True", ""], {})


def test_a_problem_that_names_nothing_takes_any_test() -> None:
    nameless = structs.replace(ADD, entry_point=None, setup="")
    assert len(read_tests(tagged("assert True"), nameless, STRICT).tests) == 1


@given(st.integers(1, 30), st.integers(0, 40))
def test_only_the_first_n_tests_are_kept(count: int, there: int) -> None:
    tests = [f"assert add(0, {number}) == {number}" for number in range(there)]
    written = read_tests(tagged(*tests), ADD, structs.replace(STRICT, count=count))
    assert sources(written) == tests[:count]
    assert written.dropped == ({"surplus": there - count} if there > count else {})
    assert written.found == there
    assert sources(read_tests(tagged(*tests), ADD, SuiteOptions(count=count))) == tests


@pytest.mark.parametrize(
    "reply",
    [
        "<assertion>" * 900_000,
        "</assertion>" * 800_000,
        "<assertion></assertion>" * 400_000,
        "<assertion>" + "(" * 10_000_000 + "</assertion>",
        tagged("assert add(" + "-" * 15_000 + "1, 2) == 3"),
        tagged("assert add(" + "[" * 9_000 + "]" * 9_000 + ", 2) == 3"),
        tagged("assert add(" + "1+" * 9_000 + "1, 2) == 3"),
        tagged("assert add(" + "9" * 19_000 + ", 2) == 3"),
        tagged("assert add('\0', 2) == 3"),
        "x" * 10_000_000,
    ],
    ids=["opening", "closing", "empty", "huge", "minus", "deep", "long sum", "huge number", "nul", "prose"],
)
def test_hostile_replies_are_read_in_one_pass(reply: str) -> None:
    written = read_tests(reply, ADD, STRICT)
    assert written.tests == ()
    assert written.found <= MAX_FOUND_TESTS
