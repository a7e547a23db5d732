"""The schemas match the records, and real files validate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from schemas.documents import DOCUMENTS, VerifyBenchRow, schema, text
from workbench.data.formats.fields import RELEASED_KEYS

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_checked_in_schema_is_the_generated_one(name: str) -> None:
    path = ROOT / "schemas" / f"{name}.schema.json"
    assert path.read_text(encoding="utf-8") == text(name), "run: make schemas"
    jsonschema.Draft202012Validator.check_schema(schema(name))


def test_no_schema_is_left_over() -> None:
    there = {path.name.removesuffix(".schema.json") for path in (ROOT / "schemas").glob("*.json")}
    assert there == set(DOCUMENTS)


def test_the_released_row_has_the_fields_the_reader_knows() -> None:
    assert VerifyBenchRow.__struct_fields__ == (*RELEASED_KEYS, "annotator")


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_sample_passes() -> None:
    validator = jsonschema.Draft202012Validator(schema("verifybench-row"))
    for row in rows(ROOT / "sample_data" / "tuples.jsonl"):
        validator.validate(row)
    validator = jsonschema.Draft202012Validator(schema("label-line"))
    for row in rows(ROOT / "sample_data" / "labels.jsonl"):
        validator.validate(row)


def test_real_rows_pass(real_rows: list[dict[str, Any]]) -> None:
    validator = jsonschema.Draft202012Validator(schema("verifybench-row"))
    for row in real_rows:
        validator.validate(row)


def test_a_row_without_its_answer_does_not_pass() -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"question_id": "q", "completion_id": "c", "question": "?"}, schema("verifybench-row"))
