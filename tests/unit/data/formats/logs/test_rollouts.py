"""Training completions: TRL's tables, verl's rollouts and datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, changed, grades_of, item, read, read_rows, refused
from workbench.core.item import QuestionRecord, Refusal
from workbench.data.formats import kinds
from workbench.data.formats.reading import plan_file, read_records

TRL = "trl-completions"
VERL = "verl-rollouts"


def test_a_table_that_trl_wrote() -> None:
    found = read(TRL, FILES / "trl" / "completions" / "completions_00010.parquet")
    rows = [one[0] for one in found if not isinstance(one, Refusal)]
    assert len(rows) == 12
    assert {row["system"] for row in rows} == {"Think first."}
    assert all(row["reference"] and row["step"] == 10 for row in rows)
    assert {grades["trl/has_answer"][0] for grades in grades_of(found)} == {"correct", "incorrect"}
    # One function did not apply to thinking models: pandas wrote NaN.
    thinking = ["<think>" in row["completion"] for row in rows]
    assert [("trl/brevity" in grades) for grades in grades_of(found)] == [not one for one in thinking]
    assert {grades.get("trl/brevity") for grades in grades_of(found)} == {None, (None, 0.25)}


def test_rollouts_that_verl_wrote() -> None:
    file = FILES / "verl" / "20.jsonl"
    found = read(VERL, file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [grades["verl/score"] for grades in grades_of(found)] == [
        ("correct" if row["score"] == 1 else "incorrect", row["score"]) for row in rows
    ]
    assert [grades["verl/acc"][0] == "correct" for grades in grades_of(found)] == [row["acc"] for row in rows]
    assert {name for grades in grades_of(found) for name in grades} == {
        "verl/score",
        "verl/acc",
        "verl/overlong_reward",
    }
    assert [one[0]["reference"] for one in found if not isinstance(one, Refusal)] == [row["gts"] for row in rows]


@pytest.mark.parametrize(
    ("value", "grade"),
    [
        (1, ("correct", 1.0)),
        (True, ("correct", None)),
        (0.0, ("incorrect", 0.0)),
        (-1.0, ("incorrect", -1.0)),
        (0.4, (None, 0.4)),
        (-3, (None, -3.0)),
        (10**400, None),
        ("1", None),
        (None, None),
        ([1], None),
        (float("nan"), None),
        (float("inf"), None),
    ],
    ids=lambda value: str(value)[:12],
)
def test_values_of_a_reward_function_are_verdicts(tmp_path: Path, value: Any, grade: Any) -> None:
    found = read_rows(TRL, tmp_path, changed(TRL, has_answer=value, brevity=...))
    assert grades_of(found) == [{} if grade is None else {"trl/has_answer": grade}]


def test_the_same_answer_again_is_another_row_of_the_same_file(tmp_path: Path) -> None:
    rows = [changed(VERL), changed(VERL), changed(VERL, step=30)]
    readings = [read_rows(VERL, tmp_path, *rows) for _ in range(2)]
    first, again = ([one[0]["completion_id"] for one in found if not isinstance(one, Refusal)] for found in readings)
    assert len(set(first)) == 3
    assert first == again


@pytest.mark.parametrize(
    ("format", "file", "name"),
    [
        (TRL, "run-1/completions/completions_00010.parquet", "run-1"),
        (TRL, "run-1/table.parquet", None),
        (VERL, "rollouts/20.jsonl", "rollouts"),
        (VERL, "rollouts/all.jsonl", None),
    ],
    ids=str,
)
def test_a_file_called_after_its_step_is_of_its_training(format: Any, file: str, name: str | None) -> None:
    assert kinds.KINDS[format].dataset_of(Path(file)) == name


@pytest.mark.parametrize(
    ("gts", "reference"),
    [("7", "7"), (7, "7"), (["7"], "7"), ({"target": 7}, '{"target":7}'), (["7", "8"], '["7","8"]'), (None, "")],
    ids=str,
)
def test_ground_truths_of_all_kinds(tmp_path: Path, gts: Any, reference: str) -> None:
    assert item(read_rows(VERL, tmp_path, changed(VERL, gts=gts)))["reference"] == reference


def test_a_column_named_like_a_known_field_is_prefixed(tmp_path: Path) -> None:
    fields = item(read_rows(TRL, tmp_path, changed(TRL, type=["x"], gold="maybe", model={"a": 1})))
    assert (fields["trl.type"], fields["trl.gold"], fields["trl.model"]) == (["x"], "maybe", {"a": 1})


def test_longer_chats_include_the_speakers(tmp_path: Path) -> None:
    chat = [{"role": role, "content": text} for role, text in (("user", "Hi"), ("assistant", "Yes?"), ("user", "3+4?"))]
    assert (
        item(read_rows(TRL, tmp_path, changed(TRL, prompt=chat)))["question"]
        == "user:\nHi\n\nassistant:\nYes?\n\nuser:\n3+4?"
    )


def test_datasets_of_verl_with_and_without_responses(tmp_path: Path) -> None:
    found = read("verl-responses", FILES / "verl" / "responses.parquet")
    assert len([one for one in found if not isinstance(one, Refusal)]) == 12
    file = tmp_path / "train.jsonl"
    bad = changed("verl-dataset", reward_model="7")
    file.write_text("".join(json.dumps(row) + "\n" for row in (changed("verl-dataset"), bad)))
    with read_records(plan_file(file)) as (records, _):
        question, refusal = records
    assert isinstance(question, QuestionRecord)
    assert (question.question, question.reference, question.source) == ("What is 3 + 4?", "7", "sample/sums")
    assert isinstance(refusal, Refusal)
    assert refusal.field == "reward_model"


@pytest.mark.parametrize(
    ("name", "fields", "code"),
    [
        (TRL, {"prompt": ...}, "missing_field"),
        (TRL, {"completion": []}, "wrong_type"),
        (TRL, {"completion": [{"role": "assistant", "content": 3}]}, "wrong_type"),
        (TRL, {"prompt": [{"role": "system", "content": "Be brief."}]}, "wrong_type"),
        (VERL, {"output": None}, "missing_field"),
        (VERL, {"input": 7}, "wrong_type"),
        ("verl-responses", {"responses": "7"}, "wrong_type"),
        ("verl-responses", {"responses": ["7", 8]}, "wrong_type"),
    ],
    ids=str,
)
def test_rows_without_texts_are_rejected(tmp_path: Path, name: str, fields: dict[str, Any], code: str) -> None:
    assert refused(read_rows(name, tmp_path, changed(name, **fields))).code == code
