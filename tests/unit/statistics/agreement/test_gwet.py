"""Gwet's AC1 and AC2: golden values, and the formulas written out item by item as the oracle."""

from __future__ import annotations

from itertools import permutations
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import given, settings

from tests.unit.statistics.agreement.tables import KRIPPENDORFF, by_person, grids, of_two
from workbench.statistics.agreement.coefficients import MOST_CATEGORIES, WEIGHTINGS, Weighting, ac1, ac2
from workbench.statistics.agreement.ratings import Ratings, units

VALUES = np.array([1.0, 2.0, 5.0, 9.0])


def by_hand(ratings: Ratings, credit: list[list[float]]) -> float:
    """pa by pairs of people, pe from the mean of the items' shares."""
    said: dict[int, list[int]] = {}
    for item, value in zip(ratings.item.tolist(), ratings.value.tolist(), strict=True):
        said.setdefault(item, []).append(value)
    pairs = [list(permutations(values, 2)) for values in said.values() if len(values) > 1]
    if not pairs:
        return float("nan")
    observed = np.mean([np.mean([credit[a][b] for a, b in some]) for some in pairs])
    k = len(credit)
    shares = [np.mean([values.count(category) / len(values) for values in said.values()]) for category in range(k)]
    chance = sum(map(sum, credit)) / (k * (k - 1)) * sum(share * (1 - share) for share in shares)
    return float((observed - chance) / (1 - chance))


def credit_of(weighting: Weighting) -> list[list[float]]:
    def one(a: int, b: int) -> float:
        if weighting == "ordinal":
            return 1 - comb(abs(a - b) + 1, 2) / comb(4, 2)
        apart = abs(VALUES[a] - VALUES[b]) / 8
        return float(1 - (apart if weighting == "linear" else apart**2))

    return [[one(a, b) for b in range(4)] for a in range(4)]


@pytest.mark.parametrize(("table", "expected"), [([[40, 9], [6, 45]], 0.701), ([[80, 10], [5, 5]], 0.808)])
def test_two_people_golden_values(table: list[list[int]], expected: float) -> None:
    found = units(of_two(table))
    assert ac1(found, found.often)[0] == pytest.approx(expected, abs=5e-4)


def test_many_people_with_gaps_golden_value() -> None:
    found = units(by_person(KRIPPENDORFF, 5))
    assert ac1(found, found.often)[0] == pytest.approx(0.77544, abs=5e-6)


@settings(deadline=None)
@given(grids())
def test_ac1_is_its_formula(ratings: Ratings) -> None:
    found = units(ratings)
    expected = by_hand(ratings, np.eye(4).tolist())
    assert ac1(found, found.often)[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
@settings(deadline=None)
@given(ratings=grids())
def test_ac2_is_its_formula(weighting: Weighting, ratings: Ratings) -> None:
    found = units(ratings)
    expected = by_hand(ratings, credit_of(weighting))
    assert ac2(found, found.often, weighting, VALUES)[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_ac2_of_two_categories_is_ac1(weighting: Weighting) -> None:
    found = units(of_two([[40, 9], [6, 45]]))
    two = ac2(found, found.often, weighting, np.array([0.0, 1.0]))
    assert two == pytest.approx(ac1(found, found.often))


def test_one_category_is_undefined() -> None:
    found = units(of_two([[7]]))
    assert isnan(ac1(found, found.often)[0])
    assert isnan(ac2(found, found.often, "linear", np.array([1.0]))[0])


def test_measurements_have_no_ac2() -> None:
    number = MOST_CATEGORIES + 1
    found = units(of_two(np.eye(number, dtype=int).tolist()))
    assert isnan(ac2(found, found.often, "linear", np.arange(float(number)))[0])
