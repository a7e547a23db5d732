"""Tokens and signatures: independent of spelling, dependent on the content of the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.curating.duplicates import signature, tokens

SAME = {
    "spaces and case": ("What  is\nthe SUM?", "what is the sum?"),
    "punctuation": ("Well, what is it: red, or blue?", "Well what is it red or blue"),
    "hyphen": ("a well-known number", "a well known number"),
    "latex layout": (r"Compute $\left(\dfrac{1}{2}\right)$.", r"Compute \(( \frac{1}{2} )\)"),
    "latex operators": (r"Is $3 \times 4 \leq 12$?", "Is 3 × 4 ≤ 12?"),
    "minus signs": ("5 − 3", "5 - 3"),
    "powers": ("x² + 2**3", "x^2 + 2^3"),
    "thousands": ("It costs 1,250,000 dollars.", "It costs 1250000 dollars."),
    "leading nought": ("p = .5", "p = 0.5"),
    "option labels": ("Choose. (A) red (B) blue", "Choose. A) red B) blue"),
    "markdown": ("**Question** - how many?\n- one\n* two", "Question how many? one two"),
    "percent": ("What is 20% of 50?", "What is 20 percent of 50?"),
    "wide digits": ("有１２个苹果", "有12个苹果"),
}

OTHER = {
    "number": ("What is 2 + 3?", "What is 2 + 5?"),
    "operator": ("What is 2 + 3?", "What is 2 - 3?"),
    "order": ("What is 7 - 3?", "What is 3 - 7?"),
    "decimals": ("Take 3.5 of it.", "Take 35 of it."),
    "factorial": ("Compute 5! now", "Compute 5 now"),
    "brackets": ("2 * (3 + 4)", "2 * 3 + 4"),
    "interval": ("Is 1 in [0, 1)?", "Is 1 in (0, 1]?"),
    "variable": ("Solve x = 2y for x.", "Solve x = 2y for y."),
    "case of a variable": ("Find X + 1", "Find x + 1"),
    "negation": ("Which is a prime?", "Which is not a prime?"),
    "turn": ("Find the least value.", "Find the greatest value."),
    "relation": (r"$x \leq 3$", r"$x \geq 3$"),
    "a as a variable": ("Let a + 1 be odd", "Let b + 1 be odd"),
}


@pytest.mark.parametrize("name", SAME)
def test_another_way_of_writing_is_the_same(name: str) -> None:
    one, other = SAME[name]
    assert tokens(one) == tokens(other)
    assert signature(one) == signature(other)


@pytest.mark.parametrize("name", OTHER)
def test_questions_with_different_content_have_different_signatures(name: str) -> None:
    one, other = OTHER[name]
    assert signature(one) != signature(other)


def test_other_words_alone_give_the_same_signature() -> None:
    assert signature("The capital of France, a city") == signature("I ask for the capital of Spain")


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert signature(text) == signature(f"  {text}\n")
    assert all(token and not token.isspace() for token in tokens(text))


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_two_numbers_are_two_questions(one: int, other: int) -> None:
    same = signature(f"What is {one} plus 1?") == signature(f"What is {other:,} plus 1?")
    assert same == (one == other)
