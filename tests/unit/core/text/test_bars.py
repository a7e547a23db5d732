"""Text bars have the requested width and never invent a number."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.text.figures import bar, compact_count, counted, interval_bar, percent


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "    "), (1.0, "████"), (0.5, "██  "), (0.53, "██▏ "), (2.0, "████"), (math.nan, "    ")]
)
def test_bars(value: float, shown: str) -> None:
    assert bar(value, 4) == shown


def test_an_interval_shows_its_whiskers_and_its_point() -> None:
    assert interval_bar(0.5, 0.25, 0.75, 9) == "  ├─●─┤  "
    assert interval_bar(0.5, 0.5, 0.5, 1) == "●"
    assert interval_bar(1.0, 0.9, 1.0, 3) == "  ●"


@given(st.floats(), st.floats(), st.floats(), st.integers(0, 60))
def test_widths_hold_for_any_number(value: float, lo: float, hi: float, width: int) -> None:
    assert len(bar(value, width)) == width
    assert len(interval_bar(value, lo, hi, width)) == width


def test_percent() -> None:
    assert percent(0.8123) == "81.2"
    assert percent(0.5, 0) == "50"
    assert percent(None) == percent(math.nan) == "–"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1450, "1.45k"),
        (99_999, "100k"),
        (999_999, "1M"),
        (1_450_000, "1.45M"),
        (2 * 10**9, "2G"),
    ],
)
def test_counts_are_short(count: int, shown: str) -> None:
    assert compact_count(count) == shown


@given(st.integers(0, 999 * 10**9))
def test_counts_take_at_most_five_characters(count: int) -> None:
    assert len(compact_count(count)) <= 5


def test_the_singular_is_used_for_one() -> None:
    assert [counted(number, "item") for number in (0, 1, 1_200)] == ["0 items", "1 item", "1,200 items"]
