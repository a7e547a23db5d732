"""Verdicts against gold, weighted by the reliability of each verifier."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.statistics.disagreement.ballots import Ballot, ballots
from workbench.statistics.disagreement import against_gold, evidence

GROUPS = 3


def ranked(ballot: Ballot, **more: Any) -> dict[int, float]:
    gold, group = np.array(ballot.gold, dtype=np.int8), np.array(ballot.group)
    found = against_gold(ballot.vote_columns(), gold, group, GROUPS, **more)
    assert found.score.tolist() == sorted(found.score.tolist(), reverse=True)
    return dict(zip(found.place.tolist(), found.score.tolist(), strict=True))


def test_a_good_verifiers_word_weighs_more_than_a_poor_ones() -> None:
    gold = [0, 1] * 20
    good, poor = list(gold), [0, 0, 1, 1] * 10
    good[0], poor[1], poor[0] = 1, 1, 0
    ballot = Ballot(votes=[good, poor], gold=gold, group=[0] * 40, question=list(range(40)))
    found = ranked(ballot)
    assert max(found, key=lambda item: found[item]) == 0
    assert found[0] > 2 > 0.5 > found[2]


def test_a_verifier_is_as_good_as_it_is_on_the_items_type() -> None:
    gold = [0, 1] * 40
    votes = list(gold)
    # On the second type it is wrong as often as right.
    votes[40:] = [0, 0, 1, 1] * 10
    votes[0] = 1
    group = [0] * 40 + [1] * 40
    found = ranked(Ballot(votes=[votes], gold=gold, group=group, question=list(range(80))))
    assert found[0] > found[42]


def test_one_ratio_by_hand() -> None:
    """5 right and 1 wrong of 6 incorrect, 4 right of 4 correct; one type, so that its rates are the overall ones."""
    gold = np.array([0] * 6 + [1] * 4, dtype=np.int8)
    vote = np.array([1, 0, 0, 0, 0, 0, 1, 1, 1, 1], dtype=np.int8)
    found = evidence(vote, gold, np.zeros(10, dtype=np.int32), 1)[0, 0, 2]
    accepted_wrong, accepted_right = 2 / 8, 5 / 6
    if_right = (1 - 1 + 10 * accepted_wrong) / (6 - 1 + 10)
    if_wrong = (4 + 10 * accepted_right) / (4 + 10)
    assert found == pytest.approx(log(if_wrong / if_right))


def test_a_verifier_that_is_mostly_wrong_never_speaks_for_gold_by_differing_from_it() -> None:
    gold = np.array([0, 1] * 10, dtype=np.int8)
    found = evidence(1 - gold, gold, np.zeros(20, dtype=np.int32), 1)
    assert (found == 0.0).all()


@given(ballots())
def test_the_items_are_those_on_which_some_decided_vote_differs(ballot: Ballot) -> None:
    expected = [
        item for item in range(ballot.items) if ballot.gold[item] >= 0 and set(ballot.of(item)) - {ballot.gold[item]}
    ]
    assert sorted(ranked(ballot)) == expected
    kept = np.arange(ballot.items) % 2 == 0
    among = ranked(ballot, kept=kept)
    assert sorted(among) == [item for item in expected if item % 2 == 0]
    assert among == {item: score for item, score in ranked(ballot).items() if item in among}


@given(ballots(), st.randoms(use_true_random=False))
def test_the_order_of_verifiers_and_items_changes_nothing(ballot: Ballot, chance: Any) -> None:
    order = chance.sample(range(ballot.items), ballot.items)
    moved = ballot.ordered(order)
    shuffled = Ballot(
        votes=chance.sample(moved.votes, len(moved.votes)), gold=moved.gold, group=moved.group, question=moved.question
    )
    again = {order[place]: score for place, score in ranked(shuffled).items()}
    assert again == pytest.approx(ranked(ballot))
