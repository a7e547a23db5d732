"""The code sample: complete, well-formed, with solutions from perfect to broken."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.unit.test_sample_data import FOLDER, read
from workbench.core.code_tests.assertion import parsed

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def problems() -> Rows:
    return read("code_problems.jsonl")


@pytest.fixture(scope="module")
def solutions() -> Rows:
    return read("code_solutions.jsonl")


@pytest.mark.parametrize("name", ["code_problems.jsonl", "code_solutions.jsonl"])
def test_lines_are_compact_and_readable(name: str) -> None:
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in read(name))
    assert (FOLDER / name).read_bytes() == written.encode()


def test_every_problem_has_enough_tests_and_a_reference(problems: Rows) -> None:
    assert len({row["task_id"] for row in problems}) == len(problems) == 12
    for row in problems:
        assert 6 <= len(row["tests"]) <= 10
        assert 8 <= len(row["plus_tests"]) <= 12
        assert parsed(row["canonical_solution"]) is not None
    assert sum("whole_test" in row for row in problems) == 11
    assert sum(isinstance(row["tests"][0], dict) for row in problems) == 1


def test_every_problem_has_solutions_of_all_kinds(problems: Rows, solutions: Rows) -> None:
    labels: defaultdict[str, Counter[int]] = defaultdict(Counter)
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for row in solutions:
        labels[row["task_id"]][row["recorded_pass"]] += 1
        texts[row["task_id"]].add(row["code"])
    assert labels.keys() == {row["task_id"] for row in problems}
    for task, counts in labels.items():
        assert 8 <= counts.total() <= 10
        assert counts[1] >= 2
        assert counts[0] >= 3
        assert len(texts[task]) == counts.total()
    assert sum(parsed(row["code"]) is None for row in solutions) == 2
    truths = [row["task_id"] for row in solutions if row.get("ground_truth")]
    assert sorted(truths) == sorted(labels)


def test_nothing_in_it_is_from_a_published_benchmark(problems: Rows, shared_data: Any) -> None:
    lines = (shared_data / "code" / "problems.jsonl").read_text(encoding="utf-8").splitlines()
    published = {json.loads(line)["entry_point"] for line in lines}
    assert published.isdisjoint(row.get("entry_point") for row in problems)
