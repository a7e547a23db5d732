"""Files of scored solutions: accepted rows, rejected rows, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.coding import formats
from workbench.core.errors import FormatError

ROW = {
    "dataset": "HE_plus",
    "task_id": "A",
    "rank": 1,
    "ground_average_test_score": 1,
    "average_test_score": 0.5,
    "reward": {"reward_score": -3},
}


def written(folder: Path, *lines: str) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def row(**fields: Any) -> str:
    return json.dumps({name: value for name, value in {**ROW, **fields}.items() if value is not None})


def test_a_row_has_its_scores_by_verifier(tmp_path: Path) -> None:
    found = formats.read_scored_rows(written(tmp_path, row()))
    assert found.verifiers == ("utg", "reward")
    assert [scores for _, scores in found.rows] == [{"utg": 0.5, "reward": -3}]


def test_a_file_may_have_scores_of_a_single_verifier(tmp_path: Path) -> None:
    assert formats.read_scored_rows(written(tmp_path, row(reward=None))).verifiers == ("utg",)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (row(average_test_score=None), "average_test_score"),
        (row(reward=None), "reward.reward_score"),
        (row(reward={}), "reward.reward_score"),
        (row(rank=None), "rank"),
        (row(dataset=None), "dataset"),
        (row(task_id=None), "task_id"),
        (row(ground_average_test_score="1"), "ground_average_test_score"),
        (row(average_test_score=float("nan")), "average_test_score"),
        (row(reward={"reward_score": float("-inf")}), "reward.reward_score"),
        (row(average_test_score=1e308), "average_test_score"),
        ("nonsense", None),
    ],
    ids=["score", "reward", "reward-score", "rank", "dataset", "task", "text", "nan", "infinite", "huge", "json"],
)
def test_a_bad_row_is_rejected_with_its_line_and_field(tmp_path: Path, text: str, field: str | None) -> None:
    found = formats.read_scored_rows(written(tmp_path, row(), text, row()))
    assert len(found.rows) == 2
    assert [(one.line, one.field) for one in found.refused] == [(2, field)]


def test_an_unknown_dataset_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"rows\.jsonl:2:dataset: 'APPS'"):
        formats.read_scored_rows(written(tmp_path, row(), row(dataset="APPS")))


@pytest.mark.parametrize("lines", [[], [row(average_test_score=None, reward=None)]], ids=["empty", "no-score"])
def test_a_file_without_scores_is_an_error(tmp_path: Path, lines: list[str]) -> None:
    with pytest.raises(FormatError, match="no row has a score"):
        formats.read_scored_rows(written(tmp_path, *lines))
