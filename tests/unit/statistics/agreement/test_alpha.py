"""Krippendorff's alpha: golden values, the krippendorff package as the oracle, and invariances."""

from __future__ import annotations

from math import isnan

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.statistics.agreement.tables import KRIPPENDORFF, by_person, grids, of_cells, of_two
from workbench.statistics.agreement.coefficients import MOST_RATIOS, alpha
from workbench.statistics.agreement.ratings import Ratings, units
from workbench.statistics.records.agreement import Level

GOLDEN: dict[Level, float] = {
    "nominal": 0.743421052632,
    "ordinal": 0.815387503755,
    "interval": 0.849107142857,
    "ratio": 0.797402774712,
}


def of(ratings: Ratings, level: Level, values: list[float] | None = None) -> float:
    found = units(ratings)
    numbers = np.arange(1.0, ratings.categories + 1) if values is None else np.array(values)
    return float(alpha(found, found.often, level, numbers)[0])


@pytest.mark.parametrize("level", GOLDEN)
def test_golden_values(level: Level) -> None:
    assert of(by_person(KRIPPENDORFF, 5), level) == pytest.approx(GOLDEN[level], abs=1e-9)


@pytest.mark.few(4)
@pytest.mark.parametrize("level", GOLDEN)
@settings(deadline=None, max_examples=25)
@given(ratings=grids(), values=st.lists(st.integers(1, 50), min_size=4, max_size=4, unique=True).map(sorted))
def test_it_equals_the_krippendorff_package(level: Level, ratings: Ratings, values: list[int]) -> None:
    table = np.full((ratings.annotators, ratings.items), np.nan)
    table[ratings.annotator, ratings.item] = np.array(values, dtype=float)[ratings.value]
    pairable = (~np.isnan(table)).sum(axis=0) > 1
    assume(len(np.unique(table[:, pairable][~np.isnan(table[:, pairable])])) > 1)
    expected = krippendorff.alpha(table, level_of_measurement=level, value_domain=[float(value) for value in values])
    assert of(ratings, level, [float(value) for value in values]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", GOLDEN)
def test_full_agreement_is_1(level: Level) -> None:
    assert of(of_two([[3, 0, 0], [0, 5, 0], [0, 0, 2]]), level) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("level", GOLDEN)
@pytest.mark.parametrize("cells", [[(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)], [(0, 0, 0), (1, 0, 1)]])
def test_one_category_or_no_pair_is_undefined(level: Level, cells: list[tuple[int, int, int]]) -> None:
    assert isnan(of(of_cells(cells, 2, 2, 3), level))


def test_a_constant_far_from_the_others_is_undefined_too() -> None:
    """Samples of one value only must not become a figure made of rounding."""
    found = units(of_two([[3, 0, 0], [0, 2, 0], [0, 0, 4]]))
    values = np.array([0.1, 0.3, 1e9 + 0.7])
    weights = np.eye(3) * 5
    for level in GOLDEN:
        assert np.isnan(alpha(found, weights, level, values)).all()


def test_interval_alpha_does_not_change_with_unit_or_origin() -> None:
    ratings = by_person(KRIPPENDORFF, 5)
    for scale, start in ((1e-200, 0.0), (1e150, 0.0), (1.0, 1e9), (7.0, -3.0)):
        values = [start + scale * value for value in range(1, 6)]
        assert of(ratings, "interval", values) == pytest.approx(GOLDEN["interval"], abs=1e-6)


def test_ordinal_alpha_depends_only_on_the_order() -> None:
    assert of(by_person(KRIPPENDORFF, 5), "ordinal", [1, 10, 11, 500, 5000]) == pytest.approx(GOLDEN["ordinal"])


def test_weights_count_items() -> None:
    """An item of weight three is three items."""
    ratings = by_person(KRIPPENDORFF, 5)
    thrice = of_cells(
        [
            (item + 12 * copy, person, value)
            for copy in range(3)
            for item, person, value in zip(ratings.item, ratings.annotator, ratings.value, strict=True)
        ],
        36,
        4,
        5,
    )
    found = units(ratings)
    for level in GOLDEN:
        weighted = alpha(found, 3 * found.often, level, np.arange(1.0, 6))[0]
        assert weighted == pytest.approx(of(thrice, level), abs=1e-12)


def test_too_many_values_for_ratios_are_rejected() -> None:
    values = MOST_RATIOS + 1
    ratings = of_cells([(value, person, value) for value in range(values) for person in (0, 1)], values, 2, values)
    with pytest.raises(ValueError, match="distinct values"):
        of(ratings, "ratio")
