"""Rank correlations of few verifiers: scipy's coefficients, exact enumeration, and the limits of few."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.statistics.correlation import FEWEST, SAMPLES, SEED, associations, is_exact, orders_of

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=5)


def test_three_in_perfect_order_have_p_one_sixth_and_no_interval() -> None:
    """VerifyBench 5.2 has three verifiers."""
    found = associations(np.array([0.731, 0.92, 0.81]), np.array([80.1, 90.5, 85.0]))
    for one in (found.spearman, found.kendall):
        assert one.coefficient == pytest.approx(1)
        assert one.p == one.least_p == pytest.approx(1 / 6)
        assert one.ci is None


@settings(deadline=None, max_examples=40)
@given(PAIRS)
def test_coefficients_and_p_equal_scipys_and_full_enumeration(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = associations(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert found.spearman.coefficient is found.kendall.coefficient is None
        return
    for one, measure in ((found.spearman, stats.spearmanr), (found.kendall, stats.kendalltau)):
        of_orders = [float(measure(x, y[list(order)]).statistic) for order in permutations(range(len(x)))]
        expected = float(measure(x, y).statistic)
        assert one.coefficient == pytest.approx(expected)
        assert one.p == pytest.approx(np.mean(np.array(of_orders) >= expected - 1e-9))
        assert one.least_p == pytest.approx(np.mean(np.array(of_orders) >= max(of_orders) - 1e-9))


def test_with_many_the_orders_are_random_and_p_is_never_zero() -> None:
    x = np.arange(12.0)
    found = associations(x, x**3).spearman
    assert found.coefficient == pytest.approx(1)
    assert found.p == pytest.approx(1 / 10_001)
    # All samples are in perfect order, too: that is no certainty.
    assert found.ci is None
    turned = associations(x, -x).kendall
    assert turned.p == pytest.approx(1)
    assert (is_exact(8), orders_of(8), is_exact(9), orders_of(9)) == (True, factorial(8), False, 10_000)


def test_random_orders_approximate_the_p_of_scipy() -> None:
    generator = np.random.default_rng(2)
    x = generator.standard_normal(15)
    y = x + 2 * generator.standard_normal(15)
    found = associations(x, y)
    assert found.kendall.p == pytest.approx(stats.kendalltau(x, y, alternative="greater").pvalue, abs=0.01)


def test_the_interval_resamples_verifiers() -> None:
    generator = np.random.default_rng(3)
    x = generator.standard_normal(FEWEST)
    y = x + generator.standard_normal(FEWEST)
    drawn = np.random.default_rng(SEED).integers(FEWEST, size=(SAMPLES, FEWEST))
    found = associations(x, y)
    for one, measure in ((found.spearman, stats.spearmanr), (found.kendall, stats.kendalltau)):
        some = [float(measure(x[rows], y[rows]).statistic) for rows in drawn[:200]]
        assert one.ci is not None
        assert one.ci == pytest.approx(np.quantile(some, (0.025, 0.975)), abs=0.2)
        assert one.ci[0] < (one.coefficient or 0) < one.ci[1]
    assert associations(x[1:], y[1:]).spearman.ci is None


@settings(deadline=None, max_examples=30)
@given(PAIRS, st.randoms(use_true_random=False))
def test_order_units_and_direction(pairs: list[tuple[int, int]], random: Random) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    order = list(range(len(x)))
    random.shuffle(order)
    found, shuffled = associations(x, y), associations(x[order], y[order])
    rescaled, turned = associations(x**3, 7 * y - 2), associations(x, -y)
    for name in ("spearman", "kendall"):
        one, same, scaled, other = (getattr(each, name) for each in (found, shuffled, rescaled, turned))
        for again in (same, scaled):
            assert (one.coefficient, one.p, one.least_p) == pytest.approx((again.coefficient, again.p, again.least_p))
        assert one.coefficient is None or other.coefficient == pytest.approx(-one.coefficient)


def test_one_thing_has_no_correlation() -> None:
    assert associations(np.array([0.5]), np.array([1.0])).spearman.coefficient is None
    assert associations(np.array([]), np.array([])).kendall.p is None
