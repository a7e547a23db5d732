"""xVerify's and CompassVerifier's data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.data.formats.logs.documented_logs import FILES, changed, grades_of, item, read, read_rows, refused
from workbench.core.item import Refusal


def test_a_report_of_xverify_holds_its_rows() -> None:
    file = FILES / "fields" / "xverify.json"
    results = json.loads(file.read_text())["results"]
    found = read("xverify", file)
    golds = [row["human_judgment_result"] == "Correct" for row in results]
    assert [one[0]["gold"] for one in found if not isinstance(one, Refusal)] == golds
    judged = [grades["xverify/xVerify-0.5B-I"][0] for grades in grades_of(found)]
    assert judged[0] == "abstain"
    assert judged[1:] == [row["xVerify-0.5B-I_judgment_result"].strip().lower() for row in results[1:]]
    assert {name for grades in grades_of(found) for name in grades} == {
        "xverify/xVerify-0.5B-I",
        "xverify/GPT_4o_final",
    }


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("alphabet_option", "C1"), ("categorical_label", "C4"), ("math", None), (["math"], None)],
    ids=str,
)
def test_types_of_xverify_that_are_one_of_ours(tmp_path: Path, theirs: Any, ours: str | None) -> None:
    fields = item(read_rows("xverify", tmp_path, changed("xverify", key_answer_type=theirs)))
    assert (fields.get("subtype"), fields["key_answer_type"]) == (ours, theirs)


def test_unjudged_rows_have_neither_gold_nor_grades(tmp_path: Path) -> None:
    row = {"question": "3 + 4?", "llm_output": "7", "correct_answer": 7}
    found = read_rows("xverify", tmp_path, row)
    assert grades_of(found) == [{}]
    assert "gold" not in item(found)
    assert item(found)["reference"] == "7"


def test_an_invalid_response_is_neither_right_nor_wrong() -> None:
    found = read("compassverifier", FILES / "fields" / "verifierbench.jsonl")
    rows = [one[0] for one in found if not isinstance(one, Refusal)]
    assert [row.get("gold") for row in rows] == [{"A": True, "B": False}.get(row["gold_judgment"]) for row in rows]
    assert (rows[-1]["gold_judgment"], "gold" in rows[-1]) == ("C", False)
    assert {(row["subtype"], row["source"]) for row in rows} == {("B4", "Math/sample")}
    assert {name for grades in grades_of(found) for name in grades} == {"compassverifier"}


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("A", "correct"),
        ("A step by step. Final Judgment: \\boxed{B} - INCORRECT", "incorrect"),
        ("Final Judgment: (C)", "abstain"),
        ("\\boxed{{A}}", "correct"),
        ("Final Judgment: A - correct, not B", "correct"),
        ("(B).", "incorrect"),
        ("I can't say whether A or B.", "abstain"),
    ],
    ids=["letter", "boxed", "named", "twice boxed", "named first", "in brackets", "none"],
)
def test_judgments_of_compassverifier_are_verdicts(tmp_path: Path, reply: str, verdict: str) -> None:
    found = read_rows("compassverifier", tmp_path, changed("compassverifier", ori_judgment=reply))
    assert grades_of(found) == [{"compassverifier": (verdict, None)}]


@pytest.mark.parametrize(
    ("answer", "reference"), [("['7']", "7"), (["7"], "7"), ("[7]", "[7]"), ("['A', 'C']", "['A', 'C']"), (None, "")]
)
def test_references_in_lists(tmp_path: Path, answer: Any, reference: str) -> None:
    fields = item(read_rows("compassverifier", tmp_path, changed("compassverifier", gold_answer=answer)))
    assert fields["reference"] == reference


@pytest.mark.parametrize(
    ("name", "key"), [("xverify", "llm_output"), ("xverify", "question"), ("compassverifier", "llm_response")]
)
def test_rows_without_a_text_are_rejected(tmp_path: Path, name: str, key: str) -> None:
    refusal = refused(read_rows(name, tmp_path, changed(name, **{key: None})))
    assert (refusal.code, refusal.field) == ("missing_field", key)
    assert refused(read_rows(name, tmp_path, changed(name, **{key: {"a": 1}}))).code == "wrong_type"
