"""Pairs of chosen and rejected answers with scores of reward models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, changed, grades_of, read, read_rows, refused
from workbench.core.item import Refusal

NAME = "rewardbench"


def fields(found: list[Any], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(one[0].get(name) for name in names) for one in found if not isinstance(one, Refusal)]


def test_its_command_wrote_pairs_with_scores() -> None:
    file = FILES / "rewardbench" / "sample-equations-rm_outputs.jsonl"
    found = read(NAME, file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert fields(found, "gold") == [(True,), (False,)] * len(rows)
    expected = []
    for row in rows:
        scores = (row["scores_chosen"], row["scores_rejected"])
        for score, other in (scores, scores[::-1]):
            verdict = "correct" if score > other else "incorrect" if score < other else "abstain"
            expected.append({"rewardbench/sample-equations-rm": (verdict, score)})
    assert grades_of(found) == expected
    assert [row["results"] for row in rows] == [
        int(one["rewardbench/sample-equations-rm"][0] == "correct") for one in expected[::2]
    ]


def test_an_answer_is_extracted_from_the_conversation(tmp_path: Path) -> None:
    row = {"prompt": "Q: 3 + 4?\nA: ", "text_chosen": "Q: 3 + 4?\nA: 7", "text_rejected": "Q: 3 + 4?\nA: 8"}
    found = read_rows(NAME, tmp_path, row)
    assert fields(found, "completion", "gold", "reference") == [("7", True, ""), ("8", False, "")]


def test_lists_of_several_and_their_scores(tmp_path: Path) -> None:
    row = changed(NAME, chosen=["7"], rejected=["8", "9", "10"], scores=[[0.5], 0.75, -3, 0.1], id="x-1")
    found = read_rows(NAME, tmp_path, row)
    assert fields(found, "completion", "question_id") == [(text, "math-prm/x-1") for text in ("7", "8", "9", "10")]
    assert [next(iter(grades.values())) for grades in grades_of(found)] == [
        ("incorrect", 0.5),
        ("correct", 0.75),
        ("incorrect", -3.0),
        ("incorrect", 0.1),
    ]


def test_several_right_answers_or_ties_have_only_scores(tmp_path: Path) -> None:
    several = read_rows(NAME, tmp_path, changed(NAME, chosen=["red", "blue"], rejected=["dog"], scores=[1, 2, 3]))
    assert [next(iter(grades.values()))[0] for grades in grades_of(several)] == [None] * 3
    tied = read_rows(NAME, tmp_path, changed(NAME, scores_chosen=2.0, scores_rejected=2))
    assert [next(iter(grades.values())) for grades in grades_of(tied)] == [("abstain", 2.0)] * 2


@pytest.mark.parametrize(
    ("rejected", "results", "verdicts"),
    [
        ("8", 1, ["correct", "incorrect"]),
        ("8", 0, ["incorrect", "correct"]),
        ("8", 0.5, ["abstain", "abstain"]),
        (["8", "9"], 0, ["incorrect", "abstain", "abstain"]),
        (["8", "9"], 0.25, ["abstain", "abstain", "abstain"]),
    ],
    ids=str,
)
def test_results_without_data(tmp_path: Path, rejected: Any, results: float, verdicts: list[str]) -> None:
    row = changed(NAME, chosen="7", rejected=rejected, results=results)
    found = read_rows(NAME, tmp_path, row, file="my-judge_outputs.jsonl")
    assert [grades["rewardbench/my-judge"][0] for grades in grades_of(found)] == verdicts


def test_conversations_include_their_prompt(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": "3 + 4?"}]
    chosen, rejected = ([*asked, {"role": "assistant", "content": text}] for text in ("7", "8"))
    found = read_rows(NAME, tmp_path, changed(NAME, prompt=..., chosen=chosen, rejected=rejected))
    assert fields(found, "question", "completion") == [("3 + 4?", "7"), ("3 + 4?", "8")]


@pytest.mark.parametrize(
    "row",
    [
        {"prompt": "Q", "chosen": [], "rejected": []},
        {"prompt": "Q", "chosen": {"a": 1}, "rejected": "8"},
        {"prompt": 3, "chosen": [["a"]], "rejected": "8"},
        {"prompt": [], "chosen": "7", "rejected": "8"},
        {"chosen": "7", "rejected": "8"},
    ],
    ids=["none", "an object", "lists", "no message", "no prompt"],
)
def test_rows_without_answers_are_rejected(tmp_path: Path, row: dict[str, Any]) -> None:
    assert refused(read_rows(NAME, tmp_path, row)).code in ("missing_field", "wrong_type")
