"""Agreement and errors in common: figures worked by hand, numpy and scikit-learn as oracles, mirrors."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef

from workbench.core.verdict import Outcome, Protocol3
from workbench.statistics.agreement.cohen import pairs
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import grade
from workbench.statistics.joint_errors import Verdicts, judge_pair, said
from workbench.statistics.records.comparison import Bootstrap, JudgePair

OUTCOMES = st.integers(-1, 3)
ROWS = st.lists(st.tuples(OUTCOMES, OUTCOMES, st.integers(-1, 1), st.integers(0, 6)), min_size=1, max_size=60)
Rows = list[tuple[int, int, int, int]]


def pair(rows: Rows, protocol: Protocol3 = "forced", draws: Bootstrap | None = None) -> JudgePair:
    a, b, gold, question = (np.array(column, dtype=np.int8) for column in zip(*rows, strict=True))
    return judge_pair("a", "b", Verdicts(said(a, protocol), said(b, protocol), gold, question.astype(np.int64)), draws)


def repeated(*cells: tuple[int, int, int, int]) -> Rows:
    """(a, b, gold, how often), each in a question of its own."""
    rows = [(a, b, gold) for a, b, gold, often in cells for _ in range(often)]
    return [(*row, place % 100) for place, row in enumerate(rows)]


def test_worked_by_hand() -> None:
    # Of incorrect ones both accept 3, A alone 2, B alone 1; of correct ones both refuse 4, A alone 1.
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
    word_a, word_b = said(a, protocol), said(b, protocol)
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
    draws = Bootstrap(samples=50, seed=1)
    one, other = pair(rows, draws=draws), pair([(b, a, gold, question) for a, b, gold, question in rows], draws=draws)
    for name in ("n", "questions", "agreement", "expected_given_gold", "either_right"):
        assert getattr(one, name) == getattr(other, name)
    assert one.kappa == (None if other.kappa is None else pytest.approx(other.kappa))
    turned = structs.replace(other.errors, wrong_a=other.errors.wrong_b, wrong_b=other.errors.wrong_a, phi_ci=None)
    same = structs.asdict(structs.replace(one.errors, phi_ci=None))
    assert all(
        same[name] == (value if value is None else pytest.approx(value))
        for name, value in structs.asdict(turned).items()
    )


@settings(deadline=None, max_examples=30)
@given(ROWS, st.sampled_from(get_args(Protocol3)))
def test_nothing_is_ever_not_a_number(rows: Rows, protocol: Protocol3) -> None:
    found = pair(rows, protocol, Bootstrap(samples=30, seed=0))
    for part in (found, found.errors, found.on_correct, found.on_incorrect):
        values = [value for value in structs.asdict(part).values() if isinstance(value, float)]
        assert all(value == value for value in values)
    assert found.kappa is None or -1 <= found.kappa <= 1
    assert found.errors.phi is None or -1.0000001 <= found.errors.phi <= 1.0000001


def test_intervals_are_those_of_a_plain_bootstrap_of_questions() -> None:
    draw = np.random.default_rng(4)
    rows: Rows = []
    for question in range(80):
        hard = draw.random() < 0.3
        for _ in range(2):
            gold = int(draw.random() < 0.4)
            a, b = (gold ^ int(draw.random() < (0.6 if hard else 0.1)) for _ in range(2))
            rows.append((a, b, gold, question))
    found = pair(rows, draws=Bootstrap(samples=10_000, seed=2))
    of = [[row for row in rows if row[3] == question] for question in range(80)]
    phis = []
    for _ in range(800):
        sample = pair([row for place in draw.integers(80, size=80) for row in of[place]])
        phis.append(sample.errors.phi)
    assert found.errors.phi_ci == pytest.approx(tuple(np.quantile(np.array(phis, float), (0.025, 0.975))), abs=0.04)


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
    rows = repeated((Outcome.ABSTAIN, Outcome.ERROR, 0, 4), (Outcome.ABSTAIN, 0, 0, 2), (1, 1, 1, 3))
    forced, strict, decided = (pair(rows, protocol) for protocol in get_args(Protocol3))
    assert (forced.n, forced.agreement, forced.errors.both_wrong) == (9, 1.0, 0)
    assert (strict.n, strict.errors.both_wrong, strict.errors.wrong_a) == (9, 4, 6)
    assert strict.agreement == pytest.approx(7 / 9)
    assert (decided.n, decided.agreement, decided.kappa) == (3, 1.0, None)


def test_nothing_in_common_is_undefined_and_no_error() -> None:
    found = pair([(0, -1, 1, 0), (-1, 1, 0, 1)], draws=Bootstrap(samples=20, seed=0))
    assert (found.n, found.questions, found.agreement, found.kappa, found.kappa_ci) == (0, 0, None, None, None)
    assert found.errors.expected is found.errors.phi is found.errors.yules_q is found.either_right is None
    assert found.expected_given_gold is None
