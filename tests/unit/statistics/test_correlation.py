"""Correlations of scores with gold labels, and undefined ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from workbench.statistics.correlation import METHODS, Correlation, correlations


def test_a_table_worked_by_hand() -> None:
    # Group 0: scores and labels rise together. Group 1: constant scores. Group 2: they run against each other.
    score = np.array([0.0, 4.0, 2.0, 2.0, 4.0, 0.0])
    gold = np.array([0, 1, 0, 1, 0, 1])
    group = np.array([7, 7, 8, 8, 9, 9])
    found = correlations(score, gold, group)
    assert list(found) == list(METHODS)
    for one in found.values():
        assert [one.corpus, one.mean] == pytest.approx([0, 0])
        assert (one.defined, one.groups) == (2, 3)


def test_kendall_is_tau_b_and_all_are_scipys() -> None:
    score = np.array([0.0, 1.0, 1.0, 3.0, 4.0, 4.0, 2.0])
    gold = np.array([0, 0, 1, 0, 1, 1, 0])
    found = correlations(score, gold, np.zeros(7, dtype=np.int64))
    assert found["kendall"].corpus == pytest.approx(stats.kendalltau(score, gold).statistic)
    assert found["pearson"].corpus == pytest.approx(np.corrcoef(score, gold)[0, 1])
    assert found["spearman"].corpus == pytest.approx(np.corrcoef(stats.rankdata(score), stats.rankdata(gold))[0, 1])
    assert all(one.mean == one.corpus and one.defined == 1 for one in found.values())


def test_rows_without_score_or_label_do_not_count() -> None:
    score = np.array([0.0, 4.0, np.nan, 3.0])
    gold = np.array([0, 1, 1, -1])
    group = np.array([0, 0, 0, 5])
    found = correlations(score, gold, group)["pearson"]
    assert [found.corpus, found.mean] == pytest.approx([1, 1])
    assert (found.defined, found.groups) == (1, 1)


def test_nothing_varies() -> None:
    empty = np.array([], dtype=np.float64)
    none = np.array([], dtype=np.int64)
    assert correlations(empty, none, none)["kendall"] == Correlation(corpus=None, mean=None, defined=0, groups=0)
    one = correlations(np.array([4.0, 4.0]), np.array([0, 1]), np.array([0, 0]))["kendall"]
    assert one == Correlation(corpus=None, mean=None, defined=0, groups=1)
