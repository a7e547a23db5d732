"""Potentially unsuitable items are found by rules; ordinary questions are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.core.label import EXCLUSION_REASONS
from workbench.labelling.excluded import LONG_COMPLETION, candidates

SAMPLE = Path(__file__).resolve().parents[3] / "sample_data" / "tuples.jsonl"
ANSWERED = r"So it is \boxed{7}."
LONG = "word " * (LONG_COMPLETION // 5)


@pytest.mark.parametrize(
    ("reason", "question", "reference", "completion"),
    [
        ("proof", "Let n be even. Prove that n^2 is even.", "7", ANSWERED),
        ("proof", "Prove: the sum is odd.", "7", ANSWERED),
        ("proof", "(a) Show that f is odd. (b) Find f(2).", "7", ANSWERED),
        ("proof", "Find x, and prove that it is unique.", "7", ANSWERED),
        ("proof", "设 n 为偶数，求证 n^2 为偶数。", "7", ANSWERED),
        ("proof", "Is n^2 even?", "Proof. Let n = 2k. It follows.", ANSWERED),
        ("proof", "Is n^2 even?", "Let n = 2k. It follows. Q.E.D.", ANSWERED),
        ("open_ended", "Explain photosynthesis.", "7", ANSWERED),
        ("open_ended", "Write a short poem about the sea.", "7", ANSWERED),
        ("open_ended", "What do you think of it?", "7", ANSWERED),
        ("open_ended", "Name a fruit.", "Answers may vary.", ANSWERED),
        ("bad_reference", "What is 3 + 4?", " ", ANSWERED),
        ("bad_reference", "What is 3 + 4?", "N/A", ANSWERED),
        ("bad_reference", "How long is it?", "It can be seen\nthat " + "we can not know it " * 20, ANSWERED),
        ("unanswerable", "What is the shaded area shown in the figure?", "7", ANSWERED),
        ("unanswerable", "![](a.png) How many?", "7", ANSWERED),
        ("unanswerable", "如图，求面积。", "7", ANSWERED),
        ("truncated", "", "7", ANSWERED),
        ("truncated", "Find the sum of the", "7", ANSWERED),
        ("truncated", "What is 3 + 4?", "7", ""),
        ("truncated", "What is 3 + 4?", "7", "<think> Let me see, 3 + 4"),
        ("truncated", "What is 3 + 4?", "7", LONG + "and so the"),
    ],
)
def test_unsuitable_candidates_are_found_with_their_reason(
    reason: str, question: str, reference: str, completion: str
) -> None:
    found = candidates(question, reference, completion)
    assert [candidate.reason for candidate in found] == [reason]
    assert reason in EXCLUSION_REASONS
    assert found[0].why


@pytest.mark.parametrize(
    "question",
    [
        "What is 3 + 4?",
        "The results also show that people like sugar. Which statement is true?",
        "Who proved that theorem?",
        "Was it proved, disproved or unknown?",
        "What is 3 + 4? Explain your reasoning.",
        "Describe your steps, then give the number.",
        "How many words describe the picture-book in the shop?",
        "The figure of 7 is given. What is it?",
    ],
)
def test_ordinary_questions_are_no_candidates(question: str) -> None:
    assert candidates(question, "7", ANSWERED) == []


@pytest.mark.parametrize(
    ("reference", "completion"),
    [
        ("a, b, " * 60, ANSWERED),
        ("unknown", "unknown"),
        ("7", LONG + "</think>\n\nK"),
        ("7", LONG + r"\boxed{7}"),
        ("7", LONG + "The end."),
        ("7", "short and cut off by the"),
    ],
)
def test_long_answers_and_short_ends_are_no_candidates(reference: str, completion: str) -> None:
    assert candidates("What is 3 + 4?", reference, completion) == []


@pytest.mark.few(3)
@pytest.mark.parametrize("unit", ["?", "\n", ". ", "prove ", "write a ", "(", "answer "])
def test_hostile_texts_are_fast(unit: str) -> None:
    text = unit * 50_000
    candidates(text, text, text + "x")


def test_the_sample_data_have_one() -> None:
    rows = [json.loads(line) for line in SAMPLE.read_text("utf-8").splitlines()]
    found = [candidates(row["question"], row["answer"], row["completion"]) for row in rows]
    assert [candidate.reason for candidates_ in found for candidate in candidates_] == ["open_ended"]


@pytest.mark.real_data
def test_few_of_the_real_rows_are_found(real_rows: list[dict[str, str]]) -> None:
    found = [candidates(row["question"], row["answer"], row["completion"]) for row in real_rows]
    assert 0 < sum(map(bool, found)) <= 5
