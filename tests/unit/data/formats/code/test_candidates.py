"""Files of candidates: accepted shapes, and rejected lines with line and field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.coding.formats import CandidateLine, read
from workbench.core.item import Refusal

ONE = {"id": "a", "average_test_score": 1, "average_time_taken": 0.5, "rank": 1}
TWO = {"id": 2, "average_test_score": 0.5, "average_time_taken": 1}


def written(folder: Path, text: str, name: str = "c.jsonl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def line(**fields: Any) -> str:
    return json.dumps({"task_id": "t", "candidates": [ONE, TWO], **fields})


def taken(path: Path) -> list[CandidateLine]:
    return [one for one in read(path) if isinstance(one, CandidateLine)]


def refused(path: Path) -> list[Refusal]:
    return [one for one in read(path) if isinstance(one, Refusal)]


def test_ids_keep_their_type(tmp_path: Path) -> None:
    (found,) = taken(written(tmp_path, line(task_id=7)))
    assert (found.task_id, [one.id for one in found.candidates], found.ground_truths) == (7, ["a", 2], ("a",))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps({"x": {"input": [ONE]}, "y": {"candidates": [ONE, TWO]}}, indent=1)),
        (
            "a.json",
            json.dumps([{"task_id": "x", "candidates": [ONE]}, {"task_id": "y", "candidates": [ONE, TWO]}], indent=1),
        ),
        ("a.jsonl", line(task_id="x", candidates=[ONE]) + "\n" + line(task_id="y")),
    ],
    ids=["object", "list", "lines"],
)
def test_shapes(tmp_path: Path, name: str, text: str) -> None:
    found = taken(written(tmp_path, text, name))
    assert [(one.task_id, len(one.candidates)) for one in found] == [("x", 1), ("y", 2)]


def test_released_lists_are_numbered(tmp_path: Path) -> None:
    rows = [{name: value for name, value in one.items() if name != "id"} for one in (TWO, ONE)]
    (found,) = taken(written(tmp_path, json.dumps({"task_id": "t", "all_solutions": rows})))
    assert ([one.id for one in found.candidates], found.ground_truths) == ([0, 1], (1,))


def test_a_mark_takes_precedence_over_rank_1(tmp_path: Path) -> None:
    rows = [{**ONE, "ground_truth": False}, {**TWO, "rank": 2, "ground_truth": True}]
    (found,) = taken(written(tmp_path, line(candidates=rows)))
    assert found.ground_truths == (2,)


@pytest.mark.parametrize(
    ("text", "field", "word"),
    [
        ("nonsense", None, "JSON"),
        ("[]", None, "object"),
        (line(candidates=None), "candidates", "missing"),
        (line(task_id=None), "task_id", "Name the problem"),
        (line(candidates=[{**ONE, "id": None}]), "candidates[0].id", "no id"),
        (line(candidates=[ONE, ONE]), "candidates[1].id", "two candidates"),
        (line(candidates=[ONE, {**TWO, "rank": 1}]), "candidates.rank", "t: two candidates are the ground truth"),
        (line(candidates=[{"id": 1, "average_time_taken": 1}]), "candidates[0].average_test_score", "missing"),
        (line(candidates=[{**ONE, "average_time_taken": "1"}]), "candidates[0].average_time_taken", "str"),
        (
            line(candidates=[TWO, {**ONE, "average_test_score": float("nan")}]),
            "candidates[1].average_test_score",
            "NaN",
        ),
        (line(candidates=[{**ONE, "average_test_score": 1.5}]), "candidates[0].average_test_score", "from 0 to 1"),
        (line(candidates=[{**ONE, "outcomes": "pq"}]), "candidates[0].outcomes", "letters"),
    ],
    ids=["json", "list", "none", "task", "id", "twice", "truths", "missing", "text", "nan", "above-1", "letters"],
)
def test_a_bad_line_is_rejected_with_its_field(tmp_path: Path, text: str, field: str | None, word: str) -> None:
    path = written(tmp_path, f"{line(task_id='before')}\n{text}\n{line(task_id='after')}\n")
    assert [one.task_id for one in taken(path)] == ["before", "after"]
    (found,) = refused(path)
    assert (found.line, found.field) == (2, field)
    assert word in found.message


def test_a_duplicate_problem_is_rejected(tmp_path: Path) -> None:
    path = written(tmp_path, f"{line()}\n{line()}\n")
    (found,) = refused(path)
    assert (found.line, found.code, found.field) == (2, "duplicate_key", "task_id")


def test_a_number_too_large_for_a_float_is_rejected(tmp_path: Path) -> None:
    (found,) = refused(written(tmp_path, line().replace("0.5", "1e999")))
    assert found.line == 1


def test_deep_nesting_is_rejected(tmp_path: Path) -> None:
    (found,) = refused(written(tmp_path, '{"task_id": "t", "candidates": ' + "[" * 50_000))
    assert found.line == 1


def test_an_empty_file_has_no_line(tmp_path: Path) -> None:
    assert list(read(written(tmp_path, ""))) == []
