"""OpenAI evals' recordings and batches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, changed, item, read, read_rows, refused, said
from workbench.core.item import Refusal

EVAL = "openai-evals"
BATCH = "openai-batch"
SPEC = {"spec": {"eval_name": "sums.test", "base_eval": "sums", "completion_fns": ["m"], "run_id": "r"}}


def event(sample: Any, kind: str, data: Any) -> dict[str, Any]:
    return changed(EVAL, sample_id=sample, type=kind, data=data)


def asked(sample: Any, sampled: Any = "It is 7.", prompt: Any = "3 + 4?") -> dict[str, Any]:
    return event(sample, "sampling", {"prompt": prompt, "sampled": sampled})


def test_the_recorder_of_evals_wrote_a_match_a_sample() -> None:
    found = read(EVAL, FILES / "openai_evals" / "includes.jsonl")
    assert len(found) == 7
    assert {name for grades in said(found) for name in grades} == {"openai-evals/sample-includes/match"}
    lines = (FILES / "openai_evals" / "includes.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    correct = {e["sample_id"]: e["data"]["correct"] for e in events if e.get("type") == "match"}
    for one in found:
        assert not isinstance(one, Refusal)
        fields, (grade,) = one
        assert grade.verdict == ("correct" if correct[fields["completion_id"].partition("/")[2]] else "incorrect")
        assert grade.answer is None
        assert fields["system"] == "Be brief."
        assert fields["model"] == "sample-7b"
        assert fields["reference"]


def test_of_an_eval_graded_by_a_model_the_graded_completion_is_taken() -> None:
    found = read(EVAL, FILES / "openai_evals" / "closedqa.jsonl")
    assert len(found) == 7
    verdicts = [grades["openai-evals/sample-closedqa/score"][0] for grades in said(found)]
    assert sorted(map(str, verdicts)) == ["correct"] * 2 + ["incorrect"] * 5
    for one in found:
        assert not isinstance(one, Refusal)
        assert "[BEGIN DATA]" not in one[0]["question"]
        assert one[1][0].detail in ("choice Y", "choice N")


def test_events_of_a_sample_are_joined_wherever_they_stand(tmp_path: Path) -> None:
    rows = [
        SPEC,
        event("b", "match", {"correct": True, "expected": ["7", "seven"], "picked": "7", "sampled": "7!"}),
        asked("a", ["It is 8."]),
        {"final_report": {"accuracy": 0.5}},
        asked("b", ["7!"]),
        event("a", "embedding", {"prompt": "?"}),
        event("a", "match", {"correct": False, "expected": "7", "picked": None}),
        event("a", "metrics", {"f1": 0.25, "note": "x", "big": 7}),
    ]
    found = read_rows(EVAL, tmp_path, *rows)
    assert [one[0]["completion_id"][-2:] for one in found if not isinstance(one, Refusal)] == ["/b", "/a"]
    assert said(found) == [
        {"openai-evals/sums/match": ("correct", None)},
        {
            "openai-evals/sums/match": ("incorrect", None),
            "openai-evals/sums/f1": (None, 0.25),
            "openai-evals/sums/big": (None, 7.0),
        },
    ]
    assert [one[0]["reference"] for one in found if not isinstance(one, Refusal)] == ["7 or seven", "7"]


def test_a_choice_without_a_score_is_an_abstention(tmp_path: Path) -> None:
    rows = [SPEC, asked(1), event(1, "metrics", {"choice": "__invalid__", "score": None})]
    assert said(read_rows(EVAL, tmp_path, *rows)) == [{"openai-evals/sums/score": ("abstain", None)}]


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        ([event("a", "match", {"correct": True})], "missing_field", "no sampling event"),
        ([event("a", "error", {"type": "Timeout", "message": "too slow"})], "missing_field", "too slow"),
        ([asked("a", "x", prompt=None)], "missing_field", "prompt"),
        ([asked("a", {"x": 1})], "wrong_type", "role and content"),
        ([event("a", "sampling", 3)], "wrong_type", "is not an object"),
        ([{"run_id": "r", "type": "match"}], "missing_field", "is not an event"),
    ],
    ids=["not asked", "failed", "no prompt", "no text", "no object", "no event"],
)
def test_a_sample_without_an_answer_is_refused(tmp_path: Path, events: list[Any], code: str, words: str) -> None:
    refusal = refused(read_rows(EVAL, tmp_path, SPEC, *events))
    assert refusal.code == code
    assert words in refusal.message


def test_numbers_that_json_lacks_hide_no_event(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    rows = [SPEC, asked("a"), event("a", "metrics", {"score": float("nan"), "accuracy": True})]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert said(read(EVAL, file)) == [{"openai-evals/sums/accuracy": ("correct", None)}]


def test_each_choice_of_a_batch_is_a_completion_of_its_request() -> None:
    found = read(BATCH, FILES / "openai_batch" / "output.jsonl")
    rows = [one[0] for one in found if not isinstance(one, Refusal)]
    assert len(rows) == 11
    assert len({row["custom_id"] for row in rows}) == 6
    assert len({row["completion_id"] for row in rows}) == 11
    assert {row["model"] for row in rows} == {"sample-mini-1"}
    assert all(row["reference"] and row["question"] and row["completion"] for row in rows)
    refusal = refused(one for one in found if isinstance(one, Refusal))
    assert (refusal.code, refusal.field) == ("failed_request", "error")
    assert "rate_limit_exceeded" in refusal.message


def test_without_its_requests_a_batch_says_what_to_do(tmp_path: Path) -> None:
    shutil.copy(FILES / "openai_batch" / "output.jsonl", tmp_path / "output.jsonl")
    found = read(BATCH, tmp_path / "output.jsonl")
    assert [one.code for one in found if isinstance(one, Refusal)] == ["unknown_request"] * 6 + ["failed_request"]
    first = found[0]
    assert isinstance(first, Refusal)
    assert "input file (.jsonl) into the same folder" in first.message


def request(question: Any, **body: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": question}], **body}
    return {"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": asked}


def beside(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_file_of_questions_beside_it_says_question_and_reference(tmp_path: Path) -> None:
    beside(tmp_path, "in.jsonl", request("Solve it: 3 + 4?"))
    beside(tmp_path, "pool.jsonl", {"question_id": "request-1", "question": "3 + 4?", "answer": 7, "type": "A1"})
    beside(tmp_path, "noise.jsonl", {"anything": 1})
    (tmp_path / "utf-16.jsonl").write_bytes("{}".encode("utf-16"))
    fields = item(read_rows(BATCH, tmp_path, changed(BATCH)))
    assert (fields["question"], fields["reference"], fields["type"]) == ("3 + 4?", "7", "A1")
    assert fields["question_id"] == "request-1"


def test_requests_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    beside(tmp_path, "in1.jsonl", request("3 + 4?"))
    beside(tmp_path, "in2.jsonl", request("3 + 5?"))
    refusal = refused(read_rows(BATCH, tmp_path, changed(BATCH)))
    assert (refusal.code, refusal.field) == ("conflict", "custom_id")


def test_a_request_imported_as_an_answer_is_told(tmp_path: Path) -> None:
    assert "Import the batch's output file" in refused(read_rows(BATCH, tmp_path, request("3 + 4?"))).message


BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "a text": ({"choices": [{"text": "7", "finish_reason": "stop"}]}, "7"),
    "parts": (
        {"choices": [{"message": {"content": [{"type": "text", "text": "7"}, {"type": "audio"}]}}]},
        "7\n[audio]",
    ),
    "a refusal": ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "No."),
    "a tool": ({"choices": [{"message": {"content": None, "tool_calls": []}}]}, ""),
    "a response": (
        {
            "status": "completed",
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "message", "content": [{"type": "output_text", "text": "7"}]},
            ],
        },
        "7",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_of_all_kinds(tmp_path: Path, name: str) -> None:
    body, completion = BODIES[name]
    beside(tmp_path, "in.jsonl", request("3 + 4?"))
    row = changed(BATCH, response={"status_code": 200, "body": body})
    assert item(read_rows(BATCH, tmp_path, row))["completion"] == completion


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"response": None, "error": {"code": "batch_expired", "message": "Too late."}}, "failed_request"),
        ({"response": None}, "wrong_type"),
        ({"response": {"body": {"choices": []}}}, "missing_field"),
        ({"response": {"body": {"choices": [3]}}}, "wrong_type"),
        ({"response": {"body": {"choices": [{}]}}}, "missing_field"),
    ],
    ids=["expired", "none", "no choice", "a number", "empty"],
)
def test_lines_without_an_answer_are_refused(tmp_path: Path, fields: dict[str, Any], code: str) -> None:
    beside(tmp_path, "in.jsonl", request("3 + 4?"))
    assert refused(read_rows(BATCH, tmp_path, changed(BATCH, **fields))).code == code
