"""The area under the ROC curve per group, with scikit-learn as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from workbench.statistics.metrics.auroc import auroc

SCORES = st.sampled_from([-1e300, -3.0, -0.0, 0.0, 0.5, 0.5000000001, 2.0, 1e300, float("nan")]) | st.floats(-10, 10)
ROW = st.tuples(SCORES, st.integers(-1, 1), st.integers(0, 3))


@settings(deadline=None)
@given(st.lists(ROW, max_size=80))
def test_each_group_equals_scikit_learn(rows: list[tuple[float, int, int]]) -> None:
    score, gold, group = np.array(rows, dtype=np.float64).reshape(-1, 3).T
    found = auroc(score, gold.astype(np.int8), group.astype(np.int32), 4)
    assert len(found) == 4
    for number, area in enumerate(found):
        kept = (group == number) & (gold >= 0) & ~np.isnan(score)
        if len(set(gold[kept])) < 2:
            assert area is None
        else:
            assert area == pytest.approx(roc_auc_score(gold[kept], score[kept]), abs=1e-12)


def test_ties_count_one_half_and_order_is_all_that_counts() -> None:
    gold, group = np.array([1, 0, 1, 0]), np.zeros(4, dtype=np.int8)
    assert auroc(np.ones(4), gold, group, 1) == [0.5]
    assert auroc(np.array([3.0, 1.0, 2.0, 2.0]), gold, group, 1) == [0.875]
    assert auroc(np.array([1e9, -5.0, 0.0, 0.0]), gold, group, 1) == [0.875]


def test_missing_scores_or_classes_give_no_auroc() -> None:
    gold, group = np.array([1, 1, -1]), np.array([0, 0, 1])
    assert auroc(None, gold, group, 2) == [None, None]
    assert auroc(np.array([1.0, 2.0, 3.0]), gold, group, 2) == [None, None]
