"""Differences within strata: definitions, and coverage of their intervals."""

from __future__ import annotations

from math import hypot

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t
from statsmodels.stats.contingency_tables import StratifiedTable
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from workbench.statistics.confusion import BoolArray, IntArray
from workbench.statistics.subgroups import Effect, stratified_difference

Items = tuple[BoolArray, BoolArray, IntArray, IntArray]


def items(counts: list[tuple[int, int, int, int]]) -> Items:
    """Independent items of strata, each (exposed accepted, exposed refused, others accepted, others refused)."""
    accepted = np.concatenate([np.repeat([True, False, True, False], four) for four in counts])
    exposed = np.concatenate([np.repeat([True, True, False, False], four) for four in counts])
    stratum = np.repeat(np.arange(len(counts)), [sum(four) for four in counts])
    return accepted, exposed, stratum, np.arange(len(accepted))


def test_one_stratum_is_newcombe_s_interval() -> None:
    found = stratified_difference(*items([(40, 10, 30, 30)]))
    (p1, low1, high1), (p0, low0, high0) = (
        (k / n, *proportion_confint(k, n, alpha=0.05, method="wilson")) for k, n in ((40, 50), (30, 60))
    )
    newcombe = confint_proportions_2indep(40, 50, 30, 60, compare="diff", method="newcomb")
    assert newcombe == pytest.approx((p1 - p0 - hypot(p1 - low1, high0 - p0), p1 - p0 + hypot(high1 - p1, p0 - low0)))
    # The same with t of 49 and of 59 degrees of freedom.
    (low1, high1), (low0, high0) = (
        proportion_confint(k, n, alpha=2 * norm.sf(t.isf(0.025, n - 1)), method="wilson")
        for k, n in ((40, 50), (30, 60))
    )
    assert found.difference == pytest.approx(0.3)
    assert found.ci is not None
    # Up to the factor G / (G - 1) of the clusters' variance.
    low, high = p1 - p0 - hypot(p1 - low1, high0 - p0), p1 - p0 + hypot(high1 - p1, p0 - low0)
    assert found.ci == pytest.approx((low, high), abs=1e-3)


def test_the_difference_is_that_of_mantel_and_haenszel() -> None:
    counts = [(12, 3, 20, 25), (5, 30, 2, 8), (9, 1, 30, 2)]
    found = stratified_difference(*items(counts))
    weights = [(a + b) * (c + d) / (a + b + c + d) for a, b, c, d in counts]
    differences = [a / (a + b) - c / (c + d) for a, b, c, d in counts]
    assert found.difference == pytest.approx(np.average(differences, weights=weights), abs=1e-12)
    tables = StratifiedTable([np.array([[a, b], [c, d]]) for a, b, c, d in counts])
    assert (found.difference > 0) == (tables.oddsratio_pooled > 1)  # type: ignore[operator]


def test_a_property_that_follows_gold_makes_no_difference() -> None:
    """Long completions are mostly wrong and the verifier is perfect: it refuses long ones more often, rightly."""
    gold = np.repeat([1, 0], [100, 400])
    longer = np.concatenate([np.arange(100) < 20, np.arange(400) < 300])
    found = stratified_difference(gold == 1, longer, gold, np.arange(500))
    assert found.difference == 0
    assert found.ci is not None
    assert found.ci[0] < 0 < found.ci[1]


def test_strata_with_a_single_kind_are_ignored() -> None:
    both = items([(12, 8, 10, 10)])
    more = items([(12, 8, 10, 10), (50, 0, 0, 0), (0, 0, 3, 40)])
    assert stratified_difference(*more) == stratified_difference(*both)


@pytest.mark.parametrize(
    "counts", [[(5, 4, 30, 30)], [(30, 30, 9, 0)], [(100, 100, 0, 0), (0, 0, 100, 100)], [(0, 0, 0, 0)]]
)
def test_too_few_items_give_counts_but_no_estimate(counts: list[tuple[int, int, int, int]]) -> None:
    found = stratified_difference(*items(counts))
    assert (found.difference, found.ci) == (None, None)


def test_equal_completions_of_a_question_count_as_one() -> None:
    accepted, exposed, stratum, question = items([(20, 20, 15, 25)])
    once = stratified_difference(accepted, exposed, stratum, question)
    four = stratified_difference(
        np.repeat(accepted, 4), np.repeat(exposed, 4), np.repeat(stratum, 4), np.repeat(question, 4)
    )
    assert once.ci is not None
    assert four.ci == pytest.approx(once.ci, abs=0.005)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_order_names_and_sides_do_not_matter(seed: int, groups: int) -> None:
    random = np.random.default_rng(seed)
    n = 80
    accepted, exposed = random.random(n) < 0.4, random.random(n) < 0.5
    stratum, question = random.integers(0, groups, n), random.integers(0, 40, n)
    found = stratified_difference(accepted, exposed, stratum, question)
    order = random.permutation(n)
    again = stratified_difference(accepted[order], exposed[order], stratum[order], 7 * question[order] + 3)
    assert _figures(again) == pytest.approx(_figures(found), abs=1e-12)
    other = stratified_difference(accepted, ~exposed, stratum, question)
    if found.difference is not None and found.ci is not None:
        assert other.difference == pytest.approx(-found.difference, abs=1e-12)
        assert other.ci == pytest.approx((-found.ci[1], -found.ci[0]), abs=1e-12)


def _figures(found: Effect) -> tuple[float, ...]:
    return () if found.difference is None or found.ci is None else (found.difference, *found.ci)


def test_intervals_cover_correlated_completions() -> None:
    random = np.random.default_rng(7)
    question = np.repeat(np.arange(60), 3)
    covered = 0
    for _ in range(400):
        stratum = random.integers(0, 3, 60)[question]
        exposed = random.random(180) < 0.4
        mood = 0.8 * random.normal(size=60)[question] + 0.6 * random.normal(size=180)
        # The quantiles of .10, .50 and .85 give those shares; the exposed are accepted as often.
        accepted = mood < np.array([-1.2816, 0.0, 1.0364])[stratum]
        found = stratified_difference(accepted, exposed, stratum, question)
        assert found.ci is not None
        covered += found.ci[0] <= 0 <= found.ci[1]
    assert covered >= 0.92 * 400


@pytest.mark.parametrize("questions", [20, 50])
def test_questions_of_very_unequal_sizes_are_not_overcounted(questions: int) -> None:
    """A normal distribution in place of Student's covers .71 and .82 here; fewer questions say nothing."""
    random = np.random.default_rng(0)
    sizes = np.minimum(np.ceil(random.pareto(1.2, questions) + 1), 80).astype(int)
    question = np.repeat(np.arange(questions), sizes)
    ends = []
    for _ in range(300):
        exposed = (random.random(questions) < 0.4)[question]
        mood = 0.84 * random.normal(size=questions)[question] + 0.55 * random.normal(size=len(question))
        found = stratified_difference(mood < 0.4, exposed, np.zeros(len(question), dtype=np.int64), question)
        ends += [found.ci] if found.ci else []
    assert len(ends) > 50
    assert np.mean([low <= 0 <= high for low, high in ends]) >= 0.92


def test_two_uniform_questions_give_no_interval() -> None:
    question = np.repeat([0, 1], 40)
    found = stratified_difference(question == 0, question == 0, np.zeros(80, dtype=np.int64), question)
    assert (found.exposed, found.others, found.difference, found.ci) == (40, 40, None, None)
