"""Text verifiers: equal texts are correct, and typesetting does not matter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Verifier
from workbench.verifiers.text import canonical_text, exact, normalized_exact


def _item(reference: str, completion: str) -> VerifierInput:
    return VerifierInput(item=1, question="", reference=reference, completion=completion)


def test_exact_compares_final_answers_only() -> None:
    completion = "First $\\boxed{7}$ seemed right.\nBut the answer is $\\boxed{12}$."
    verdict = exact().verify(_item("Six and six.\n#### 12", completion))
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, "text_equal")
    assert (verdict.reference_final, verdict.candidate_final) == ("12", "12")
    assert verdict.candidate_span is not None
    assert completion[slice(*verdict.candidate_span)] == "12"


def test_exact_treats_typesetting_as_a_difference() -> None:
    item = _item(r"$\frac{1}{2}$", r"$\boxed{\dfrac{1}{2}}$")
    assert (exact().verify(item).outcome, exact().verify(item).reason) == (Outcome.INCORRECT, "text_differs")
    assert normalized_exact().verify(item).outcome is Outcome.CORRECT


@pytest.mark.parametrize("verifier", [exact(), normalized_exact()])
def test_a_side_without_an_answer_abstains(verifier: Verifier) -> None:
    no_reference = verifier.verify(_item("", r"\boxed{4}"))
    assert (no_reference.outcome, no_reference.reason) == (Outcome.ABSTAIN, "no_reference_answer")
    no_answer = verifier.verify(_item("4", ""))
    assert (no_answer.outcome, no_answer.reason) == (Outcome.ABSTAIN, "no_answer_found")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"\dfrac{1}{2}", r"\frac12"),
        (r"$\left( 1, 2 \right)$", "(1,2)"),
        (r"\[ x^{2} + 1 \]", "x^2+1"),
        (r"\(x_{1}\)", "$x_1$"),
        ("1,234,567", "1234567"),
        ("1{,}234", "1234"),
        (r"\text{Yes}", "yes."),
        (r"\mathbf{False}", "false"),
        ("(B)", "B"),
        (r"\text{(C)}", "C."),
        (r"30^\circ", r"30^{\circ}"),
        (r"3\,\pi", r"3 \pi"),
        ("same  day", "Same day"),
        (r"50\%", "50%"),
        ("−3", "-3"),
        (r"5\text{ cm}", "5cm"),
    ],
)
def test_typesetting_is_no_difference(left: str, right: str) -> None:
    assert canonical_text(left) == canonical_text(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("AB", "ab"),
        ("A", "a"),
        ("1 2", "12"),
        ("(1,234)", "(1234)"),
        ("1,23", "123"),
        ("0.5", "5"),
        ("x^{12}", "x^12"),
        (r"\frac{1}{23}", r"\frac{12}{3}"),
        (r"\frac123", r"\frac{12}{3}"),
        (r"\leftarrow", "arrow"),
        ("5 cm", "5 m"),
        (r"\{1,2\}", "(1,2)"),
        ("[1,2)", "(1,2)"),
        (r"\sin x", r"\sinx"),
        ("yes", "no"),
        ("$5 and $6", "5 and $6"),
        ("9", "9%"),
        ("2024-01-05", "2024-05-01"),
    ],
)
def test_differences_in_meaning_are_kept(left: str, right: str) -> None:
    assert canonical_text(left) != canonical_text(right)


def test_answers_that_normalise_to_nothing_are_not_equal() -> None:
    assert normalized_exact().verify(_item(r"\,", r"$\,$")).reason == "no_reference_answer"
    assert normalized_exact().verify(_item("4", r"$\,$")).reason == "no_answer_found"


@given(st.text(alphabet=st.sampled_from("ab1 ,.$\\{}()[]^_~frcletx%")))
def test_surrounding_space_and_delimiters_never_matter(text: str) -> None:
    assert canonical_text(f"  {text}\n") == canonical_text(text)
    if "$" not in text and text.strip(". "):
        assert canonical_text(f"${text}$") == canonical_text(text)


@given(st.text(), st.text())
def test_any_text_gets_a_verdict(reference: str, completion: str) -> None:
    for verifier in (exact(), normalized_exact()):
        assert isinstance(verifier.verify(_item(reference, completion)), Verdict)


@pytest.mark.real_data
def test_no_wrong_answer_passes_on_real_rows(real_rows: list[dict[str, Any]]) -> None:
    for verifier in (exact(), normalized_exact()):
        passed = [
            row["gold_correct"]
            for row in real_rows
            if verifier.verify(_item(row["answer"], row["completion"])).outcome is Outcome.CORRECT
        ]
        assert passed
        assert all(passed)
