"""Contest problems: APPS, TACO and LiveCodeBench, whose tests are embedded texts."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

import pytest

from tests.unit.data.formats.code.documented_rows import EXAMPLES, problem, read, refused, suites
from workbench.core.code import CodeTest, ProblemRecord, SolutionRecord


def test_apps_reads_and_writes_and_its_solutions_were_accepted() -> None:
    found = read("apps", {**EXAMPLES["apps"], "solutions": json.dumps(["print(1)", "print(2)"])})
    assert [type(record) for record in found] == [ProblemRecord, SolutionRecord, SolutionRecord]
    first, second = found[0], found[2]
    assert isinstance(first, ProblemRecord)
    assert isinstance(second, SolutionRecord)
    assert (first.problem.task_id, first.problem.canonical) == ("APPS/0", "print(1)")
    assert first.problem.suites["base"] == (CodeTest(form="stdio", source="1 2\n", expected="3\n"),)
    assert (second.key, second.gold) == ("APPS/0/1", True)


def test_calls_in_json_compare_as_their_own_checker_does() -> None:
    record = problem("taco")
    assert suites(record)["base"] == [("expression", "assert as_list(candidate([1], [2])) == [1, 2]")]
    assert record.problem.seconds == 2.0
    assert record.problem.task_id == problem("taco", difficulty="HARD").problem.task_id
    unwrapped = {"fn_name": "f", "inputs": [[1], [2.5]], "outputs": [True, None]}
    assert suites(problem("taco", input_output=json.dumps(unwrapped)))["base"] == [
        ("expression", "assert candidate(1) == True"),
        ("expression", "assert candidate(2.5) == None"),
    ]
    lines = {"inputs": [["1", "2"], 7], "outputs": [["3"], "7\n"]}
    tests = problem("taco", input_output=json.dumps(lines)).problem.suites["base"]
    assert [(test.source, test.expected) for test in tests] == [("1\n2", "3"), ("7", "7\n")]
    assert problem("taco", input_output="", solutions="").problem.suites == {}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "[" * 100_000,
        '{"inputs": [1]}',
        '{"inputs": ["a"], "outputs": []}',
        '{"inputs": ["a"], "outputs": [{}]}',
        '{"inputs": ["a"], "outputs": ["\\u0000"]}',
        '{"inputs": ["a"], "outputs": ["\\ud800"]}',
        '{"inputs": [[NaN]], "outputs": [[1]], "fn_name": "f"}',
        '{"inputs": [["a"]], "outputs": [1], "fn_name": "f()"}',
        '{"inputs": ["a"], "outputs": ["1"], "fn_name": "f"}',
        '{"inputs": [[%s]], "outputs": [[1]], "fn_name": "f"}' % ("9" * 5_000),
    ],
    ids=["cut", "list", "deep", "no outputs", "uneven", "object", "nul", "half", "nan", "name", "args", "huge"],
)
def test_invalid_json_tests_are_rejected(text: str) -> None:
    found = refused("apps", input_output=text)
    assert found.field == "input_output"
    assert found.code in ("bad_json", "wrong_type", "nul", "bad_utf8")


def _packed(value: object, protocol: int = 4) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol=protocol))).decode()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_livecodebench_private_tests_are_read_without_loading_them(protocol: int) -> None:
    tests = json.dumps([{"input": "2\n", "output": "é" * 300, "testtype": "stdin"}])
    record = problem("livecodebench", private_test_cases=_packed(tests, protocol))
    assert [test.expected for test in record.problem.suites["base"]] == ["1\n", "é" * 300]
    assert len(record.problem.suites["public"]) == 1
    plain = problem("livecodebench", private_test_cases=tests)
    assert plain.problem.suites == record.problem.suites


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (_loaded, ())


def _loaded() -> str:
    raise AssertionError("a pickle was loaded")


@pytest.mark.parametrize(
    "text",
    [
        _packed(_Evil()),
        _packed(["[]"]),
        _packed(7),
        _packed(b"[]"),
        "bm8gemxpYg==",
        "no base64!",
        base64.b64encode(zlib.compress(b"\x80\x04.")).decode(),
        base64.b64encode(zlib.compress(b"\x80\x04\x8c")).decode(),
        base64.b64encode(zlib.compress(pickle.dumps("[]"))[:-5]).decode(),
    ],
    ids=["runs", "list", "number", "bytes", "no zlib", "no base64", "nothing", "cut pickle", "cut zlib"],
)
def test_any_other_pickle_is_rejected(text: str) -> None:
    found = refused("livecodebench", private_test_cases=text)
    assert (found.code, found.field) == ("unsupported", "private_test_cases")


def test_a_decompression_bomb_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.data.formats.code.contests.LONGEST", 1 << 20)
    found = refused("livecodebench", private_test_cases=_packed(" " * (2 << 20)))
    assert found.code == "unsupported"


def test_livecodebench_calls_have_an_argument_a_line() -> None:
    tests = [{"input": '[1, "a"]\nnull', "output": "[true]", "testtype": "functional"}]
    record = problem(
        "livecodebench",
        public_test_cases=json.dumps(tests),
        private_test_cases="",
        metadata=json.dumps({"func_name": "solve"}),
    )
    assert suites(record)["base"] == [("expression", "assert as_list(candidate([1, 'a'], None)) == [True]")]
    assert "Solution().solve if 'Solution' in globals() else solve" in record.problem.setup
    assert refused("livecodebench", public_test_cases=json.dumps(tests)).field == "public_test_cases"
