"""Intervals: golden values, statsmodels as the oracle, and the effect of clusters."""

from __future__ import annotations

from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from tests.unit.statistics.clustered import by_hand, design_effect
from workbench.statistics.intervals import (
    clustering,
    clusters,
    compact,
    design_effects,
    share_interval,
    student_interval,
    wilson,
)

ITEMS = st.lists(st.tuples(st.booleans(), st.integers(0, 7)), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("k", "n", "expected", "tolerance"),
    [
        (61, 62, (0.914132797393, 0.997147132831), 1e-9),
        (726, 1000, (0.6975311, 0.7527392), 1e-6),
    ],
)
def test_wilson_golden_values(k: int, n: int, expected: tuple[float, float], tolerance: float) -> None:
    assert wilson(k, n) == pytest.approx(expected, abs=tolerance)


def test_the_best_hard_system_is_not_separated_from_always_incorrect() -> None:
    lo, hi = wilson(726, 1000)
    assert lo < 0.709 < hi


@settings(deadline=None)
@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_equals_statsmodels(k_of_n: tuple[int, int]) -> None:
    k, n = k_of_n
    assert wilson(k, n) == pytest.approx(proportion_confint(k, n, method="wilson"), abs=1e-12)


def test_wilson_is_exact_at_its_ends() -> None:
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == 1
    assert wilson(0, 0) == (0, 1)


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(1e-3, 1e7))
def test_wilson_of_effective_counts_holds_the_proportion(p: float, n: float) -> None:
    lo, hi = wilson(p * n, n)
    assert 0 <= lo <= p * (1 + 1e-12)
    assert p * (1 - 1e-12) <= hi <= 1


def test_design_effect_follows_its_formula() -> None:
    # Three questions: 2 of 2, 0 of 2 and 1 of 1 right; p = 3/5.
    correct = np.array([True, True, False, False, True])
    cluster = np.array([7, 7, 3, 3, 9])
    squares = (2 - 2 * 0.6) ** 2 + (0 - 2 * 0.6) ** 2 + (1 - 1 * 0.6) ** 2
    clustered_error = sqrt(3 / 2 * squares) / 5
    assert design_effect(correct, cluster) == pytest.approx(clustered_error**2 / (0.6 * 0.4 / 5))


@pytest.mark.parametrize(
    ("correct", "cluster"),
    [([True] * 4, [0, 0, 1, 1]), ([False] * 4, [0, 0, 1, 1]), ([True, False], [5, 5]), ([], [])],
)
def test_design_effect_is_one_where_it_is_undefined(correct: list[bool], cluster: list[int]) -> None:
    assert design_effect(np.array(correct, dtype=bool), np.array(cluster, dtype=np.int64)) == 1


def test_completions_that_agree_within_questions_widen_the_interval() -> None:
    correct = np.repeat([True, False, True, True] * 5, 5)
    found = share_interval(correct, np.repeat(np.arange(20), 5))
    lo, hi = wilson(75, 100)
    assert found is not None
    assert found[0] < lo < hi < found[1]


def test_five_questions_of_twenty_completions_all_right_are_five_trials() -> None:
    found = share_interval(np.ones(100, dtype=bool), np.repeat(np.arange(5), 20))
    assert found == pytest.approx((binomtest(5, 5).proportion_ci(method="exact").low, 1))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), min_size=1, max_size=200))
def test_the_interval_follows_its_definition(items: list[tuple[bool, int]]) -> None:
    correct, cluster = _arrays(items)
    found, expected = share_interval(correct, cluster), by_hand(correct.tolist(), cluster.tolist())
    assert (found is None) == (expected is None)
    assert found is None or found == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(ITEMS)
def test_the_interval_holds_the_share_and_mirrors(items: list[tuple[bool, int]]) -> None:
    correct, cluster = _arrays(items)
    found, mirrored = share_interval(correct, cluster), share_interval(~correct, cluster)
    if found is not None and mirrored is not None:
        assert 0 <= found[0] <= correct.mean() + 1e-12
        assert correct.mean() - 1e-12 <= found[1] <= 1
        assert found == pytest.approx((1 - mirrored[1], 1 - mirrored[0]), abs=1e-9)


def test_a_single_or_dominant_question_gives_no_interval() -> None:
    assert share_interval(np.array([True, False, True]), np.zeros(3, dtype=int)) is None
    assert share_interval(np.ones(0, dtype=bool), np.zeros(0, dtype=int)) is None
    heavy = np.repeat([0, 1, 2], [100, 1, 1])
    assert share_interval(np.arange(102) % 2 == 0, heavy) is None
    assert share_interval(np.array([True, True]), np.arange(2)) == pytest.approx((0.025**0.5, 1))


@pytest.mark.parametrize(("questions", "sizes"), [(10, [4]), (30, [1, 1, 1, 1, 1, 1, 1, 1, 1, 30]), (50, [1, 2, 8])])
@pytest.mark.parametrize(("accuracy", "correlation"), [(0.8, 0.7), (0.95, 0.3), (0.99, 0.7), (0.5, 0.0)])
def test_it_covers_where_questions_are_few_and_unequal(
    questions: int, sizes: list[int], accuracy: float, correlation: float
) -> None:
    """``bench/coverage.py`` has the whole table; Wilson's with n / deff holds .68 to .91 of these."""
    draw, held, sharp = np.random.default_rng(4), 0, (1 - correlation) / max(correlation, 1e-9)
    size = np.resize(sizes, questions)
    cluster = np.repeat(np.arange(questions), size)
    for _ in range(400):
        chance = np.full(questions, accuracy)
        if correlation:
            chance = draw.beta(accuracy * sharp, (1 - accuracy) * sharp, questions)
        low, high = share_interval(draw.random(len(cluster)) < chance[cluster], cluster) or (0.0, 1.0)
        held += low <= accuracy <= high
    assert held / 400 >= 0.93


@settings(deadline=None)
@given(ITEMS, st.randoms(use_true_random=False))
def test_the_order_of_items_changes_nothing(items: list[tuple[bool, int]], random: Random) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert share_interval(*_arrays(items)) == share_interval(*_arrays(shuffled))


@settings(deadline=None)
@given(ITEMS, st.integers(-(2**62), 2**61), st.integers(1, 2**58))
def test_the_names_of_clusters_change_nothing(items: list[tuple[bool, int]], offset: int, factor: int) -> None:
    correct, cluster = _arrays(items)
    assert design_effect(correct, cluster * factor + offset) == pytest.approx(design_effect(correct, cluster))


@settings(deadline=None)
@given(ITEMS)
def test_doubling_every_item_inside_its_question_adds_no_information(items: list[tuple[bool, int]]) -> None:
    correct, cluster = _arrays(items)
    assume(design_effect(correct, cluster) > 1)
    once, twice = share_interval(correct, cluster), share_interval(np.tile(correct, 2), np.tile(cluster, 2))
    assert (once is None) == (twice is None)
    assert once is None or once == pytest.approx(twice)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 3)), max_size=60),
    st.sampled_from([1, 200, 10**15]),
)
def test_groups_measured_together_equal_single_groups(rows: list[tuple[bool, int, int]], spread: int) -> None:
    correct, cluster = _arrays([row[:2] for row in rows])
    group = np.array([row[2] for row in rows], dtype=np.int32)
    together = clustering(correct, cluster * spread, group, 4)
    for code in range(4):
        of_group = group == code
        assert together.clusters[code] == len(set(cluster[of_group].tolist()))
        alone = design_effect(correct[of_group], cluster[of_group])
        assert together.deff[code] == pytest.approx(alone)


@given(st.lists(st.integers(-3, 40), max_size=30), st.sampled_from([1, 10**12]))
def test_compact_values_are_ranks_without_gaps(values: list[int], spread: int) -> None:
    codes, known = compact(np.array(values, dtype=np.int64) * spread)
    assert known.tolist() == sorted({value * spread for value in values})
    assert [known[code] for code in codes.tolist()] == [value * spread for value in values]


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 3), st.booleans()), max_size=40))
def test_clusters_of_a_subset_depend_only_on_its_items(rows: list[tuple[bool, int, int, bool]]) -> None:
    correct, question = _arrays([row[:2] for row in rows])
    group, kept = np.array([row[2] for row in rows], dtype=np.int32), np.array([row[3] for row in rows], dtype=bool)
    some, alone = clusters(question, group, 4).of(kept), clusters(question[kept], group[kept], 4)
    assert some.items.sum() == alone.items.sum() == kept.sum()
    found = []
    for each in (some, alone):
        right = np.bincount(each.of_item, weights=correct[kept], minlength=len(each.group))
        effects = design_effects(each.items, right, each.group, 4)
        found.append(effects)
    assert found[0].clusters.tolist() == found[1].clusters.tolist()
    assert found[0].deff == pytest.approx(found[1].deff)


def _arrays(items: list[tuple[bool, int]]) -> tuple[np.ndarray, np.ndarray]:
    correct = np.array([item[0] for item in items], dtype=bool)
    return correct, np.array([item[1] for item in items], dtype=np.int64)


def test_a_mean_has_students_interval() -> None:
    values = np.array([0.5, 0.25, -0.5, 0.5, 0.0])
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    assert student_interval(values) == pytest.approx((expected.low, expected.high))
    assert student_interval(np.array([0.5, 0.5])) is None
    assert student_interval(np.array([0.5])) is None
    ends = student_interval(np.array([1.0, -1.0]))
    assert ends == (-1, 1)
