"""A fitted threshold is optimal, and the highest among equals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from workbench.statistics.records.probe import Method
from workbench.statistics.scores import fit_threshold

Rows = list[tuple[float, bool]]

numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e100, 1e100))
rows = st.lists(st.tuples(numbers, st.booleans()), min_size=2, max_size=30).filter(
    lambda found: len({correct for _, correct in found}) == 2
)


def fitted(found: Rows, method: Method) -> float:
    scores, correct = zip(*found, strict=True)
    return fit_threshold(np.array(scores, dtype=np.float64), np.array(correct), method)


def value(found: Rows, threshold: float, method: Method) -> float:
    """Twice counted, by the rule itself."""
    tp = sum(correct and score >= threshold for score, correct in found)
    fp = sum(not correct and score >= threshold for score, correct in found)
    positives = sum(correct for _, correct in found)
    if method == "accuracy":
        return tp - fp
    return tp * (len(found) - positives) - fp * positives


@pytest.mark.parametrize("method", ["accuracy", "youden"])
@given(found=rows)
def test_no_other_threshold_is_better(method: Method, found: Rows) -> None:
    threshold = fitted(found, method)
    candidates = [*(score for score, _ in found), math.nextafter(max(score for score, _ in found), math.inf)]
    best = max(value(found, one, method) for one in candidates)
    assert value(found, threshold, method) == best
    assert threshold == max(one for one in candidates if value(found, one, method) == best)


@given(found=rows)
def test_youden_equals_scikit_learn(found: Rows) -> None:
    scores, correct = zip(*found, strict=True)
    fpr, tpr, thresholds = roc_curve(correct, scores, drop_intermediate=False)
    threshold = fitted(found, "youden")
    accepted = np.array(scores) >= threshold
    ours = accepted[np.array(correct)].mean() - accepted[~np.array(correct)].mean()
    assert ours == pytest.approx((tpr - fpr).max(), abs=1e-12)
    assert any(math.isinf(one) or one == threshold for one in thresholds[np.isclose(tpr - fpr, (tpr - fpr).max())])


def test_by_hand() -> None:
    found = [(0.9, True), (0.8, False), (0.7, True), (0.6, True), (0.2, False), (0.1, False)]
    assert fitted(found, "accuracy") == 0.6
    assert fitted(found, "youden") == 0.6
    skewed = [(0.9, False), (0.5, True), (0.4, False), (0.3, False)]
    assert fitted(skewed, "accuracy") == math.nextafter(0.9, math.inf)
    assert fitted(skewed, "youden") == 0.5


@pytest.mark.parametrize("found", [[(0.1, True), (0.2, True)], [(0.1, False)]])
def test_a_missing_class_is_rejected(found: Rows) -> None:
    with pytest.raises(ValueError, match="correct and incorrect"):
        fitted(found, "accuracy")
