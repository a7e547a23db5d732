"""The question pool of the sample, with the recorded replies and labels to build a benchmark."""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from workbench.core.taxonomy import SUBTYPES
from workbench.runs.replaying import RecordedReplies, load_recorded_replies

Rows = list[dict[str, Any]]

FOLDER = Path(__file__).resolve().parents[2] / "sample_data"
PATH = "/v1/chat/completions"
JUDGES = [f"sample-judge-{number}" for number in range(1, 6)]
NOT_OF_FOUR_TYPES = {"sq-10", "sq-31", "sq-56"}


def read(name: str) -> Rows:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def questions() -> Rows:
    return read("questions.jsonl")


@pytest.fixture(scope="module")
def labels() -> Rows:
    return read("pool_labels.jsonl")


@pytest.fixture(scope="module")
def book() -> RecordedReplies:
    found, refused = load_recorded_replies(FOLDER / "pool_replies.jsonl")
    assert refused == []
    return found


@pytest.fixture(scope="module")
def writers() -> list[str]:
    plan = tomllib.loads((FOLDER / "pool_plan.toml").read_text(encoding="utf-8"))
    return [model["name"] for model in plan["models"]]


def reply_of(book: RecordedReplies, model: str, *texts: str) -> str | None:
    body = {"model": model, "messages": [{"role": "user", "content": "\n\n".join(texts)}]}
    answer = book.answer(PATH, json.dumps(body).encode())
    if answer is None:
        return None
    text: str = json.loads(answer)["choices"][0]["message"]["content"]
    return text


@pytest.mark.parametrize("name", ["questions.jsonl", "pool_replies.jsonl", "pool_labels.jsonl"])
def test_lines_are_compact_and_readable(name: str) -> None:
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in read(name))
    assert (FOLDER / name).read_bytes() == written.encode()


def test_the_pool(questions: Rows, book: RecordedReplies) -> None:
    assert [row["question_id"] for row in questions] == [f"sq-{number:02}" for number in range(1, 67)]
    assert len({row["question"] for row in questions}) == 66
    assert {row["source"].split("/")[0] for row in questions} == {
        "general_reasoning",
        "logic_reasoning",
        "math_reasoning",
    }
    assert len({(row["source"], row["licence"]) for row in questions}) == 8
    assert {row["source"] for row in questions if row["licence"] is None} == {"general_reasoning/sample-reading"}
    assert [row["question_id"] for row in questions if not row["answer"]] == ["sq-64"]
    types = Counter((reply_of(book, "sample-typer", row["question"]) or "")[len("Answer type: ")] for row in questions)
    # Two near-duplicates and one without a reference, in addition to 15 of each type; two proofs and an open question.
    assert types == Counter(A=17, B=15, C=15, D=16, P=2, O=1)


def test_every_writer_answers_every_question_of_the_four_types(
    questions: Rows, writers: list[str], book: RecordedReplies
) -> None:
    for row in questions:
        replies = [reply_of(book, writer, row["question"], "Put the final answer last.") for writer in writers]
        if row["question_id"] in NOT_OF_FOUR_TYPES:
            assert replies == [None] * 5
        else:
            assert None not in replies
            assert len(set(replies)) == 5, row["question_id"]
    assert set(book.models) == {*writers, *JUDGES, "sample-typer"}


def test_judges_mostly_agree_and_some_are_split_or_say_nothing(
    questions: Rows, writers: list[str], book: RecordedReplies
) -> None:
    votes = Counter[int | None]()
    for row in questions:
        for writer in writers if row["question_id"] not in NOT_OF_FOUR_TYPES else []:
            text = reply_of(book, writer, row["question"])
            assert text is not None
            replies = [reply_of(book, judge, row["question"], row["answer"], text) for judge in JUDGES]
            assert None not in replies
            words = [(reply or "").rpartition("Final Judgment: ")[2] for reply in replies]
            whole = all(word in {"Yes", "No"} for word in words)
            votes[min(words.count("Yes"), words.count("No")) if whole else None] += 1
    assert votes == Counter({0: 217, 1: 36, 2: 54, None: 8})


def test_labels_of_the_pool(questions: Rows, writers: list[str], labels: Rows) -> None:
    asked = {row["question_id"] for row in questions}
    verdicts: defaultdict[str, dict[str, str]] = defaultdict(dict)
    types: defaultdict[str, set[str]] = defaultdict(set)
    for line in labels:
        question, writer, sample = line["completion_id"].split("/")
        assert (question in asked, writer in writers, sample, line["dataset"]) == (True, True, "1", "pool")
        assert (line["verdict"] == "unsuitable") == (line.get("reason") == "truncated")
        assert datetime.fromisoformat(line["created_at"]).utcoffset() == timedelta(0)
        assert line["annotator"] not in verdicts[line["completion_id"]]
        verdicts[line["completion_id"]][line["annotator"]] = line["verdict"]
        if line.get("role") is None:
            types[question].add(line["answer_subtype"])
    assert len(types) == 32
    assert all(len(codes) == 1 and codes < set(SUBTYPES) for codes in types.values())
    # Eight questions of each type, five completions of each.
    assert Counter(code[0] for codes in types.values() for code in codes) == dict.fromkeys("ABCD", 8)
    assert len(verdicts) == 160
    assert all({"amira", "ben"} <= people.keys() for people in verdicts.values())
    conflicts = {item for item, people in verdicts.items() if people["amira"] != people["ben"]}
    settled = {line["completion_id"] for line in labels if line.get("role") == "adjudicator"}
    assert (len(conflicts), len(settled)) == (6, 5)
    assert settled < conflicts
    assert sum(line["verdict"] == "unsuitable" for line in labels) == 4
