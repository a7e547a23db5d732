"""The sample dataset: complete, well-formed, hard enough to distinguish verifiers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from workbench.core.label import EXCLUSION_REASONS
from workbench.core.taxonomy import SUBTYPES, parse_type, type_display

Rows = list[dict[str, Any]]

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
FIELDS = [
    "question_id",
    "completion_id",
    "question",
    "answer",
    "completion",
    "gold_correct",
    "completion_model",
    "source",
    "answer_type",
    "answer_subtype",
    "annotator",
]
LABEL_FIELDS = [
    "completion_id",
    "annotator",
    "verdict",
    "reason",
    "dataset",
    "answer_subtype",
    "note",
    "created_at",
    "role",
]


def read(name: str) -> Rows:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def tuples() -> Rows:
    return read("tuples.jsonl")


@pytest.fixture(scope="module")
def labels() -> Rows:
    return read("labels.jsonl")


@pytest.mark.parametrize("name", ["tuples.jsonl", "labels.jsonl"])
def test_lines_are_what_the_released_files_would_hold(name: str) -> None:
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in read(name))
    assert (FOLDER / name).read_bytes() == written.encode()


def test_every_tuple_has_the_released_fields_in_order(tuples: Rows) -> None:
    for row in tuples:
        assert list(row) == FIELDS
        assert isinstance(row["gold_correct"], bool)
        assert len(row["annotator"]) == 2
        assert row["source"].split("/")[0] in {"general_reasoning", "logic_reasoning", "math_reasoning"}


def test_the_type_fields_are_swapped_as_released(tuples: Rows) -> None:
    for row in tuples:
        subtype, type_ = parse_type(row["answer_type"]), parse_type(row["answer_subtype"])
        assert subtype is not None
        assert type_ is not None
        assert row["answer_type"] == type_display(subtype.code)
        assert row["answer_subtype"] == type_display(type_.code) == type_display(subtype.code[0])


def test_ids_are_unique_and_a_question_is_the_same_in_all_its_tuples(tuples: Rows) -> None:
    assert len({row["completion_id"] for row in tuples}) == len(tuples)
    assert all(len(row[key]) == 32 for row in tuples for key in ("question_id", "completion_id"))
    shared = ("question_id", "question", "answer", "source", "answer_type")
    questions = {tuple(row[key] for key in shared) for row in tuples}
    assert len(questions) == len({row["question_id"] for row in tuples})


def test_every_subtype_has_two_correct_and_two_incorrect_completions(tuples: Rows) -> None:
    found = Counter((row["answer_type"][:2], row["gold_correct"]) for row in tuples)
    assert len(tuples) >= 72
    assert min(found[code, gold] for code in SUBTYPES for gold in (True, False)) >= 2
    assert {code for code, _ in found} == set(SUBTYPES)


def test_completions_are_as_long_as_real_ones_and_some_think_first(tuples: Rows) -> None:
    completions = [row["completion"] for row in tuples]
    assert len(set(completions)) == len(completions)
    assert median(map(len, completions)) >= 1200
    assert sum("<think>" in text and "</think>" in text for text in completions) >= 15
    assert any("</think>" in text and "<think>" not in text for text in completions)


def test_labels_refer_to_known_completions_and_are_well_formed(tuples: Rows, labels: Rows) -> None:
    known = {row["completion_id"] for row in tuples}
    for line in labels:
        assert list(line) == [key for key in LABEL_FIELDS if key in line]
        assert line["completion_id"] in known
        assert line["dataset"] == "sample"
        assert line["verdict"] in {"correct", "incorrect", "unsuitable"}
        assert (line.get("reason") in EXCLUSION_REASONS) == (line["verdict"] == "unsuitable")
        assert line.get("answer_subtype", "A1") in SUBTYPES
        assert datetime.fromisoformat(line["created_at"]).utcoffset() == timedelta(0)


def test_no_annotator_contradicts_their_own_type_of_a_question(tuples: Rows, labels: Rows) -> None:
    question = {row["completion_id"]: row["question_id"] for row in tuples}
    types: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in labels:
        if "answer_subtype" in line:
            types[line["annotator"], question[line["completion_id"]]].add(line["answer_subtype"])
    assert all(len(codes) == 1 for codes in types.values())


def test_conflicts_wait_and_the_adjudicator_never_labelled_the_item(tuples: Rows, labels: Rows) -> None:
    people: defaultdict[str, dict[str, str]] = defaultdict(dict)
    ruled: dict[str, dict[str, Any]] = {}
    for line in labels:
        if line.get("role") == "adjudicator":
            ruled[line["completion_id"]] = line
        else:
            assert line["annotator"] not in people[line["completion_id"]]
            people[line["completion_id"]][line["annotator"]] = line["verdict"]
    conflicts = {item for item, verdicts in people.items() if len(set(verdicts.values())) > 1}
    assert set(ruled) < conflicts
    assert (len(conflicts), len(conflicts - set(ruled))) == (6, 2)
    assert all(line["annotator"] not in people[item] for item, line in ruled.items())
    gold = {row["completion_id"]: row["gold_correct"] for row in tuples}
    assert all((line["verdict"] == "correct") == gold[item] for item, line in ruled.items())
    assert sum(len(verdicts) == 2 for verdicts in people.values()) == 64
    assert len(people) < len(tuples)


def test_the_readme_names_the_source_of_the_data() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "written for this sample" in text
    assert "Apache-2.0" in text
