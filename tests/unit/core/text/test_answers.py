"""A final answer alone is rendered as in its text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.excerpt import LONGEST, render_answer, short_answer


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"\frac{1}{4}", "1/4"),
        ("2^{x-1} + 2", "2ˣ⁻¹ + 2"),
        ("$x^2$ or $y$", "x² or y"),
        (r"\(x\)", "x"),
        (r"\begin{pmatrix} 1 \\[2pt] 2 \end{pmatrix}", "(1; 2)"),
        (r"\boxed{1}$ and $\boxed{\frac12}", "▌1▐ and ▌1/2▐"),
        (r"\boxed{1} and $\boxed{\frac12}", "▌1▐ and ▌1/2▐"),
        (r"\boxed{\pi} \) cubic, and \( \boxed{2\pi}", "▌π▐ cubic, and ▌2π▐"),
        (r"\boxed{\pi} \] so \[ \boxed{2\pi}", "▌π▐ so ▌2π▐"),
        (r"\$5", "$5"),
        ("same_day", "same_day"),
        ("**B**", "B"),
        ("5 & 6", "5 & 6"),
        ("", ""),
    ],
)
def test_answers_read_like_their_text(text: str, shown: str) -> None:
    assert render_answer(text) == shown


@given(st.lists(st.sampled_from([*"\\${}()[]^_&ab1 \n", r"\boxed{", r"\frac", r"\("])).map("".join))
def test_any_text_is_rendered(text: str) -> None:
    assert isinstance(render_answer(text), str)


def test_only_the_start_of_a_huge_answer_is_rendered() -> None:
    assert len(render_answer("9" * 1_000_000)) == LONGEST


def test_only_a_short_answer_is_shown_within_a_sentence() -> None:
    assert short_answer(r"\frac{1}{4}") == "1/4"
    assert short_answer(r"\frac{1}{4}", raw=True) == r"\frac{1}{4}"
    assert short_answer("\x1b[2J") == "␛[2J"
    assert short_answer("9" * 25) == short_answer(None) == ""
