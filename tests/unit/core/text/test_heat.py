"""Heat cells: steps of equal width, in order, with a tint for good values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.figures import GLYPHS, STEPS, scale_words, shade, tint

SHARES = st.floats(0, 1, allow_nan=False)


def test_steps_are_equal_parts() -> None:
    assert [shade(step / STEPS, 0, 1) for step in range(STEPS)] == list(range(STEPS))
    assert shade(1, 0, 1) == STEPS - 1
    assert [shade(value, -1, 1) for value in (-1, -0.01, 0, 1)] == [0, 3, 4, 7]


@given(SHARES, SHARES)
def test_a_higher_value_is_never_a_lower_step(a: float, b: float) -> None:
    lower, higher = sorted((a, b))
    assert 0 <= shade(lower, 0, 1) <= shade(higher, 0, 1) < STEPS


@given(st.floats(1, 1e9), st.floats(1e-3, 1e3))
def test_values_outside_the_scale_are_clamped(beyond: float, width: float) -> None:
    assert shade(width + beyond, 0, width) == STEPS - 1
    assert shade(-beyond, 0, width) == 0


@pytest.mark.parametrize(("value", "low", "high"), [(0.5, 1, 1), (0.5, 1, 0), (float("nan"), 0, 1)])
def test_no_step_without_a_scale_and_a_number(value: float, low: float, high: float) -> None:
    with pytest.raises(ValueError, match="no step"):
        shade(value, low, high)


def test_tints_are_reversed_if_less_is_better() -> None:
    rising = [tint(step, rising=True) for step in range(STEPS)]
    assert rising[0] == -1
    assert rising[-1] == 1
    assert rising == sorted(rising)
    assert [tint(step, rising=False) for step in range(STEPS)] == [-value for value in rising]


def test_glyphs_are_distinct_and_explained() -> None:
    assert scale_words("0", "100") == "▁ 0 … █ 100"
    assert len(set(GLYPHS)) == STEPS == 8
