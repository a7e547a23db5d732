"""Labels that are probably wrong: found again after being flipped, and equal to independent implementations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.disagreement.ballots import Ballot, ballots
from workbench.statistics.agreement.figures import consensus
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.disagreement import (
    FOLDS,
    Feature,
    folds,
    label_error_probability,
    label_surprise,
    patterns,
    quantiles,
)

ACCURACIES = (0.9, 0.85, 0.8, 0.5)


def world(seed: int, items: int = 120) -> tuple[IntArray, list[IntArray], IntArray]:
    """Gold, votes of verifiers of `ACCURACIES` (the last abstains here and there), and questions of two items."""
    chance = np.random.default_rng(seed)
    gold = (chance.random(items) < 0.3).astype(np.int64)
    votes = [np.where(chance.random(items) < accuracy, gold, 1 - gold) for accuracy in ACCURACIES]
    votes[-1] = np.where(chance.random(items) < 0.2, 2, votes[-1])
    return gold, votes, np.arange(items) // 2


def features(votes: list[IntArray]) -> list[Feature]:
    return [Feature(vote + 1, 5) for vote in votes]


def recall(suspicion: FloatArray, flipped: IntArray, first: int = 20) -> float:
    top = np.argsort(-suspicion, kind="stable")[:first]
    return len(np.intersect1d(top, flipped)) / len(flipped)


def test_ten_flipped_labels_are_found_again_among_the_first_twenty() -> None:
    found, random = [], []
    for seed in range(8):
        gold, votes, question = world(seed)
        flipped = np.random.default_rng(seed).choice(len(gold), 10, replace=False)
        gold[flipped] = 1 - gold[flipped]
        found.append(recall(label_surprise(features(votes), gold, question), flipped))
        random.append(recall(np.random.default_rng(seed + 1).random(len(gold)), flipped))
    assert np.mean(found) > 0.8
    assert np.mean(random) < 0.3


@pytest.mark.parametrize("noise", [0.0, 0.05], ids=["gold without errors", "gold with errors"])
def test_the_share_of_items_judged_alike_holds_for_verifiers_that_err_together(noise: float) -> None:
    chance = np.random.default_rng(6)
    items = 40_000
    truth = (chance.random(items) < 0.3).astype(np.int64)
    together = chance.random(items) < 0.08
    votes = [np.where(together | (chance.random(items) > accuracy), 1 - truth, truth) for accuracy in (0.95, 0.9, 0.85)]
    gold = np.where(chance.random(items) < noise, 1 - truth, truth)
    wrong = label_surprise(features(votes), gold, np.arange(items) // 2)
    correct = np.where(gold == 1, 1 - wrong, wrong)
    alike = votes[0] * 4 + votes[1] * 2 + votes[2]
    for kind in range(8):
        assert correct[alike == kind].mean() == pytest.approx(gold[alike == kind].mean(), abs=0.01)


def test_a_model_is_fitted_on_other_questions_only() -> None:
    """A level that names the question says nothing of it out of fold; a model that saw it would believe the labels."""
    question = np.repeat(np.arange(40), 4)
    assert (label_surprise([Feature(question, 40)], question % 2, question) > 0.4).all()


def test_the_model_equals_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.statistics.disagreement._MODEL_WEIGHT", 1e12)
    linear_model = pytest.importorskip("sklearn.linear_model")
    gold, votes, question = world(3)
    indicators = np.column_stack([vote == level for vote in votes for level in range(-1, 4)]).astype(float)
    expected, fold = np.empty(len(gold)), folds(question)
    for held in range(FOLDS):
        known = fold != held
        model = linear_model.LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(indicators[known], gold[known])
        expected[~known] = model.predict_proba(indicators[~known])[:, 1]
    wrong = np.where(gold == 1, 1 - expected, expected)
    assert label_surprise(features(votes), gold, question) == pytest.approx(wrong, abs=1e-4)


def test_dawid_skene_over_patterns_equals_dawid_skene_over_items() -> None:
    gold, votes, _ = world(4)
    gold = np.where(np.random.default_rng(4).random(len(gold)) < 0.3, 1 - gold, gold)
    said = np.stack([*(np.where(vote < 2, vote, -1) for vote in votes), gold])
    rater, item = np.nonzero(said >= 0)
    ratings = Ratings(
        item=item, annotator=rater, value=said[rater, item], items=len(gold), annotators=len(said), categories=2
    )
    expected = consensus(ratings).probability[np.arange(len(gold)), 1 - gold]
    assert label_error_probability(votes, gold) == pytest.approx(expected, abs=1e-9)


def test_verifiers_with_one_weakness_outvote_gold_but_do_not_make_it_improbable() -> None:
    """Four copies of one poor verifier against one good one: the model out of fold is not impressed."""
    chance = np.random.default_rng(5)
    gold = (chance.random(200) < 0.4).astype(np.int64)
    poor = np.where(chance.random(200) < 0.6, gold, 1 - gold)
    votes = [np.where(chance.random(200) < 0.95, gold, 1 - gold), *[poor] * 4]
    flipped = chance.choice(200, 10, replace=False)
    gold[flipped] = 1 - gold[flipped]
    assert recall(label_surprise(features(votes), gold, np.arange(200)), flipped) > 0.6
    assert recall(label_error_probability(votes, gold), flipped) < 0.3


@pytest.mark.parametrize("noise", [0.05, 0.1])
def test_dawid_skene_is_right_nine_times_in_ten_where_its_assumption_holds(noise: float) -> None:
    sure, wrong = 0, 0
    for seed in range(20):
        chance = np.random.default_rng(seed)
        truth = (chance.random(400) < 0.3).astype(np.int64)
        votes = [np.where(chance.random(400) < accuracy, truth, 1 - truth) for accuracy in (0.9, 0.85, 0.8, 0.75)]
        gold = np.where(chance.random(400) < noise, 1 - truth, truth)
        found = label_error_probability(votes, gold) >= 0.9
        sure, wrong = sure + int(found.sum()), wrong + int((found & (gold != truth)).sum())
    assert sure > 100
    assert wrong / sure >= 0.9


def test_gold_of_a_single_class_gives_no_suspects() -> None:
    _, votes, question = world(6)
    assert label_surprise(features(votes), np.ones(120, dtype=np.int64), question).max() < 0.01


def test_no_labels_give_no_suspects() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert len(label_surprise([Feature(none, 2)], none, none)) == 0


def test_doubling_the_verifiers_adds_no_evidence_that_the_data_did_not_have() -> None:
    gold, votes, question = world(7)
    once, twice = (label_surprise(features(list(said)), gold, question) for said in (votes, votes * 2))
    assert np.corrcoef(once, twice)[0, 1] > 0.99


@settings(max_examples=8)
@given(ballots(golds=(0, 1), least=4), st.randoms(use_true_random=False))
def test_the_order_of_verifiers_and_items_changes_nothing(ballot: Ballot, chance: Any) -> None:
    order = chance.sample(range(ballot.items), ballot.items)
    moved = ballot.ordered(order)
    said = moved.vote_columns()
    chance.shuffle(said)
    gold, question = np.array(ballot.gold), np.array(ballot.question)
    before = label_surprise(features(ballot.vote_columns()), gold, question)
    after = label_surprise(features(said), np.array(moved.gold), np.array(moved.question))
    assert after == pytest.approx(before[order], abs=1e-4)
    assert label_error_probability(said, np.array(moved.gold)) == pytest.approx(
        label_error_probability(ballot.vote_columns(), gold)[order], abs=1e-4
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=20))
def test_patterns_are_the_different_combinations(levels: list[tuple[int, int]]) -> None:
    columns = [Feature(np.array(column), size) for column, size in zip(zip(*levels, strict=True), (3, 5), strict=True)]
    found = patterns(columns)
    assert [tuple(found.level[pattern].tolist()) for pattern in found.of.tolist()] == levels
    assert sorted(map(tuple, found.level.tolist())) == sorted(set(levels))
    ones = found.indicators().toarray()
    assert (ones.sum(axis=1) == 3).all()
    assert (ones[:, -1] == 1).all()


def test_many_features_do_not_overflow() -> None:
    chance = np.random.default_rng(8)
    columns = [Feature(chance.integers(0, 5, 50), 5) for _ in range(60)]
    found = patterns(columns)
    assert (found.level[found.of] == np.column_stack([column.level for column in columns])).all()


def test_quantiles_are_parts_of_about_equal_size_and_nan_is_one_of_its_own() -> None:
    found = quantiles(np.array([1.0, 2.0, 3.0, 4.0, np.nan]), 4)
    assert (found.level.tolist(), found.levels) == ([0, 1, 2, 3, 4], 5)
    assert quantiles(np.full(3, np.nan), 2).level.tolist() == [2, 2, 2]
    assert set(quantiles(np.full(9, 7.0), 4).level.tolist()) == {1}
