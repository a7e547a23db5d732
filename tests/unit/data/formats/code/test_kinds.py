"""Every kind of code file: recognised by its keys, read as documented, never executed or unpickled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.data.formats.code.documented_rows import EXAMPLES, problem, read, read_lines, refused, suites
from workbench.core.code import CodeTest, ProblemRecord, SolutionRecord
from workbench.core.errors import FormatError, UsageError
from workbench.core.item import Refusal
from workbench.data.formats.kinds import KINDS
from workbench.data.formats.reading import plan_file, read_records


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.is_code])
def test_the_documented_row_is_recognised_and_read(name: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(EXAMPLES[name]) + "\n")
    plan = plan_file(file)
    assert plan.format == name
    with read_records(plan) as (records, _):
        found = list(records)
    assert found
    assert not any(isinstance(record, Refusal) for record in found)
    assert isinstance(found[0], ProblemRecord) != plan.needs_problems


def test_the_same_rows_in_other_containers(tmp_path: Path) -> None:
    rows = [EXAMPLES["mbpp"], {**EXAMPLES["mbpp"], "task_id": 12}]
    file = tmp_path / "sanitized.json"
    file.write_text(json.dumps(rows, indent=1))
    plan = plan_file(file)
    assert (plan.format, plan.container) == ("mbpp", "json")
    with read_records(plan) as (records, _):
        assert [record.problem.task_id for record in records if isinstance(record, ProblemRecord)] == ["11", "12"]


def test_a_file_can_be_read_as_items_instead(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(EXAMPLES["humaneval"]) + "\n")
    maps = {"reference": "canonical_solution", "completion": "test"}
    assert plan_file(file, format="jsonl", columns=maps).kind is None
    assert plan_file(file, columns=maps).kind is None
    with pytest.raises(FormatError):
        plan_file(file, format="jsonl")
    with pytest.raises(UsageError, match="--map can't be combined with"):
        plan_file(file, format="humaneval", columns=maps)


def test_a_native_problem_keeps_its_fields() -> None:
    record = problem("problems", level="easy", suites={"hard": ["assert double((1,)) == (1, 1)"], "none": []})
    found = record.problem
    assert (found.task_id, found.entry_point, found.setup) == ("Own/1", "double", "candidate = double")
    assert (found.seconds, found.language, record.source) == (1.0, "python", "code/own")
    assert record.extra == '{"level": "easy"}'
    assert {name: [form for form, _ in tests] for name, tests in suites(record).items()} == {
        "base": ["expression", "expression"],
        "plus": ["expression"],
        "whole": ["program"],
        "hard": ["expression"],
    }


def test_a_problem_may_read_and_write() -> None:
    record = problem("problems", tests=[{"input": "1\n", "output": "2\n"}], entry_point=..., canonical_solution=...)
    assert record.problem.suites["base"] == (CodeTest(form="stdio", source="1\n", expected="2\n"),)
    assert record.problem.canonical == ""


def test_a_solution_keeps_text_label_and_keys() -> None:
    (found,) = read("solutions", {**EXAMPLES["solutions"], "excluded": "twice", "code": " \tx\r\n"})
    assert isinstance(found, SolutionRecord)
    assert (found.key, found.code, found.gold, found.model) == ("Own/1/7", " \tx\r\n", True, "heron-7b")
    assert found.extra == '{"excluded": "twice"}'


@pytest.mark.parametrize(("label", "gold"), [(0, False), (True, True), ("passed", True), ("", None), (None, None)])
def test_labels_of_solutions(label: Any, gold: bool | None) -> None:
    (found,) = read("solutions", {**EXAMPLES["solutions"], "recorded_pass": label})
    assert isinstance(found, SolutionRecord)
    assert found.gold is gold


def test_humaneval_continues_the_prompt() -> None:
    record = problem("humaneval")
    assert record.problem.canonical == record.problem.prompt + "    return n // 2\n"
    assert suites(record)["base"] == [
        ("expression", "assert candidate(4) == 2"),
        ("expression", "assert candidate(-1) == -1"),
        ("statement", "for n in range(3):\n    assert candidate(2 * n) == n"),
    ]
    ((form, whole),) = suites(record)["whole"]
    assert form == "program"
    assert whole.endswith("\n\ncheck(half)\n")


def test_humaneval_tests_that_cannot_be_split_are_one_program() -> None:
    record = problem("humaneval", test="def check(candidate):\n    while True:\n        assert candidate(1)\n")
    assert suites(record)["base"] == suites(record)["whole"]


def test_humaneval_plus_has_its_inputs_together() -> None:
    loop = "for i, inp in enumerate(inputs):\n        assert candidate(*inp)\n"
    test = f"def check(candidate):\n    inputs = [[4], [5]]\n    {loop}"
    assert suites(problem("humaneval", test=test)).keys() == {"plus", "plus_whole"}


def test_evalplus_runs_the_reference_in_the_sandbox() -> None:
    record = problem("evalplus")
    assert suites(record) == {
        "base": [("statement", "assertion(candidate([1, 2]), reference([1, 2]), 0.0)")],
        "plus": [
            ("statement", "assertion(candidate([0.5]), reference([0.5]), 0.0)"),
            ("statement", "assertion(candidate([1, 1, 2]), reference([1, 1, 2]), 0.0)"),
        ],
    }
    assert repr(record.problem.canonical) in record.problem.setup


@pytest.mark.parametrize(
    "changed", [{"entry_point": "sum_div"}, {"entry_point": "find_zero"}], ids=["MBPP+", "HumanEval+"]
)
def test_evalplus_inputs_with_missing_data_are_rejected(changed: dict[str, Any]) -> None:
    assert refused("evalplus", **changed).code == "unsupported"


def test_mbpp_takes_the_entry_point_from_its_tests() -> None:
    record = problem("mbpp", test_setup_code="import math")
    assert (record.problem.task_id, record.problem.entry_point, record.problem.setup) == ("11", "add", "import math")
    assert suites(record)["challenge"] == [("expression", "assert add(0.5, 0.5) == 1.0")]
    ((_, whole),) = suites(record)["whole"]
    assert whole == "import math\nassert add(1, 2) == 3\nassert add(0, -1) == -1"
    nested = problem("mbpp", test_list=["assert sorted(add([1], [])) == [1]"])
    assert nested.problem.entry_point == "add"
    several = problem("mbpp", code="def a(n): pass\ndef b(n): pass", test_list=["assert a(b(1)) == 1"])
    assert several.problem.entry_point is None


def test_mbpp_plus_is_split() -> None:
    loop = "for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assert candidate(*inp) == exp\n"
    test = f"inputs = [[1, 2]]\nresults = [3]\n{loop}"
    record = problem("mbpp", test=test, test_imports=["import re"])
    assert suites(record)["plus"] == [("statement", "inp = [1, 2]\nexp = 3\nassert candidate(*inp) == exp")]
    assert record.problem.setup == "import re\ncandidate = add"


def test_bigcodebench_runs_its_methods_one_by_one() -> None:
    record = problem("bigcodebench")
    assert suites(record)["base"] == [
        ("statement", "run_case('test_case_1')"),
        ("statement", "run_case('test_case_2')"),
    ]
    assert record.problem.canonical == "import math\ndef task_func(x):\n    return math.sqrt(x)\n"
    assert record.extra is not None
    assert json.loads(record.extra)["libs"] == "['math']"
    inherited = "import unittest\nclass Base(unittest.TestCase): pass\nclass TestCases(Base): pass\n"
    assert [form for form, _ in suites(problem("bigcodebench", test=inherited))["base"]] == ["program"]


def test_ranked_solutions_and_their_ground_truth() -> None:
    found = read("scoring-verifiers", EXAMPLES["scoring-verifiers"])
    assert isinstance(found[0], ProblemRecord)
    assert suites(found[0]).keys() == {"base", "plus"}
    solutions = [record for record in found if isinstance(record, SolutionRecord)]
    assert [(one.solution_id, one.gold, one.ground_truth, one.form) for one in solutions] == [
        ("0", True, True, "program"),
        ("1", False, False, "program"),
    ]
    assert solutions[1].extra == '{"rank": 2, "average_test_score": 0.67, "average_time_taken": 0.1}'
    ranked = [{"rank": 1, "solution": "    return 1\n"}, {"rank": 2, "solution": {"code": "x"}}]
    _, first, second = read("scoring-verifiers", {**EXAMPLES["scoring-verifiers"], "all_solutions": ranked})
    assert isinstance(first, SolutionRecord)
    assert isinstance(second, SolutionRecord)
    assert (first.form, first.gold, second.code) == ("continuation", None, "x")
    twice = [{"rank": 1, "solution": "a"}, {"rank": 1, "solution": "b"}]
    assert refused("scoring-verifiers", all_solutions=twice).field == "all_solutions"
    assert refused("scoring-verifiers", all_solutions=[{"rank": 1}]).code == "missing_field"


def test_ranked_solutions_without_tests_that_can_be_read() -> None:
    record = problem("scoring-verifiers", task_id="Mbpp/2")
    assert record.problem.suites == {}
    row = {
        **EXAMPLES["mbpp"],
        "all_solutions": [{"rank": 1, "average_test_score": 1.0, "solution": {"code": "def add(a, b): return a + b"}}],
    }
    first, second = read("scoring-verifiers", row)
    assert isinstance(first, ProblemRecord)
    assert isinstance(second, SolutionRecord)
    assert (first.problem.entry_point, len(first.problem.suites["base"])) == ("add", 2)
    assert (second.form, second.ground_truth) == ("program", True)


def test_samples_are_numbered_within_their_task() -> None:
    rows: list[dict[str, Any]] = [
        {"task_id": "Own/2", "completion": "    return 1"},
        {"task_id": "Own/1", "solution": "def f(): pass", "_identifier": "Own/1_1", "passed": False},
        {"task_id": "Own/2", "response": "```python\n```", "sample_id": 9},
        {"task_id": "Own/2", "completion": "    return 2", "solution": None},
        {"task_id": "Own/2"},
    ]
    *found, bad = read("samples", *rows)
    assert [(one.key, one.form, one.gold) for one in found if isinstance(one, SolutionRecord)] == [
        ("Own/2/0", "continuation", None),
        ("Own/1/0", "program", False),
        ("Own/2/9", "reply", None),
        ("Own/2/2", "continuation", None),
    ]
    assert isinstance(bad, Refusal)
    assert bad.code == "missing_field"


@pytest.mark.parametrize(
    ("name", "changed", "code", "field"),
    [
        ("problems", {"task_id": ...}, "missing_field", "task_id"),
        ("problems", {"task_id": " "}, "missing_field", "task_id"),
        ("problems", {"task_id": 1.5}, "wrong_type", "task_id"),
        ("problems", {"task_id": "x" * 501}, "wrong_type", "task_id"),
        ("problems", {"prompt": 7}, "wrong_type", "prompt"),
        ("problems", {"prompt": "a\0"}, "nul", "prompt"),
        ("problems", {"tests": ["assert f() == 1", 7]}, "wrong_type", "tests"),
        ("problems", {"tests": ["assert f() == 1", " "]}, "wrong_type", "tests"),
        ("problems", {"tests": ["assert f() == '\0'"]}, "nul", "tests"),
        ("problems", {"tests": [{"input": "1"}]}, "wrong_type", "tests"),
        ("problems", {"tests": [{"input": "\0", "output": ""}]}, "nul", "tests"),
        ("problems", {"tests": "assert f() == 1"}, "wrong_type", "tests"),
        ("problems", {"suites": {"base": []}}, "wrong_type", "suites"),
        ("problems", {"suites": {"a\nb": []}}, "wrong_type", "suites"),
        ("problems", {"seconds": 0}, "wrong_type", "seconds"),
        ("problems", {"seconds": "1"}, "wrong_type", "seconds"),
        ("solutions", {"code": None}, "missing_field", "code"),
        ("solutions", {"recorded_pass": 2}, "wrong_type", "recorded_pass"),
        ("solutions", {"form": "poem"}, "wrong_type", "form"),
        ("humaneval", {"test": ["assert"]}, "wrong_type", "test"),
        ("evalplus", {"base_input": [1]}, "wrong_type", "base_input"),
        ("mbpp", {"code": ...}, "missing_field", "code"),
        ("taco", {"solutions": '{"a": 1}'}, "wrong_type", "solutions"),
        ("evolvecoder", {"tests": [None]}, "wrong_type", "tests"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str | dict) else "",
)
def test_rejected_rows_name_the_field(name: str, changed: dict[str, Any], code: str, field: str) -> None:
    found = refused(name, **changed)
    assert (found.code, found.field) == (code, field)
    assert found.message.endswith(".")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"task_id": "a", "prompt": "\\ud800", "tests": []}', "bad_utf8"),
        (b'{"task_id": "a", "prompt": "\xff", "tests": []}', "bad_utf8"),
        (b'{"task_id": "a", "prompt": "p", "tests": ' + b"[" * 50_000, "bad_json"),
        (b"[]", "wrong_type"),
        (b'{"task_id": "a"', "bad_json"),
    ],
    ids=["half", "bytes", "deep", "list", "cut"],
)
def test_invalid_lines_are_rejected(raw: bytes, code: str) -> None:
    (found,) = read_lines("problems", b"\n\n" + raw + b"\n")
    assert isinstance(found, Refusal)
    assert (found.line, found.code) == (3, code)


_KEYS = sorted({key for row in EXAMPLES.values() for key in row})
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
    | st.sampled_from(
        ["assert f(1) == 2", "[]", "{}", '{"inputs": [], "outputs": []}', "def check(candidate):\n assert candidate()"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(EXAMPLES)), st.dictionaries(st.sampled_from(_KEYS), _VALUES, max_size=4))
def test_any_row_is_read_or_refused(name: str, changed: dict[str, Any]) -> None:
    row = msgspec.json.encode({**EXAMPLES[name], **changed})
    found = read_lines(name, row)
    assert found
    for record in found:
        if isinstance(record, ProblemRecord):
            assert record.problem.task_id.strip()
            assert all(record.problem.suites.values())
            "".join(_texts(record)).encode()
        elif isinstance(record, SolutionRecord):
            record.code.encode()


def _texts(record: ProblemRecord) -> Iterator[str]:
    yield from (record.problem.prompt, record.problem.canonical, record.problem.setup, record.extra or "")
    for tests in record.problem.suites.values():
        for test in tests:
            yield from (test.source, test.expected or "")
