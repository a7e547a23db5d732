"""Splits among verifiers, against a manual count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.statistics.disagreement.ballots import Ballot, ballots
from workbench.statistics.disagreement import counted, rank_by_split, splits, weights

YES, NO, ABSTAIN = 1, 0, 2


def of(*items: str) -> Ballot:
    """Items as ``+-?`` strings, one sign a verifier."""
    signs = {"+": YES, "-": NO, "?": ABSTAIN, ".": -1}
    columns = [[signs[item[number]] for item in items] for number in range(len(items[0]))]
    return Ballot(votes=columns, gold=[0] * len(items), group=[0] * len(items), question=list(range(len(items))))


def test_two_against_three_needs_five_decided_votes() -> None:
    found = splits(of("++---", "+++++", "+----", "++--?", "---++", "++--.").vote_columns(), 6, 2)
    assert sorted(found.ranking.place.tolist()) == [0, 4]
    assert found.sizes == (1, 1, 2)
    assert found.unvoted == 2


def test_only_selected_items_are_counted() -> None:
    kept = np.array([True, False, True, True])
    found = splits(of("++---", "++---", "+++++", "??---").vote_columns(), 4, 2, kept)
    assert found.ranking.place.tolist() == [0]
    assert (found.sizes, found.unvoted) == ((1, 0, 1), 1)


def test_a_minority_of_reliable_verifiers_ranks_first() -> None:
    """The last two verifiers vote at random; the first three agree except on the last items."""
    items = ["+++-+", "+++--", "---+-", "---++", "+++-+", "---+-", "+++--", "---++", "+--++", "++---", "---++"]
    found = splits(of(*items).vote_columns(), len(items), 2)
    strength = dict(zip(found.ranking.place.tolist(), found.ranking.score.tolist(), strict=True))
    # Two of the three trusted ones against the third and both erratic ones: nearly even. Both erratic ones: not.
    assert strength[9] > strength[3]
    assert found.ranking.score.tolist() == sorted(found.ranking.score.tolist(), reverse=True)


def test_a_vote_weighs_something_however_rarely_it_is_the_majoritys() -> None:
    ballot = of("+++-", "---+", "+++-", "---+")
    vote_columns = counted(ballot.vote_columns(), 4)
    found = weights(ballot.vote_columns(), vote_columns, np.ones(4, dtype=bool))
    assert found[3] == pytest.approx(0.01)
    assert (found[:3] > 1).all()


def test_verifiers_without_any_decided_vote_split_nothing() -> None:
    found = splits(of("?.", "??").vote_columns(), 2, 1)
    assert len(found.ranking.place) == 0
    assert (found.sizes, found.unvoted) == ((0, 0), 2)


def test_even_splits_and_more_votes_rank_first() -> None:
    found = rank_by_split(of("+++-?", "+-???", "++--?", "+++++", "-????").vote_columns(), 5)
    assert found.place.tolist() == [2, 1, 0]
    assert found.score.tolist() == [1.0, 1.0, 0.5]


@given(ballots(), st.integers(1, 2))
def test_splits_equal_a_count_item_by_item(ballot: Ballot, k: int) -> None:
    every = len(ballot.votes)
    found = splits(ballot.vote_columns(), ballot.items, k)
    full = [item for item in range(ballot.items) if len(ballot.of(item)) == every]
    minority = {item: min(sum(ballot.of(item)), every - sum(ballot.of(item))) for item in full}
    assert sorted(found.ranking.place.tolist()) == [item for item in full if minority[item] == k]
    assert found.sizes == tuple(list(minority.values()).count(size) for size in range(every // 2 + 1))
    assert found.unvoted == ballot.items - len(full)


@given(ballots())
def test_disagreements_equal_a_count_item_by_item(ballot: Ballot) -> None:
    found = rank_by_split(ballot.vote_columns(), ballot.items)
    expected = {}
    for item in range(ballot.items):
        vote_columns = ballot.of(item)
        if 0 < sum(vote_columns) < len(vote_columns):
            expected[item] = (
                2 * min(sum(vote_columns), len(vote_columns) - sum(vote_columns)) / len(vote_columns),
                len(vote_columns),
            )
    assert found.place.tolist() == sorted(expected, key=lambda item: (-expected[item][0], -expected[item][1], item))


@given(ballots(), st.randoms(use_true_random=False))
def test_the_order_of_verifiers_and_items_changes_nothing(ballot: Ballot, chance: Any) -> None:
    order = chance.sample(range(ballot.items), ballot.items)
    vote_columns = ballot.ordered(order).vote_columns()
    chance.shuffle(vote_columns)
    for ranked, again in (
        (rank_by_split(ballot.vote_columns(), ballot.items), rank_by_split(vote_columns, ballot.items)),
        (splits(ballot.vote_columns(), ballot.items, 1).ranking, splits(vote_columns, ballot.items, 1).ranking),
    ):
        before = dict(zip(ranked.place.tolist(), ranked.score.tolist(), strict=True))
        after = {order[place]: score for place, score in zip(again.place.tolist(), again.score.tolist(), strict=True)}
        assert after == pytest.approx(before)
