"""The planned number of items is the smallest with a narrow enough interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.intervals import wilson
from workbench.statistics.prediction_powered import half_width, needed_items

ACCURACIES = st.floats(0, 1)
EFFECTS = st.floats(1, 20)
WIDTHS = st.floats(0.0001, 0.495)


def test_known_values() -> None:
    assert needed_items(0.5, 1.0, 0.05) == 381
    assert needed_items(0.5, 2.0, 0.05) == 761
    assert needed_items(1.0, 1.0, 0.05) == 35
    lo, hi = wilson(190.5, 381)
    assert half_width(0.5, 381, 1.0) == pytest.approx((hi - lo) / 2)
    assert half_width(0.5, 0, 1.0) == 0.5


@given(ACCURACIES, EFFECTS, WIDTHS)
def test_as_many_reach_the_target_and_one_less_does_not(accuracy: float, deff: float, within: float) -> None:
    items = needed_items(accuracy, deff, within)
    assert half_width(accuracy, items, deff) <= within
    assert half_width(accuracy, items - 1, deff) > within


@given(ACCURACIES, EFFECTS, st.integers(0, 5000))
def test_an_interval_never_grows_with_its_items(accuracy: float, deff: float, n: int) -> None:
    assert half_width(accuracy, n + 1, deff) <= half_width(accuracy, n, deff) + 1e-12


@given(ACCURACIES, EFFECTS, WIDTHS, WIDTHS)
def test_narrower_and_more_clustered_takes_no_less(accuracy: float, deff: float, one: float, other: float) -> None:
    narrow, wide = sorted((one, other))
    assert needed_items(accuracy, deff, narrow) >= needed_items(accuracy, deff, wide)
    assert needed_items(accuracy, deff * 1.5, narrow) >= needed_items(accuracy, deff, narrow)
    assert needed_items(0.5, deff, narrow) >= needed_items(accuracy, deff, narrow)
