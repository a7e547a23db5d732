"""Agreement and joint errors: manual values, numpy and scikit-learn as oracles, symmetry."""

from __future__ import annotations

from math import atanh, sqrt, tanh
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from scipy.special import stdtrit
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.agreement.cohen import pairs
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import grade
from workbench.statistics.joint_errors import Verdicts, judge_pair, verdict_codes
from workbench.statistics.records.comparison import JudgePair

OUTCOMES = st.integers(-1, 3)
ROWS = st.lists(st.tuples(OUTCOMES, OUTCOMES, st.integers(-1, 1), st.integers(0, 6)), min_size=1, max_size=60)
Rows = list[tuple[int, int, int, int]]


def pair(rows: Rows, protocol: Protocol3 = "forced") -> JudgePair:
    a, b, gold, question = (np.array(column, dtype=np.int8) for column in zip(*rows, strict=True))
    return judge_pair(
        "a", "b", Verdicts(verdict_codes(a, protocol), verdict_codes(b, protocol), gold, question.astype(np.int64))
    )


def repeated(*cells: tuple[int, int, int, int]) -> Rows:
    """Expand (a, b, gold, count) to rows with distinct questions."""
    rows = [(a, b, gold) for a, b, gold, often in cells for _ in range(often)]
    return [(*row, place % 100) for place, row in enumerate(rows)]


def test_worked_by_hand() -> None:
    # Of the incorrect ones both accept 3, only A 2, only B 1; of the correct ones both reject 4, only A 1.
    found = pair(
        repeated((1, 1, 0, 3), (1, 0, 0, 2), (0, 1, 0, 1), (0, 0, 0, 14), (0, 0, 1, 4), (0, 1, 1, 1), (1, 1, 1, 5))
    )
    assert (found.n, found.questions) == (30, 30)
    assert found.agreement == pytest.approx(26 / 30)
    errors = found.errors
    assert (errors.n, errors.wrong_a, errors.wrong_b, errors.both_wrong) == (30, 10, 8, 7)
    assert errors.expected == pytest.approx(80 / 30)
    assert errors.phi == pytest.approx((7 * 19 - 3 * 1) / (10 * 20 * 8 * 22) ** 0.5)
    assert errors.yules_q == pytest.approx((7 * 19 - 3) / (7 * 19 + 3))
    assert (found.on_incorrect.n, found.on_incorrect.wrong_a, found.on_incorrect.wrong_b) == (20, 5, 4)
    assert found.on_correct.both_wrong == 4
    assert found.on_correct.expected == pytest.approx(2.0)
    assert found.expected_given_gold == pytest.approx(5 * 4 / 20 + 5 * 4 / 10)
    assert found.either_right == pytest.approx(23 / 30)
    # po = 26/30; A accepts 10, B 10: pe = (10 x 10 + 20 x 20) / 900.
    assert found.kappa == pytest.approx((26 / 30 - 500 / 900) / (1 - 500 / 900))


def test_kappas_golden_value() -> None:
    found = pair(repeated((1, 1, -1, 40), (1, 0, -1, 9), (0, 1, -1, 6), (0, 0, -1, 45)))
    assert found.kappa == pytest.approx(0.699519230769, abs=1e-9)
    assert found.agreement == pytest.approx(0.85)
    assert found.errors.n == 0


@settings(deadline=None)
@given(ROWS, st.sampled_from(get_args(Protocol3)))
def test_errors_are_those_the_protocol_counts(rows: Rows, protocol: Protocol3) -> None:
    a, b, gold, _ = (np.array(column) for column in zip(*rows, strict=True))
    (counted_a, right_a), (counted_b, right_b) = grade(a, gold, protocol), grade(b, gold, protocol)
    both = counted_a & counted_b
    found = pair(rows, protocol)
    for joint, kept in (
        (found.errors, both),
        (found.on_correct, both & (gold == 1)),
        (found.on_incorrect, both & (gold == 0)),
    ):
        wrong_a, wrong_b = ~right_a[kept], ~right_b[kept]
        assert (joint.n, joint.wrong_a, joint.wrong_b) == (kept.sum(), wrong_a.sum(), wrong_b.sum())
        assert joint.both_wrong == (wrong_a & wrong_b).sum()
        varies = len(set(wrong_a.tolist())) == len(set(wrong_b.tolist())) == 2
        assert joint.phi == (pytest.approx(matthews_corrcoef(wrong_a, wrong_b)) if varies else None)
    n = found.errors.n
    assert found.either_right == (pytest.approx((right_a | right_b)[both].sum() / n) if n else None)


@settings(deadline=None)
@given(ROWS, st.sampled_from(get_args(Protocol3)))
def test_agreement_needs_no_gold_and_equals_scikit_learns(rows: Rows, protocol: Protocol3) -> None:
    a, b, _, question = (np.array(column) for column in zip(*rows, strict=True))
    word_a, word_b = verdict_codes(a, protocol), verdict_codes(b, protocol)
    both = (word_a >= 0) & (word_b >= 0)
    found = pair(rows, protocol)
    assert (found.n, found.questions) == (both.sum(), len(set(question[both].tolist())))
    assert found.agreement == (pytest.approx((word_a == word_b)[both].mean()) if both.any() else None)
    several = len({*word_a[both].tolist(), *word_b[both].tolist()}) > 1
    assert found.kappa == (pytest.approx(cohen_kappa_score(word_a[both], word_b[both])) if several else None)
    without = pair([(*row[:2], -1, row[3]) for row in rows], protocol)
    assert (without.n, without.agreement, without.kappa) == (found.n, found.agreement, found.kappa)


@settings(deadline=None, max_examples=30)
@given(ROWS)
def test_swapping_mirrors_everything(rows: Rows) -> None:
    one, other = pair(rows), pair([(b, a, gold, question) for a, b, gold, question in rows])
    for name in ("n", "questions", "agreement", "expected_given_gold", "either_right"):
        assert getattr(one, name) == getattr(other, name)
    assert one.kappa == (None if other.kappa is None else pytest.approx(other.kappa))
    turned = structs.replace(other.errors, wrong_a=other.errors.wrong_b, wrong_b=other.errors.wrong_a)
    same = structs.asdict(one.errors)
    assert all(
        same[name] == (value if value is None else pytest.approx(value))
        for name, value in structs.asdict(turned).items()
    )


@settings(deadline=None, max_examples=30)
@given(ROWS, st.sampled_from(get_args(Protocol3)))
def test_nothing_is_ever_not_a_number(rows: Rows, protocol: Protocol3) -> None:
    found = pair(rows, protocol)
    for part in (found, found.errors, found.on_correct, found.on_incorrect):
        values = [value for value in structs.asdict(part).values() if isinstance(value, float)]
        assert all(value == value for value in values)
    assert found.kappa is None or -1 <= found.kappa <= 1
    assert found.errors.phi is None or -1.0000001 <= found.errors.phi <= 1.0000001


def test_phis_interval_leaves_out_one_question_at_a_time() -> None:
    """By the definition: Fisher's transformation, Student's t, the degrees of freedom of what carries it."""
    draw = np.random.default_rng(4)
    rows: Rows = []
    for question in range(80):
        hard = draw.random() < 0.3
        for _ in range(2):
            gold = int(draw.random() < 0.4)
            a, b = (gold ^ int(draw.random() < (0.6 if hard else 0.1)) for _ in range(2))
            rows.append((a, b, gold, question))
    for truth, part in ((None, "errors"), (0, "on_incorrect"), (1, "on_correct")):
        found = getattr(pair(rows), part)
        wrong = [(a != gold, b != gold, place) for a, b, gold, place in rows if truth in (None, gold)]
        places = sorted({place for *_, place in wrong})
        without = [_correlation([(a, b) for a, b, place in wrong if place != out]) for out in places]
        number = len(places)
        error = sqrt((number - 1) / number * sum((one - sum(without) / number) ** 2 for one in without))
        masses = [[sum(a + b == many for a, b, own in wrong if own == place) for place in places] for many in (1, 2)]
        freedom = min(sum(mass) ** 2 / sum(one**2 for one in mass) for mass in masses) - 1
        half = stdtrit(freedom, 0.975) * error
        phi = _correlation([(a, b) for a, b, _ in wrong])
        low, high = (tanh(atanh(phi) + side * half / (1 - phi**2)) for side in (-1, 1))
        high = max(high, 1 - (1 - phi) * max(1 - half / (2 * (1 - phi)), 0) ** 2)
        assert (found.phi, *found.phi_ci) == pytest.approx((phi, low, high))


def _correlation(wrong: list[tuple[bool, bool]]) -> float:
    return float(np.corrcoef(np.array(wrong, dtype=float).T)[0, 1])


@pytest.mark.parametrize("swapped", [False, True])
def test_errors_that_hardly_ever_meet_have_no_interval_of_their_correlation(swapped: bool) -> None:
    """A bootstrap's percentiles held the truth in .26 to .49 of data sets with so few errors."""
    rows = [(int(place < 5), int(4 <= place < 9), 0, place) for place in range(50)]
    found = pair([(1 - a, 1 - b, gold, place) for a, b, gold, place in rows] if swapped else rows)
    assert found.errors.phi is not None
    assert found.errors.both_wrong == (41 if swapped else 1)
    assert found.errors.phi_ci is None


def test_the_interval_of_phi_holds_the_truth() -> None:
    """Two that err on a tenth of items, half of them together, in 60 questions of 3: .99 here; by a bootstrap .88."""
    draw = np.random.default_rng(9)
    held = shown = 0
    for _ in range(200):
        hard = np.repeat(draw.beta(0.5, 4.5, 60), 3)
        shared, own, together = draw.random((3, 180))
        a = shared < hard
        b = np.where(together < 0.5, a, own < hard)
        found = pair([(int(one), int(two), 0, place // 3) for place, (one, two) in enumerate(zip(a, b, strict=True))])
        if found.errors.phi_ci is not None:
            shown += 1
            held += found.errors.phi_ci[0] <= 0.583 <= found.errors.phi_ci[1]
    assert shown > 100
    assert held >= 0.95 * shown


def test_kappa_has_peoples_interval_by_question() -> None:
    """Two verifiers who err together in hard questions, and the same verdicts as labels of two people."""
    draw = np.random.default_rng(4)
    hard = np.repeat(draw.random(80) < 0.3, 2)
    truth = draw.random(160) < 0.4
    a, b = (truth ^ (draw.random(160) < np.where(hard, 0.6, 0.1)) for _ in range(2))
    question = np.arange(160) // 2
    found = pair([(int(x), int(y), 1, q) for x, y, q in zip(a, b, question.tolist(), strict=True)])
    item = np.repeat(np.arange(160), 2)
    people = Ratings(
        item=item,
        annotator=np.tile([0, 1], 160),
        value=np.stack([a, b], axis=1).ravel().astype(int),
        items=160,
        annotators=2,
        categories=2,
    )
    assert found.kappa_ci == pytest.approx(pairs(people, question).interval(0))
    assert found.kappa_ci != pytest.approx(pairs(people, np.arange(160)).interval(0))


def test_undecided_verdicts_in_each_protocol() -> None:
    rows = repeated((OutcomeCode.ABSTAIN, OutcomeCode.ERROR, 0, 4), (OutcomeCode.ABSTAIN, 0, 0, 2), (1, 1, 1, 3))
    strict, forced, decided = (pair(rows, protocol) for protocol in get_args(Protocol3))
    assert (forced.n, forced.agreement, forced.errors.both_wrong) == (9, 1.0, 0)
    assert (strict.n, strict.errors.both_wrong, strict.errors.wrong_a) == (9, 4, 6)
    assert strict.agreement == pytest.approx(7 / 9)
    assert (decided.n, decided.agreement, decided.kappa) == (3, 1.0, None)


def test_nothing_in_common_is_undefined_and_no_error() -> None:
    found = pair([(0, -1, 1, 0), (-1, 1, 0, 1)])
    assert (found.n, found.questions, found.agreement, found.kappa, found.kappa_ci) == (0, 0, None, None, None)
    assert found.errors.expected is found.errors.phi is found.errors.yules_q is found.either_right is None
    assert found.expected_given_gold is None
