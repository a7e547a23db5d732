"""The heuristics do exactly what they document, on any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.registry import Registry
from workbench.verifiers.text import choice_letter, last_number


def _item(reference: str, completion: str) -> VerifierInput:
    return VerifierInput(item=1, question="", reference=reference, completion=completion)


@pytest.mark.parametrize(
    ("reference", "completion", "number"),
    [
        ("6 * 3 = 18\n#### 18", "She sells 18 of them, not 17. So 18.", "18"),
        ("1,234", "in all 1234.00 dollars", "1234.00"),
        ("-4", "it falls to −4", "−4"),
        ("2", "it is 5-2", "2"),
        ("3", "the set {1,2,3}", "3"),
        ("0.5", "1 and 0.50, he said.", "0.50"),
        ("2345", "1,2345", "2345"),
        ("7", "<think>9</think> 7", "7"),
    ],
)
def test_last_number_compares_the_last_numbers_by_value(reference: str, completion: str, number: str) -> None:
    verdict = last_number().verify(_item(reference, completion))
    assert (verdict.outcome, verdict.reason) == (Outcome.CORRECT, "number")
    assert verdict.candidate_final == number
    assert verdict.candidate_span is not None
    assert completion[slice(*verdict.candidate_span)] == number
    assert verdict.reference_span is not None
    assert reference[slice(*verdict.reference_span)] == verdict.reference_final


def test_last_number_is_fooled_by_numbers_after_the_answer() -> None:
    assert last_number().verify(_item("18", r"$\boxed{18}$, checked in 2 ways")).outcome is Outcome.INCORRECT
    assert last_number().verify(_item(r"\frac{1}{2}", r"\boxed{\frac{3}{2}}")).outcome is Outcome.CORRECT


def test_last_number_abstains_without_numbers() -> None:
    assert last_number().verify(_item("x", "5")).reason == "no_reference_answer"
    no_answer = last_number().verify(_item("5", "<think>5</think> five"))
    assert (no_answer.outcome, no_answer.reason) == (Outcome.ABSTAIN, "no_answer_found")
    assert no_answer.reference_final == "5"


@pytest.mark.parametrize("reference", ["C", "(C)", r"\text{(C)}", "C. 12 cm", "(C) 12 cm", r"So it is $\boxed{C}$."])
def test_choice_letter_reads_the_letter_of_the_reference(reference: str) -> None:
    right = choice_letter().verify(_item(reference, "B looks good, but A is smaller than (C)."))
    assert (right.outcome, right.reason, right.candidate_final) == (Outcome.CORRECT, "letter", "C")
    wrong = choice_letter().verify(_item(reference, r"\boxed{\text{D}}"))
    assert (wrong.outcome, wrong.reference_final, wrong.candidate_final) == (Outcome.INCORRECT, "C", "D")


@pytest.mark.parametrize("reference", ["12", "B, C", "CO", "A triangle", "", "K"])
def test_choice_letter_abstains_if_the_reference_is_no_letter(reference: str) -> None:
    assert choice_letter().verify(_item(reference, "B")).reason == "no_reference_answer"


@pytest.mark.parametrize("completion", ["", "the last one", "NaCl and H2O", r"\A", "<think>C</think> none"])
def test_choice_letter_abstains_without_an_isolated_letter(completion: str) -> None:
    assert choice_letter().verify(_item("C", completion)).reason == "no_answer_found"


def test_choice_letter_is_fooled_by_an_article() -> None:
    assert choice_letter().verify(_item("B", "B. A catalyst is not used up.")).outcome is Outcome.INCORRECT


@given(st.text() | st.text(st.sampled_from("0123456789,.-−() AB\\")), st.text(st.sampled_from("0129,.-− ABC()\\x")))
def test_any_text_gets_a_verdict(reference: str, completion: str) -> None:
    for verifier in (last_number(), choice_letter()):
        verdict = verifier.verify(_item(reference, completion))
        assert isinstance(verdict, Verdict)
        if verdict.candidate_span is not None:
            assert completion[slice(*verdict.candidate_span)] == verdict.candidate_final


@pytest.mark.parametrize("text", ["1," * 300_000, "9" * 600_000, "111,222," * 80_000, "A" * 600_000, "-" * 600_000])
def test_long_texts_are_fast(text: str) -> None:
    for verifier in (last_number(), choice_letter()):
        assert verifier.verify(_item(text, text)).outcome is not Outcome.ERROR


def test_both_are_registered_inline() -> None:
    kinds = {kind.name: kind for kind in Registry().available()}
    assert {kinds[name].isolation for name in ("last-number", "choice-letter")} == {"inline"}
