"""Log rows with arbitrary content: never a traceback, and the other rows are still loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.data.formats.logs.documented_logs import EXAMPLES
from workbench.core.item import Refusal
from workbench.data.formats.logs.logged import Grade
from workbench.data.formats.reading import plan_file, read_grades, read_records

REQUEST = {
    "custom_id": "request-1",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {"messages": [{"role": "user", "content": "What is 3 + 4?"}], "metadata": {"reference": "7"}},
}
DEEP = 100_000
CHANGES = 3
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**30, 10**400, -1, float("nan"), float("inf"), -1e308, "\ud800", "\0", "", "A", "['7']"]),
    st.text(max_size=5),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["role", "content", "text", "body", "choices", "type", "message"]), inner),
    ),
    max_leaves=6,
)


def good(name: str, number: int) -> str:
    """A row that can be taken, other than the documented one."""
    text = json.dumps(EXAMPLES[name]).replace("It is", f"By count {number}, it is")
    return text.replace("sums.test.0", f"sums.test.{number}").replace("batch_req_1", f"batch_req_{number}")


def loaded(name: str, folder: Path, *lines: str) -> tuple[list[Any], list[Refusal]]:
    """Write these lines to a file and load it."""
    (folder / "requests.jsonl").write_text(json.dumps(REQUEST) + "\n")
    file = folder / "rows.jsonl"
    file.write_text("\n".join(lines) + "\n")
    return sorted_out(file, name)


def sorted_out(path: Path, format: str) -> tuple[list[Any], list[Refusal]]:
    """The records and refusals of a file; every grade's score is a number, and every refusal says why."""
    plan = plan_file(path, format=format)
    for item, grades in read_grades(plan):
        assert item.completion_key
        scores = [grade.score for grade in grades if isinstance(grade, Grade)]
        assert all(score is None or abs(score) < float("inf") for score in scores)
    with read_records(plan) as (records, _):
        found = list(records)
    refused = [one for one in found if isinstance(one, Refusal)]
    assert all(one.message and one.code for one in refused)
    return [one for one in found if not isinstance(one, Refusal)], refused


@pytest.mark.few(3)
@pytest.mark.parametrize("name", EXAMPLES)
@settings(max_examples=20)
@given(data=st.data())
def test_rows_of_anything(name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    row = dict(EXAMPLES[name])
    for key in data.draw(st.lists(st.sampled_from(sorted(row)), min_size=1, max_size=CHANGES, unique=True)):
        value = data.draw(st.one_of(st.just(...), VALUES))
        if value is ...:
            del row[key]
        else:
            row[key] = value
    folder = tmp_path_factory.mktemp("hostile")
    fine = len(loaded(name, folder, good(name, 1), good(name, 2))[0])
    records, _ = loaded(name, folder, good(name, 1), json.dumps(row), good(name, 2))
    assert len(records) >= fine


def test_lone_surrogates_in_keys_can_be_printed(tmp_path: Path) -> None:
    for format in ("jsonl", "trl-completions"):
        file = tmp_path / "rows.jsonl"
        row = {**EXAMPLES["trl-completions"], "answer": "7", "\ud800": float("nan")}
        file.write_text(json.dumps(row) + "\n")
        with read_records(plan_file(file, format=format)) as (records, _):
            (refused,) = records
        assert isinstance(refused, Refusal)
        assert f"{refused.field} {refused.message}".encode()


@pytest.mark.parametrize("name", EXAMPLES)
def test_deep_and_broken_rows(name: str, tmp_path: Path) -> None:
    key = next(iter(EXAMPLES[name]))
    deep = json.dumps({**EXAMPLES[name], "x": 0}).replace('"x": 0', '"x": ' + "[" * DEEP + "]" * DEEP)
    lines = [good(name, 1), deep, "{", "[]", '"x"', json.dumps({key: "\udfff"}), "\0", '{"x": NaN', good(name, 2)]
    fine = len(loaded(name, tmp_path, good(name, 1), good(name, 2))[0])
    records, refused = loaded(name, tmp_path, *lines)
    assert len(records) >= fine
    assert {one.line for one in refused} >= {3, 4, 5}
