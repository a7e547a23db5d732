"""Observed agreement: the share of agreeing pairs, its interval, and prevalence."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.statistics.agreement.tables import KRIPPENDORFF, by_person, of_cells, of_two
from tests.unit.statistics.clustered import by_hand
from workbench.statistics.agreement.coefficients import percent, percent_interval, prevalence
from workbench.statistics.agreement.ratings import Ratings, units
from workbench.statistics.intervals import share_interval, wilson


def observed(ratings: Ratings) -> float:
    found = units(ratings)
    return float(percent(found, found.often)[0])


@pytest.mark.parametrize(("table", "expected"), [([[40, 9], [6, 45]], 0.85), ([[80, 10], [5, 5]], 0.85)])
def test_two_people_golden_values(table: list[list[int]], expected: float) -> None:
    assert observed(of_two(table)) == pytest.approx(expected, abs=1e-12)


def test_it_is_the_mean_over_items_of_the_share_of_agreeing_pairs() -> None:
    # Three equal labels: 1. Two of three: 1/3. A single label does not count.
    cells = [(0, 0, 1), (0, 1, 1), (0, 2, 1), (1, 0, 0), (1, 1, 0), (1, 2, 1), (2, 0, 0)]
    assert observed(of_cells(cells, 3, 3, 2)) == pytest.approx((1 + 1 / 3) / 2)


def test_without_a_pair_it_is_undefined() -> None:
    lonely = units(of_cells([(0, 0, 1), (1, 1, 0)], 2, 2, 2))
    assert np.isnan(percent(lonely, lonely.often)[0])
    assert percent_interval(lonely, np.arange(2)) is None


def test_the_interval_of_two_labels_an_item_is_by_cluster() -> None:
    ratings = of_two([[40, 9], [6, 45]])
    found = units(ratings)
    assert percent_interval(found, np.arange(100)) == pytest.approx(by_hand([True] * 85 + [False] * 15, range(100)))
    alike = np.bincount(ratings.item, weights=ratings.value) != 1
    by_two = np.arange(100) // 2
    assert percent_interval(found, by_two) == pytest.approx(share_interval(alike, by_two))
    low, high = wilson(85, 100)
    clustered = percent_interval(found, by_two)
    assert clustered is not None
    assert clustered[0] < low
    assert clustered[1] > high


def test_full_agreement_on_few_items_has_a_wide_interval() -> None:
    found = units(of_two([[5, 0], [0, 5]]))
    assert percent_interval(found, np.arange(10)) == pytest.approx((0.025**0.1, 1))


def test_prevalence_counts_every_label() -> None:
    found = units(by_person(KRIPPENDORFF, 5))
    assert prevalence(found) == pytest.approx(np.array([9, 13, 11, 5, 3]) / 41)
