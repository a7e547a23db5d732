"""Answers from closed vocabularies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.rules.states import VOCABULARIES, find_stated_state, state, vocabulary_of

LOGIC = "Does it follow? Answer proved, disproved or unknown."


@pytest.mark.parametrize(
    ("question", "reference", "answer", "equal"),
    [
        ("yes or no?", "Yes", "yes.", True),
        ("yes or no?", "Yes", r"\text{Yes}", True),
        ("yes or no?", "yes", "True", True),
        ("yes or no?", "No", "yes", False),
        ("Is it so?", "No", "No, because the limit differs", True),
        ("Is it so?", "Yes", "No, because the limit differs", False),
        ("Is it so?", "No", "Therefore, the claim is false.", True),
        (LOGIC, "disproved", "Disproven", True),
        (LOGIC, "proved", "proven", True),
        (LOGIC, "unknown", "cannot be determined", True),
        (LOGIC, "proved", "unknown", False),
        ("Is the argument valid or invalid?", "invalid", "not valid", True),
        ("Is the argument valid or invalid?", "valid", "invalid", False),
        ("Premise … hypothesis: entailment, contradiction or neutral?", "neutral", "Neutral", True),
        ("Premise … hypothesis: entailment, contradiction or neutral?", "contradiction", "contradicts", True),
        ("plausible or implausible?", "implausible", "not plausible", True),
        ("Is the sentence sarcastic?", "not sarcastic", "sarcastic", False),
    ],
)
def test_states_are_compared_within_their_vocabulary(question: str, reference: str, answer: str, equal: bool) -> None:
    vocabulary = vocabulary_of(reference, question)
    assert vocabulary is not None
    assert (find_stated_state(answer, vocabulary) == state(reference, vocabulary)) is equal


@pytest.mark.parametrize("answer", ["f(x) = x", "maybe yes, maybe no, who knows", "The yes-men came", "42"])
def test_what_states_nothing(answer: str) -> None:
    vocabulary = vocabulary_of("yes", "yes or no?")
    assert vocabulary is not None
    assert find_stated_state(answer, vocabulary) in (None, "unknown")


@pytest.mark.parametrize("reference", ["42", "x + 1", "tapa", "", "A"])
def test_other_answers_have_no_vocabulary(reference: str) -> None:
    assert vocabulary_of(reference, "Which?") is None


def test_every_state_is_a_word_of_its_vocabulary() -> None:
    for vocabulary in VOCABULARIES:
        assert len(set(vocabulary.values())) > 1
        assert set(vocabulary.values()) <= vocabulary.keys()
        assert all(word == word.lower().strip() for word in vocabulary)


@given(st.text(), st.text(), st.sampled_from(["yes", "unknown", "valid", "neutral"]))
def test_any_text_is_taken(question: str, answer: str, reference: str) -> None:
    vocabulary = vocabulary_of(reference, question)
    assert vocabulary is not None
    assert find_stated_state(answer, vocabulary) in {None, *vocabulary.values()}
