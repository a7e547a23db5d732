"""Priorities: even splits and uncertain scores first, random ties, quotas of each group."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.verdict import OutcomeCode
from workbench.statistics.prediction_powered import by_priority, disagreement, first_of_each

YES, NO, UNDECIDED, ERROR = OutcomeCode.CORRECT, OutcomeCode.INCORRECT, OutcomeCode.ABSTAIN, OutcomeCode.ERROR
VOTES = st.lists(st.lists(st.integers(-1, 3), min_size=5, max_size=5), min_size=1, max_size=7)


def entropy(correct: int, votes: int) -> float:
    if correct in (0, votes):
        return 0.0
    share = correct / votes
    return -share * log2(share) - (1 - share) * log2(1 - share)


def test_even_splits_rank_first_and_missing_votes_do_not_count() -> None:
    runs = [
        [YES, YES, YES, YES, UNDECIDED, -1],
        [NO, YES, YES, NO, ERROR, -1],
        [YES, YES, NO, UNDECIDED, YES, -1],
        [NO, YES, YES, ERROR, UNDECIDED, -1],
    ]
    split = disagreement([np.array(run) for run in runs])
    assert split.tolist() == [0.5, 0, 0.25, 0.5, 0, 0]


@given(VOTES)
def test_the_order_is_that_of_the_entropy(runs: list[list[int]]) -> None:
    split = disagreement([np.array(run) for run in runs])
    expected = []
    for item in range(5):
        said = [run[item] for run in runs]
        expected.append(entropy(said.count(YES), said.count(YES) + said.count(NO)))
    for one in range(5):
        for other in range(5):
            if split[one] > split[other]:
                assert expected[one] > expected[other]
            elif split[one] == split[other]:
                assert expected[one] == pytest.approx(expected[other])


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 2**63 - 1)), max_size=30))
def test_higher_priorities_rank_first_with_random_ties(items: list[tuple[float, int]]) -> None:
    priority = np.array([item[0] for item in items])
    order = by_priority(priority, np.array([item[1] for item in items], dtype=np.int64))
    assert sorted(order.tolist()) == list(range(len(items)))
    placed = [(-items[place][0], items[place][1]) for place in order]
    assert placed == sorted(placed)


@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 6), st.randoms())
def test_a_quota_keeps_the_first_of_each_group_in_order(groups: list[int], most: int, random: object) -> None:
    order = list(range(len(groups)))
    random.shuffle(order)  # type: ignore[attr-defined]
    kept = first_of_each(np.array(order, dtype=np.int64), np.array(groups, dtype=np.int64), most).tolist()
    expected, seen = [], dict[int, int]()
    for place in order:
        seen[groups[place]] = seen.get(groups[place], 0) + 1
        if seen[groups[place]] <= most:
            expected.append(place)
    assert kept == expected
