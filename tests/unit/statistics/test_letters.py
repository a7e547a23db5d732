"""Letter groups: every indistinguishable pair shares a group, no distinguishable pair does, none is missing."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.statistics.joint_errors import indistinguishable_groups, letters


def differing(things: int, pairs: set[tuple[int, int]]) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    differ = np.zeros((things, things), dtype=bool)
    for a, b in pairs:
        differ[a, b] = differ[b, a] = True
    return differ


@pytest.mark.parametrize(
    ("things", "pairs", "groups", "shown"),
    [
        (0, set(), [], []),
        (1, set(), [(0,)], ["a"]),
        (3, set(), [(0, 1, 2)], ["a", "a", "a"]),
        (2, {(0, 1)}, [(0,), (1,)], ["a", "b"]),
        # The middle one is like both ends, which differ.
        (3, {(0, 2)}, [(0, 1), (1, 2)], ["a", "ab", "b"]),
        # Not an interval of ranks: the first is like the last, not like the second.
        (3, {(0, 1)}, [(0, 2), (1, 2)], ["a", "b", "ab"]),
        (
            8,
            {(0, 6), (0, 7), (1, 3), (1, 4), (2, 4)},
            [(0, 1, 2, 5), (0, 2, 3, 5), (0, 3, 4, 5), (1, 2, 5, 6, 7), (2, 3, 5, 6, 7), (3, 4, 5, 6, 7)],
            ["abc", "ad", "abde", "bcef", "cf", "abcdef", "def", "def"],
        ),
    ],
    ids=["none", "one", "all-alike", "two-differ", "chain", "no-interval", "eight"],
)
def test_groups_worked_by_hand(
    things: int, pairs: set[tuple[int, int]], groups: list[tuple[int, ...]], shown: list[str]
) -> None:
    found = indistinguishable_groups(differing(things, pairs))
    assert found == groups
    assert letters(found, things) == shown


PAIRS = st.integers(1, 8).flatmap(
    lambda things: st.tuples(
        st.just(things), st.sets(st.sampled_from(list(combinations(range(things), 2)) or [(0, 0)]), max_size=20)
    )
)


@settings(deadline=None)
@given(PAIRS)
def test_two_share_a_letter_exactly_where_they_do_not_differ(drawn: tuple[int, set[tuple[int, int]]]) -> None:
    things, pairs = drawn
    pairs = {pair for pair in pairs if pair[0] != pair[1]}
    groups = indistinguishable_groups(differing(things, pairs))
    shown = letters(groups, things)
    for a, b in combinations(range(things), 2):
        assert bool(set(shown[a]) & set(shown[b])) is ((a, b) not in pairs)
    assert all(shown)
    assert not any(set(one) < set(other) for one in groups for other in groups)


def test_many_groups_still_have_names() -> None:
    groups = indistinguishable_groups(differing(60, set(combinations(range(60), 2))))
    shown = letters(groups, 60)
    assert len(set(shown)) == 60
    assert shown[51:53] == ["Z", "(53)"]
