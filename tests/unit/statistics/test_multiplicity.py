"""Adjusted p-values: golden values, definitions, scipy and statsmodels as oracles, and invariances."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from workbench.statistics.subgroups import benjamini_hochberg, holm

CHANCES = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216]
SOME = st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=30)


def test_benjamini_hochbergs_golden_values() -> None:
    expected = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.105714285714, 0.216, 0.216, 0.216]
    assert benjamini_hochberg(CHANCES) == pytest.approx(expected, abs=1e-9)


def test_holm_worked_by_hand() -> None:
    # 4 x .01, 3 x .02, 2 x .03 (not below the one before), 1 x .04 (nor this).
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]


def test_one_test_needs_no_adjusting_and_none_has_nothing() -> None:
    assert holm([0.3]) == benjamini_hochberg([0.3]) == [0.3]
    assert holm([]) == benjamini_hochberg([]) == []


@settings(deadline=None)
@given(SOME)
def test_both_equal_their_definitions_and_scipys(chances: list[float]) -> None:
    assert benjamini_hochberg(chances) == pytest.approx(false_discovery_control(chances), abs=1e-12)
    ranked = sorted(chances)
    stepped = [min(1.0, max((len(ranked) - j) * p for j, p in enumerate(ranked) if p <= chance)) for chance in chances]
    assert holm(chances) == pytest.approx(stepped, abs=1e-12)


def test_both_equal_statsmodels() -> None:
    chances = [*CHANCES, 0.0001, 0.0001, 0.9, 1.0]
    assert holm(chances) == pytest.approx(multipletests(chances, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(chances) == pytest.approx(multipletests(chances, method="fdr_bh")[1], abs=1e-12)


@settings(deadline=None)
@given(SOME, st.randoms(use_true_random=False))
def test_order_changes_nothing_and_adjusting_never_makes_surer(chances: list[float], random: Random) -> None:
    order = list(range(len(chances)))
    random.shuffle(order)
    found = holm(chances)
    assert holm([chances[place] for place in order]) == [found[place] for place in order]
    # A hair for rounding: scipy divides and multiplies.
    ordered = zip(chances, benjamini_hochberg(chances), found, strict=True)
    assert all(p <= q + 1e-12 and q <= adjusted + 1e-12 and adjusted <= 1 for p, q, adjusted in ordered)
