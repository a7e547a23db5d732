"""``best-of``, ``downstream`` and ``estimate`` on the command line: one JSON document each, or text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from schemas.documents import schema
from tests.helpers import make_project
from tests.tui.stage import add_run
from tests.unit.measuring.scored_runs import add_complete_run, scores
from workbench.app.cli import root
from workbench.core.errors import UsageError
from workbench.core.verdict import OutcomeCode

ITEMS = 40
SAMPLE = Path(__file__).resolve().parents[4] / "sample_data" / "downstream.jsonl"


@pytest.fixture
def database(tmp_path: Path) -> str:
    rows = [
        {
            "question_id": f"q{number // 4}",
            "completion_id": f"c{number}",
            "gold": None if number % 8 == 7 else number % 2 == 0,
            "type": "AB"[number // 20],
        }
        for number in range(ITEMS)
    ]
    project = make_project(tmp_path, rows)
    for name, wrong in (("rules", 5), ("exact", 3), ("math-verify", 4)):
        said = {item: OutcomeCode(int((item % 2 == 1) ^ (item % wrong == 0))).outcome for item in range(1, ITEMS + 1)}
        add_run(project, name, said)
    add_complete_run(project, "rm", scores({item: float(item % 3) for item in range(1, ITEMS + 1)}))
    project.close()
    return str(project.path)


def printed(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(root, list(arguments), catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def document(name: str, *arguments: str, code: int = 0) -> Any:
    found = json.loads(printed(name, *arguments, "--json", code=code))
    jsonschema.validate(found, schema(name))
    return found


def test_best_of(database: str) -> None:
    found = document("best-of", database, "--verifier", "rm", "--n", "2,4")
    assert [(row["n"], row["picks_by"]) for row in found["rows"]] == [(2, "score"), (4, "score")]
    assert [row["questions"] for row in found["rows"]] == [10, 5]
    text = printed("best-of", database, "--protocol", "decided")
    assert "oracle" in text
    assert "can't be picked" in text


@pytest.mark.parametrize("sizes", ["0", "two", "1,,2", "-1", "1e3", ""])
def test_sizes_are_whole_numbers(database: str, sizes: str) -> None:
    result = CliRunner().invoke(root, ["best-of", database, "--n", sizes])
    assert result.exit_code == 2
    assert "whole numbers" in result.stderr


def test_downstream(database: str) -> None:
    found = document("downstream", database, str(SAMPLE), "--by", "type")
    assert {row["benchmark"] for row in found["rows"]} == {"sums", "riddles", None}
    assert (found["lines"], found["refused"], found["unmeasured"]) == (9, 0, [])
    shown = printed("downstream", database, str(SAMPLE))
    assert all(f"{name} " in shown for name in ("sums", "riddles", "rules", "exact"))


def test_the_sample_has_the_lines_the_schema_describes() -> None:
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        jsonschema.validate(json.loads(line), schema("downstream-line"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"verifier": "rules", "score": 1}, schema("downstream-line"))


def test_rejected_lines_exit_with_3_and_are_located(database: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("verifier,benchmark,score\nrules,sums,0.5\nrules,sums,high\n")
    found = document("downstream", database, str(bad), code=3)
    assert (found["lines"], found["refused"], found["refusals"][0]["line"]) == (1, 1, 3)
    result = CliRunner().invoke(root, ["downstream", database, str(bad)])
    assert result.exit_code == 3
    assert f"{bad}:3:score: score is not a number." in result.stderr


def test_estimate(database: str) -> None:
    found = document("estimate", database, "rules", "--predictor", "exact", "--predictor", "math-verify")
    assert [(row["quantity"], row["labelled"]) for row in found["rows"]] == [("accuracy", 35), ("prevalence", 35)]
    assert found["predictors"] == ["exact", "math-verify"]
    grouped = document("estimate", database, "rules", "--by", "type", "--protocol", "decided", "--gold", "imported")
    assert [row["stratified"] for row in grouped["rows"]] == [False, True, False, False] * 2
    text = printed("estimate", database, "rules")
    assert "rules is right on" in text
    assert "random sample" in text


def test_impossible_requests_show_an_error(database: str) -> None:
    for arguments, words in (
        (("best-of", database, "--verifier", "nobody"), "No complete run of 'nobody'"),
        (("estimate", database, "rules", "--predictor", "rules"), "rules can't predict its own accuracy"),
        (("estimate", database, "rules", "--where", "gold=none"), "has gold"),
        (("estimate", database, "rules", "--by", "colour"), "colour"),
    ):
        with pytest.raises(UsageError, match=words):
            CliRunner().invoke(root, list(arguments), catch_exceptions=False)
