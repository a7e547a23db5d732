"""Outcomes compare with their words, and only "correct" is true."""

import msgspec
import pytest

from workbench.core.verdict import Outcome, OutcomeCode, Verdict


@pytest.mark.parametrize("outcome", Outcome)
def test_an_outcome_is_its_word_and_only_correct_is_true(outcome: Outcome) -> None:
    assert outcome == outcome.word == str(outcome) == outcome.name.lower()
    assert bool(outcome) is Verdict(outcome=outcome).is_correct is (outcome.word == "correct")


def test_the_stored_numbers_stay_as_released() -> None:
    assert [(outcome.word, int(outcome.code)) for outcome in Outcome] == [
        ("incorrect", 0),
        ("correct", 1),
        ("abstain", 2),
        ("error", 3),
    ]
    assert [code.outcome for code in OutcomeCode] == list(Outcome)


def test_a_verdict_is_written_with_the_word() -> None:
    verdict = Verdict(outcome=Outcome.ABSTAIN)
    written = msgspec.json.encode(verdict)
    assert msgspec.json.decode(written)["outcome"] == "abstain"
    assert msgspec.json.decode(written, type=Verdict) == verdict
