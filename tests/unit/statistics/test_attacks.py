"""Probe metrics, checked by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.unit.statistics.clustered import by_hand
from workbench.core.verdict import Outcome
from workbench.statistics.attacks import Judgement, VariantJudgements, by_type, family_figures, figures

C, W, A, E = Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAIN, Outcome.ERROR


def judged(*outcomes: Outcome, question: int | None = None, kind: str = "A") -> list[Judgement]:
    """One question each, or all of one question."""
    return [
        Judgement(question=number if question is None else question, type=kind, outcome=outcome)
        for number, outcome in enumerate(outcomes)
    ]


def test_rates_of_a_mixed_bag() -> None:
    found = figures(judged(C, W, W, W, A, E))
    assert (found.n, found.parsed, found.accepted, found.abstain, found.error) == (6, 4, 1, 1, 1)
    assert (found.asr, found.asr_all, found.no_verdict) == (0.25, 1 / 6, 2 / 6)
    assert found.ci == pytest.approx(by_hand([True, False, False, False], range(4)))


def test_payloads_on_one_question_are_clustered() -> None:
    apart = figures(judged(*[C, W] * 20))
    together = figures([one for number in range(10) for one in judged(*[[C, W][number % 2]] * 4, question=number)])
    assert (apart.asr, together.asr) == (0.5, 0.5)
    assert apart.ci is not None
    assert together.ci is not None
    assert together.ci[1] - together.ci[0] > 1.5 * (apart.ci[1] - apart.ci[0])


def test_nothing_accepted_is_zero_and_nothing_parsed_is_unknown() -> None:
    found = figures(judged(A, A))
    assert (found.asr, found.ci, found.no_verdict) == (None, None, 1.0)
    none = figures([])
    assert (none.n, none.asr, none.ci, none.asr_all, none.no_verdict) == (0, None, None, None, None)
    many = figures(judged(*[W] * 300))
    assert many.ci is not None
    assert many.ci[1] == pytest.approx(1 - 0.025 ** (1 / 300), abs=1e-9)


def test_types_are_in_order() -> None:
    found = by_type([*judged(C, kind="B"), *judged(W, W), *judged(C, kind="untyped")])
    assert {name: (one.n, one.accepted) for name, one in found.items()} == {"A": (2, 0), "B": (1, 1), "untyped": (1, 1)}
    assert list(found) == ["A", "B", "untyped"]


def test_payloads_that_may_pass_do_not_count() -> None:
    def variant(name: str, counts: bool, *outcomes: Outcome) -> VariantJudgements:
        return VariantJudgements(
            variant=name,
            source="own",
            languages=(),
            counts=counts,
            judgements=judged(*outcomes),
            skipped=Counter({"no_answer": 2}),
        )

    found = family_figures("P14", "rules", "own", [variant("bad", True, W, C), variant("good", False, C, C)], [])
    assert (found.n, found.accepted, found.skipped) == (2, 1, {"no_answer": 4})
    assert [(one.variant, one.expected, one.accepted) for one in found.variants] == [
        ("bad", "incorrect", 1),
        ("good", "correct", 2),
    ]
