"""Saturation against scipy on every draw, and the information of all tests and of one test."""

from __future__ import annotations

from itertools import combinations
from statistics import mean

import numpy as np
import pytest
from scipy.stats import spearmanr, t

from workbench.statistics.confusion import BoolArray
from workbench.statistics.ranking import correlations, saturation

PASSES: BoolArray = np.array(
    [[True] * 6, [True, True, True, False, True, False], [True, False, False, False, True, False], [False] * 6]
)


def test_all_tests_rank_as_all_tests() -> None:
    found = correlations(PASSES, (6,), resamples=20, seed=0, name="a")
    assert found == pytest.approx(1)


def test_the_mean_is_that_over_all_choices_of_tests() -> None:
    """Against every set of two tests, each as likely as any other."""
    full = PASSES.sum(axis=1)
    exact = [float(spearmanr(PASSES[:, list(some)].sum(axis=1), full).statistic) for some in combinations(range(6), 2)]
    found = correlations(PASSES, (1, 2), resamples=4000, seed=1, name="a")[:, 1]
    assert found.mean() == pytest.approx(mean(exact), abs=4 * float(np.std(exact)) / np.sqrt(4000))
    assert {round(value, 9) for value in found.tolist()} <= {round(value, 9) for value in exact}


def test_a_test_that_all_pass_has_no_information() -> None:
    constant = np.array([[True, True], [True, True], [True, False]])
    found = correlations(constant, (1,), resamples=200, seed=0, name="a")
    assert 0.3 < np.isnan(found).mean() < 0.7
    summary = saturation(found.T)
    assert summary.undefined == np.isnan(found).mean()
    assert summary.rho == pytest.approx(1 - summary.undefined)


def test_draws_depend_only_on_seed_and_name() -> None:
    one = correlations(PASSES, (2,), resamples=30, seed=0, name="a")
    assert np.array_equal(one, correlations(PASSES, (2,), resamples=30, seed=0, name="a"), equal_nan=True)
    assert not np.array_equal(one, correlations(PASSES, (2,), resamples=30, seed=1, name="a"), equal_nan=True)
    assert not np.array_equal(one, correlations(PASSES, (2,), resamples=30, seed=0, name="b"), equal_nan=True)


def test_intervals_are_students_over_resamples_and_over_problems() -> None:
    found = np.random.default_rng(0).random((5, 100))
    summary = saturation(found)
    means = found.mean(axis=0)
    low, high = t.interval(0.95, 99, loc=means.mean(), scale=means.std(ddof=1) / 10)
    assert summary.ci == pytest.approx((low, high))
    assert summary.sigma == pytest.approx(means.std(ddof=1))
    each = found.mean(axis=1)
    low, high = t.interval(0.95, 4, loc=each.mean(), scale=each.std(ddof=1) / np.sqrt(5))
    assert summary.problems_ci == pytest.approx((low, high))


def test_one_problem_has_no_interval_over_problems() -> None:
    assert saturation(np.array([[0.5, 0.6]])).problems_ci is None
