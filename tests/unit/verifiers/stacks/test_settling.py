"""Stages of a stack: their syntax, and which items they decide."""

from __future__ import annotations

import pytest

from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.stacks.stack import format_stages, stages


def settled(stage: str, outcome: Outcome, score: float | None = None) -> Outcome | None:
    (one,) = stages(stage)
    return one.settled(Verdict(outcome=outcome, score=score))


def test_a_bare_name_decides_both_verdicts() -> None:
    for spelt in ("v", "v:both", "v:correct/incorrect", " v : both "):
        assert settled(spelt, Outcome.CORRECT) is Outcome.CORRECT
        assert settled(spelt, Outcome.INCORRECT) is Outcome.INCORRECT
        assert settled(spelt, Outcome.ABSTAIN) is None
        assert settled(spelt, Outcome.ERROR) is None


def test_a_single_verdict_decides_only_that_verdict() -> None:
    assert settled("v:correct", Outcome.CORRECT) is Outcome.CORRECT
    assert settled("v:correct", Outcome.INCORRECT) is None
    assert settled("v:incorrect", Outcome.INCORRECT) is Outcome.INCORRECT
    assert settled("v:incorrect", Outcome.CORRECT) is None


def test_a_score_decides_any_verdict_except_failures() -> None:
    rule = "v:score>=0.9/score<=0.1"
    assert settled(rule, Outcome.INCORRECT, 0.9) is Outcome.CORRECT
    assert settled(rule, Outcome.CORRECT, 0.1) is Outcome.INCORRECT
    assert settled(rule, Outcome.CORRECT, 0.5) is None
    assert settled(rule, Outcome.CORRECT) is None
    assert settled(rule, Outcome.ABSTAIN, 3.0) is Outcome.CORRECT
    assert settled(rule, Outcome.ERROR, 3.0) is None
    assert settled("v:correct/score<=-1.5e1", Outcome.INCORRECT, -15.0) is Outcome.INCORRECT
    assert settled("v:correct/score<=-1.5e1", Outcome.CORRECT, 0.0) is Outcome.CORRECT


def test_types_restrict_the_items_of_a_stage() -> None:
    (one,) = stages("v:both@A/B2")
    assert [one.is_for(subtype) for subtype in ("A1", "A8", "A", "B2", "B1", "B", None)] == [
        True, True, True, True, False, False, False,
    ]  # fmt: skip
    assert all(stages("v")[0].is_for(subtype) for subtype in ("A1", None))


@pytest.mark.parametrize(
    ("spelt", "again"),
    [
        ("rules", "rules:both"),
        ("rules:incorrect/correct, gpt", "rules:both, gpt:both"),
        ("my/judge@v1:score>=1e-3@A", "my/judge@v1:score>=0.001@A"),
        ("v:correct/score<=.5", "v:correct/score<=0.5"),
    ],
)
def test_stages_have_one_canonical_spelling(spelt: str, again: str) -> None:
    assert format_stages(stages(spelt)) == again
    assert stages(again) == stages(spelt)


@pytest.mark.parametrize(
    ("spelt", "said"),
    [
        ("", "stages: it is missing"),
        (" , ", "stages: it is missing"),
        (":both", "doesn't name a verifier"),
        ("v:", "after the colon"),
        ("v:right", "'right' decides nothing"),
        ("v:score>0.5", "decides nothing"),
        ("v:score>=nan", "decides nothing"),
        ("v:score>=1e999", "too large"),
        ("v:score>=0.1/score<=0.5", "can't be incorrect"),
        ("v:score>=0.5/correct/score>=0.7", "two conditions with >="),
        ("v:score<=0.5/score<=0.5", "two conditions with <="),
        ("v:both@", "answer types"),
        ("v:both@numbers", "answer types"),
        ("v:both@A//B", "answer types"),
        (",".join(["v"] * 21), "20 at most"),
    ],
)
def test_an_invalid_stage_is_rejected(spelt: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        stages(spelt)
