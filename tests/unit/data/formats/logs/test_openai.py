"""OpenAI batches."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, changed, item, read, read_rows, refused
from workbench.core.item import Refusal

BATCH = "openai-batch"


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


def test_a_batch_without_its_requests_has_advice(tmp_path: Path) -> None:
    shutil.copy(FILES / "openai_batch" / "output.jsonl", tmp_path / "output.jsonl")
    found = read(BATCH, tmp_path / "output.jsonl")
    assert [one.code for one in found if isinstance(one, Refusal)] == ["unknown_request"] * 6 + ["failed_request"]
    first = found[0]
    assert isinstance(first, Refusal)
    assert "input file (.jsonl) into the same folder" in first.message


def request(question: Any, **body: Any) -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": question}], **body}
    return {"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": asked}


def write_next_to(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_a_question_file_provides_question_and_reference(tmp_path: Path) -> None:
    write_next_to(tmp_path, "in.jsonl", request("Solve it: 3 + 4?"))
    write_next_to(tmp_path, "pool.jsonl", {"question_id": "request-1", "question": "3 + 4?", "answer": 7, "type": "A1"})
    write_next_to(tmp_path, "noise.jsonl", {"anything": 1})
    (tmp_path / "utf-16.jsonl").write_bytes("{}".encode("utf-16"))
    fields = item(read_rows(BATCH, tmp_path, changed(BATCH)))
    assert (fields["question"], fields["reference"], fields["type"]) == ("3 + 4?", "7", "A1")
    assert fields["question_id"] == "request-1"


def test_contradicting_requests_are_reported(tmp_path: Path) -> None:
    write_next_to(tmp_path, "in1.jsonl", request("3 + 4?"))
    write_next_to(tmp_path, "in2.jsonl", request("3 + 5?"))
    refusal = refused(read_rows(BATCH, tmp_path, changed(BATCH)))
    assert (refusal.code, refusal.field) == ("conflict", "custom_id")


def test_a_request_imported_as_an_answer_is_reported(tmp_path: Path) -> None:
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
    write_next_to(tmp_path, "in.jsonl", request("3 + 4?"))
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
def test_lines_without_an_answer_are_rejected(tmp_path: Path, fields: dict[str, Any], code: str) -> None:
    write_next_to(tmp_path, "in.jsonl", request("3 + 4?"))
    assert refused(read_rows(BATCH, tmp_path, changed(BATCH, **fields))).code == code
