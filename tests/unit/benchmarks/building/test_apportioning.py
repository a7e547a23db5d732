"""Largest remainders, and redistribution from small strata."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.benchmarks.quotas import apportion, largest_remainder

WEIGHTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 200), min_size=1)


def test_the_golden_case() -> None:
    assert largest_remainder({"a": 50, "b": 30, "c": 20}, 7) == {"a": 4, "b": 2, "c": 1}


@pytest.mark.parametrize(
    ("weights", "count", "expected"),
    [
        ({"b": 1, "a": 1}, 1, {"a": 1, "b": 0}),
        ({"c": 1, "a": 1, "b": 1}, 2, {"a": 1, "b": 1, "c": 0}),
        ({"a": 3, "b": 1}, 0, {"a": 0, "b": 0}),
        ({"a": 0, "b": 0}, 5, {"a": 0, "b": 0}),
        ({"a": 0, "b": 2}, 5, {"a": 0, "b": 5}),
    ],
    ids=["tie-by-name", "ties-by-name", "none", "no-weight", "weightless"],
)
def test_small_cases(weights: dict[str, int], count: int, expected: dict[str, int]) -> None:
    assert largest_remainder(weights, count) == expected


@given(WEIGHTS, st.integers(0, 3_000))
def test_shares_are_within_one_of_exact_and_add_up(weights: dict[str, int], count: int) -> None:
    shares = largest_remainder(weights, count)
    total = sum(weights.values())
    if not total:
        assert set(shares.values()) == {0}
        return
    exact = {name: Fraction(count * weight, total) for name, weight in weights.items()}
    assert sum(shares.values()) == count
    assert all(exact[name] - 1 < share < exact[name] + 1 for name, share in shares.items())
    # No rounded-down stratum had a larger fraction than a rounded-up one; ties are broken by name.
    up = [name for name in shares if shares[name] > exact[name] // 1]
    down = [name for name in shares if name not in up]
    assert all((-(exact[one] % 1), one) < (-(exact[other] % 1), other) for one in up for other in down)


@given(WEIGHTS)
def test_no_stratum_in_proportion_to_its_size_is_too_small(sizes: dict[str, int]) -> None:
    for count in {0, 1, sum(sizes.values()) // 2, sum(sizes.values())}:
        assert all(share <= sizes[name] for name, share in largest_remainder(sizes, count).items())


def test_a_stratum_that_is_too_small_gives_the_rest_back_by_the_same_rule() -> None:
    assert largest_remainder({"a": 5, "b": 3, "c": 2}, 100) == {"a": 50, "b": 30, "c": 20}
    # 40 come back of a: 24 to b, 16 to c, where 10 fit; the other 6 go to b.
    assert apportion({"a": 5, "b": 3, "c": 2}, 100, {"a": 10, "b": 99, "c": 30}) == {"a": 10, "b": 60, "c": 30}


def test_those_without_weight_give_only_once_all_others_are_full() -> None:
    assert apportion({"a": 1, "b": 0, "c": 0}, 10, {"a": 20, "b": 9, "c": 9}) == {"a": 10, "b": 0, "c": 0}
    assert apportion({"a": 1, "b": 0, "c": 0}, 10, {"a": 4, "b": 4, "c": 2}) == {"a": 4, "b": 4, "c": 2}


@given(WEIGHTS, st.integers(0, 800), st.data())
def test_apportioned_seats_fit_and_add_up(weights: dict[str, int], count: int, data: st.DataObject) -> None:
    room = {name: data.draw(st.integers(0, 300)) for name in weights}
    taken = apportion(weights, count, room)

    assert all(0 <= taken[name] <= room[name] for name in weights)
    assert sum(taken.values()) == min(count, sum(room.values()))
    if all(share <= room[name] for name, share in largest_remainder(weights, count).items()) and any(weights.values()):
        assert taken == largest_remainder(weights, count)
