"""Metrics of a confusion table: by hand, at the extremes, and against scikit-learn."""

from __future__ import annotations

from math import sqrt
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, matthews_corrcoef

from tests.unit.statistics.clustered import by_hand
from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.confusion import Confusion, count
from workbench.statistics.metrics.accuracy import accuracy
from workbench.statistics.metrics.balanced_accuracy import balanced_accuracy
from workbench.statistics.metrics.fnr import fnr
from workbench.statistics.metrics.fpr import fpr
from workbench.statistics.metrics.mcc import mcc
from workbench.statistics.rates import class_rates, mcc_intervals

PROTOCOLS: tuple[Protocol3, ...] = get_args(Protocol3)


def test_metrics_of_a_table_computed_by_hand() -> None:
    counts = Confusion(tp=40, fp=9, tn=45, fn=6)
    assert accuracy(counts) == 0.85
    assert fpr(counts) == pytest.approx(9 / 54)
    assert fnr(counts) == pytest.approx(6 / 46)
    assert balanced_accuracy(counts) == pytest.approx((40 / 46 + 45 / 54) / 2)
    assert mcc(counts) == pytest.approx((40 * 45 - 9 * 6) / (49 * 46 * 54 * 51) ** 0.5)


def test_an_always_incorrect_verifier_is_good_only_by_accuracy() -> None:
    counts = Confusion(tp=0, fp=0, tn=709, fn=291)
    assert accuracy(counts) == 0.709
    assert mcc(counts) == 0
    assert balanced_accuracy(counts) == 0.5
    assert fpr(counts) == 0
    assert fnr(counts) == 1


def test_without_rows_everything_is_undefined() -> None:
    nothing = Confusion(tp=0, fp=0, tn=0, fn=0)
    assert accuracy(nothing) is None
    assert balanced_accuracy(nothing) is None
    assert fpr(nothing) is None
    assert fnr(nothing) is None
    assert mcc(nothing) is None


@settings(deadline=None)
@given(st.integers(0, 500), st.integers(0, 500), st.booleans())
def test_a_constant_verifier_has_mcc_zero_only_with_both_classes(
    positives: int, negatives: int, says_correct: bool
) -> None:
    counts = (
        Confusion(tp=positives, fp=negatives, tn=0, fn=0)
        if says_correct
        else Confusion(tp=0, fp=0, tn=negatives, fn=positives)
    )
    both = positives and negatives
    assert mcc(counts) == (0 if both else None)
    assert balanced_accuracy(counts) == (0.5 if both else None)


def test_mcc_of_millions_of_rows_does_not_overflow() -> None:
    counts = Confusion(tp=10**9, fp=0, tn=10**9, fn=0)
    assert mcc(counts) == 1


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_metrics_equal_scikit_learn(protocol: Protocol3, seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(20, 400))
    gold = random.integers(0, 2, size).astype(np.int8)
    outcomes = random.choice(4, size, p=random.dirichlet([2, 2, 1, 1])).astype(np.int8)
    counts = count(outcomes, gold, protocol)

    truth, predicted = _as_predictions(outcomes, gold, protocol)
    matrix = confusion_matrix(truth, predicted, labels=[0, 1])
    assert [[counts.tn, counts.fp], [counts.fn, counts.tp]] == matrix.tolist()
    assert accuracy(counts) == pytest.approx((truth == predicted).mean(), abs=1e-12)
    assert mcc(counts) == pytest.approx(matthews_corrcoef(truth, predicted), abs=1e-12)
    assert set(truth) == {0, 1}
    assert balanced_accuracy(counts) == pytest.approx(balanced_accuracy_score(truth, predicted), abs=1e-12)


def _as_predictions(outcomes: np.ndarray, gold: np.ndarray, protocol: Protocol3) -> tuple[np.ndarray, np.ndarray]:
    undecided = outcomes >= OutcomeCode.ABSTAIN
    if protocol == "decided":
        return gold[~undecided], outcomes[~undecided]
    stand_in = np.zeros_like(gold) if protocol == "forced" else 1 - gold
    return gold, np.where(undecided, stand_in, outcomes)


def test_the_interval_of_mcc_is_put_together_from_three_shares() -> None:
    """TPR, TNR and the share of correct completions, an item a question: a third share makes it wider."""
    tp, fn, tn, fp = 45, 15, 50, 30
    cells = np.array(
        [[[0, 0], [0, 1]]] * tp + [[[0, 0], [1, 0]]] * fn + [[[0, 1], [0, 0]]] * tn + [[[1, 0], [0, 0]]] * fp
    )
    known = class_rates(cells, np.zeros(len(cells), dtype=np.int64), 1)

    def figure(tpr: float, tnr: float, pi: float) -> float:
        accepted = pi * tpr + (1 - pi) * (1 - tnr)
        return (tpr + tnr - 1) * sqrt(pi * (1 - pi) / (accepted * (1 - accepted)))

    shares = [tp / (tp + fn), tn / (tn + fp), (tp + fn) / len(cells)]
    ends = [
        by_hand([place < k for place in range(n)], range(n)) or (0.0, 1.0)
        for k, n in ((tp, tp + fn), (tn, tn + fp), (tp + fn, len(cells)))
    ]
    at = figure(*shares)
    assert at == pytest.approx(mcc(Confusion(tp=tp, fn=fn, tn=tn, fp=fp)))
    reach = []
    for sign in (-1, 1):
        alone = [
            max(sign * (figure(*(end if place == one else share for place, share in enumerate(shares))) - at), 0.0)
            for one in range(3)
            for end in ends[one]
        ]
        reach.append(sqrt(sum(max(pair) ** 2 for pair in zip(alone[::2], alone[1::2], strict=True))))
    assert mcc_intervals(known)[0] == pytest.approx((at - reach[0], at + reach[1]))
