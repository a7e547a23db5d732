"""Multiple choice: finding the options and reading which of them an answer names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.rules.choices import letters, named_letters, options

FOUR = {"A": "red", "B": "green", "C": "blue", "D": "none of these"}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which?\nA. red\nB. green\nC. blue", {"A": "red", "B": "green", "C": "blue"}),
        ("Which?\nA: red\nB: green", {"A": "red", "B": "green"}),
        ("Which?\nA) red\nB) green", {"A": "red", "B": "green"}),
        ("Which?\nOptions:\n(A) red\n(B) green\n\nThink first.", {"A": "red", "B": "green"}),
        ("How many? (A) 1 (B) 2 (C) 3", {"A": "1", "B": "2", "C": "3"}),
        (
            r"Find $p$. $\textbf{(A)}\ 12\qquad\textbf{(B)}\ 15\qquad\textbf{(C)}\ 18$",
            {"A": "12", "B": "15", "C": "18"},
        ),
        (r"Find it. $\mathrm{(A) \ }9.2 \qquad \mathrm{(B) \ }9.3$", {"A": "9.2", "B": "9.3"}),
        ("哪一个？\nA．红\nB．绿", {"A": "红", "B": "绿"}),
        ("Points A. and B. are given.\n\nA. one\nB. two\nC. three", {"A": "one", "B": "two", "C": "three"}),
        ("Is the triangle ABC right-angled?", {}),
        ("What is 2 + 2?", {}),
        ("A. only one", {}),
    ],
)
def test_options_of_a_question(question: str, expected: dict[str, str]) -> None:
    assert options(question) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("B.", "B"),
        ("**B**", "B"),
        (r"\text{B}", "B"),
        (r"\textbf{(B)}\ green", "B"),
        (r"\text{B: green}", "B"),
        ("(B) green", "B"),
        ("B. green", "B"),
        ("option B: green", "B"),
        ("A and C", "AC"),
        ("A, C", "AC"),
        ("A, B and D", "ABD"),
        ("(A), (C)", "AC"),
        ("ACD", "ACD"),
        ("b", "B"),
        ("(b)", "B"),
        ("['A', 'C']", "AC"),
    ],
)
def test_letters_an_answer_consists_of(answer: str, expected: str) -> None:
    assert letters(answer, FOUR) == frozenset(expected)


@pytest.mark.parametrize("answer", ["", "e", "green", "E", "AE", "ABBA", "12", "x = B + 1", "Because", "A triangle"])
def test_what_is_no_letter(answer: str) -> None:
    assert letters(answer, FOUR) is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("C and D can be inferred from the passage", "CD"),
        ("the correct choice is option B because it is green", "B"),
        ("(D) is the one", "D"),
        ("A is correct", "A"),
        ("A green thing, so none", ""),
        ("I think it is blue", ""),
        ("Nothing here", ""),
    ],
)
def test_letters_a_sentence_names(sentence: str, expected: str) -> None:
    assert named_letters(sentence, FOUR) == frozenset(expected)


@given(st.text(), st.text())
def test_any_text_is_taken(question: str, answer: str) -> None:
    known = options(question)
    found = letters(answer, known)
    assert found is None or not known or found <= known.keys()
    assert named_letters(answer, known) <= known.keys()
