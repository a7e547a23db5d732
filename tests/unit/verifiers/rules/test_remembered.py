"""What an answer was read as is remembered: whoever gives it again gets the verdict that it has by itself."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections import Counter
from typing import Any

import pytest
from msgspec import structs

from tests.documents import ROOT
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Pending
from workbench.verifiers.rules import decision, reading, verifier
from workbench.verifiers.rules.records import Part
from workbench.verifiers.rules.verifier import Rules


def _items() -> list[VerifierInput]:
    """Rows of the sample and of the tests, and of each a second completion with other words before the same answer."""
    rows = [json.loads(line) for line in (ROOT / "sample_data" / "tuples.jsonl").read_text("utf-8").splitlines()]
    found = [_item(row["question"], row["answer"], row["completion"]) for row in rows]
    return found + [structs.replace(one, completion=f"Let me think.\n\n{one.completion}") for one in found]


def _item(question: str, reference: str, completion: str) -> VerifierInput:
    return VerifierInput(item=0, question=question, reference=reference, completion=completion)


def _forget() -> None:
    verifier._cached_reader.cache_clear()


def test_the_same_answer_is_read_and_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Counter[str]()
    candidate = reading.AnswerReader.candidate

    def counted(self: reading.AnswerReader, text: str, *given: Any) -> Part[Any]:
        read[text] += 1
        return candidate(self, text, *given)

    monkeypatch.setattr(reading.AnswerReader, "candidate", counted)
    _forget()
    for number in range(8):
        said = Rules().quick(_item("How far is it?", "2.5 km", f"Attempt {number}: \\boxed{{250{number % 2}0 m}}"))
        assert isinstance(said, Verdict)
        assert said.candidate_span is not None
    assert read == {"25000 m": 1, "25010 m": 1}


@pytest.mark.soak
def test_whatever_was_judged_before_the_verdict_is_the_same() -> None:
    items, draw = _items(), random.Random(0)
    alone = []
    for item in items:
        _forget()
        alone.append(_said(item))
    _forget()
    places = [place for place in range(len(items)) for _ in range(3)]
    draw.shuffle(places)
    for place in places:
        assert _said(items[place]) == alone[place], items[place]


PAIRS = [
    ("Is 91 a prime number?", "No", "No, because $91 = 7 \\cdot 13$.", "Yes, because $91 = 7 \\cdot 13$."),
    ("How many?", "6", "5. So 6", "\\boxed{5. So 6}"),
]
"""Completions with one answer's letters, of which the first is right for where they stand and the second is wrong."""


@pytest.mark.parametrize(("question", "reference", "right", "wrong"), PAIRS)
def test_the_same_letters_elsewhere_are_another_answer(question: str, reference: str, right: str, wrong: str) -> None:
    one, other = _item(question, reference, right), _item(question, reference, wrong)
    for items in ([one, other], [other, one]):
        _forget()
        said = {item.completion: _said(item) for item in items * 2}
        outcomes = [getattr(said[text], "outcome", None) for text in (right, wrong)]
        assert outcomes[0] is Outcome.CORRECT
        assert outcomes[1] in (Outcome.INCORRECT, Outcome.ABSTAIN)


def test_what_algebra_found_is_not_what_the_first_stage_says() -> None:
    item = _item("What curve?", r"\ln x=2", r"So \boxed{x=e^{2}}")
    _forget()
    before = _said(item)
    assert isinstance(before, Pending)
    assert Rules().verify(item).outcome is Outcome.CORRECT
    assert _said(item) == before


def test_a_question_with_many_answers_keeps_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision, "_MAX_KEPT", 4)
    _forget()
    for number in range(50):
        Rules().quick(_item("How many?", "7", f"\\boxed{{{number}}}"))
        Rules().quick(_item("How many?", "7", f"The answer is {number} " + "and so on " * 200))
    kept = verifier._cached_reader("How many?", None, Rules()._leniency).compared
    assert 0 < len(kept) <= 4
    assert all(len(one.answer) + len(one.sentence) <= decision._MAX_KEPT_CHARACTERS for one in kept)


def test_long_texts_are_not_kept() -> None:
    """A server that is sent many long questions and references must not grow with them."""
    words = " ".join(f"w{number}" for number in range(8_000))

    def judge(number: int) -> None:
        Rules().quick(_item(f"{words} How many, {number}?", f"{words} is {number}", f"\\boxed{{{number}}}"))

    judge(0)
    tracemalloc.start()
    try:
        for number in range(1, 20):
            judge(number)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 5 * len(words)


def _said(item: VerifierInput) -> Verdict | Pending:
    said = Rules().quick(item)
    if isinstance(said, Pending):
        assert said.verdict is not None
        return Pending(said.key, structs.replace(said.verdict, ms=0.0))
    return structs.replace(said, ms=0.0)
