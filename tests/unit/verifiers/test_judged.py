"""Results of verifiers made safe to store: texts, offsets, failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.verifiers.conftest import Install
from workbench.core.errors import VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.verifiers.base import Pending, StagedVerifier
from workbench.verifiers.judging import first_stage, judged
from workbench.verifiers.registry import Registry

ITEM = VerifierInput(item=1, question="", reference="seven", completion="so 8")


class Answering:
    """Answers what it was made with, in both stages."""

    description = "Answers"
    options: ClassVar[dict[str, str]] = {}
    preload: tuple[str, ...] = ()
    name = "answering"
    version = "1"
    isolation = "staged"

    def __init__(self, answer: Callable[[], Any] = lambda: None) -> None:
        self.answer = answer

    def config(self) -> dict[str, object]:
        return {}

    def verify(self, item: VerifierInput) -> Any:
        return self.answer()

    quick = verify


def answering(answer: Any) -> StagedVerifier:
    return cast("StagedVerifier", Answering(lambda: answer))


SPANS = st.none() | st.tuples(st.integers(-2, 7), st.integers(-2, 7))


@given(SPANS, SPANS)
def test_offsets_outside_their_text_are_dropped(reference: Any, candidate: Any) -> None:
    given_ = Verdict(outcome=Outcome.CORRECT, reference_span=reference, candidate_span=candidate)
    for kept in (judged(answering(given_), ITEM), first_stage(answering(given_), ITEM)):
        assert isinstance(kept, Verdict)
        assert kept.reference_span == (reference if reference and 0 <= reference[0] <= reference[1] <= 5 else None)
        assert kept.candidate_span == (candidate if candidate and 0 <= candidate[0] <= candidate[1] <= 4 else None)


@pytest.mark.parametrize("span", [("0", "1"), (0,), (0, 1, 2), 3, "01", (0.0, 1.0)])
def test_invalid_offsets_are_dropped(span: Any) -> None:
    assert judged(answering(Verdict(outcome=Outcome.CORRECT, candidate_span=span)), ITEM).candidate_span is None


def test_long_texts_are_truncated() -> None:
    long = "x" * 100_000
    kept = judged(answering(Verdict(outcome=Outcome.ERROR, reason=long, rule=long, detail=long)), ITEM)
    assert (kept.reason, kept.rule) == ("x" * 100, "x" * 100)
    assert len(kept.detail or "") == 20_000


def test_a_first_stage_can_defer_an_item_with_its_findings() -> None:
    known = Verdict(outcome=Outcome.ABSTAIN, candidate_final="8", candidate_span=(3, 40))
    left = first_stage(answering(Pending(key=b"k", verdict=known)), ITEM)
    assert isinstance(left, Pending)
    assert left.verdict is not None
    assert (left.key, left.verdict.candidate_final, left.verdict.candidate_span) == (b"k", "8", None)


@pytest.mark.parametrize(
    "answer", [None, "correct", Pending(key=cast("Any", "text"), verdict=Verdict(outcome=Outcome.CORRECT))]
)
def test_an_invalid_first_stage_result_is_an_error_verdict(answer: Any) -> None:
    found = first_stage(answering(answer), ITEM)
    assert isinstance(found, Verdict)
    assert (found.outcome, found.reason) == (Outcome.ERROR, "internal")
    assert "instead of a Verdict" in (found.detail or "")


def test_an_exception_in_the_first_stage_is_an_error_verdict() -> None:
    def fail() -> None:
        raise ValueError("no such thing")

    found = first_stage(cast("StagedVerifier", Answering(fail)), ITEM)
    assert isinstance(found, Verdict)
    assert (found.outcome, found.detail) == (Outcome.ERROR, "ValueError: no such thing")


class OneStage:
    description = "Lacks its first stage"
    options: ClassVar[dict[str, str]] = {}
    name = "one-stage"
    isolation = "staged"
    config = verify = Answering.config


def test_a_staged_verifier_without_a_first_stage_is_incomplete(install: Install) -> None:
    install("one-stage", {"one-stage": "tests.unit.verifiers.test_judged:OneStage"})
    with pytest.raises(VerifierError, match="lacks quick"):
        Registry().load("one-stage")
