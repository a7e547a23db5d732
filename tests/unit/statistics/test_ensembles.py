"""Votes: k of n by the words of its definition, weights as scikit-learn fits them, choices made outside each fold."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from workbench.core.verdict import OutcomeCode
from workbench.statistics.compare import compare_graded, one_is_best
from workbench.statistics.confusion import IntArray, grade
from workbench.statistics.ensembles import (
    MOST_MEMBERS,
    Ballots,
    at_least,
    ballots,
    best_outside,
    chosen,
    chosen_apart,
    every_k,
    fit_weights,
    fold_of,
    singles,
    weighted,
    weighted_outside,
)

NO, YES, ABSTAIN, ERROR = OutcomeCode


def votes_of(*patterns: tuple[int, ...]) -> IntArray:
    return np.array(patterns, dtype=np.int8)


def drawn(seed: int, items: int, members: int, questions: int = 40) -> tuple[list[IntArray], IntArray, IntArray]:
    """Outcomes of members of different worth, gold and questions."""
    generator = np.random.default_rng(seed)
    gold: IntArray = generator.integers(2, size=items).astype(np.int8)
    outcomes: list[IntArray] = []
    for place in range(members):
        right = generator.random(items) < 0.6 + 0.3 * place / members
        said = np.where(right, gold, 1 - gold)
        outcomes.append(np.where(generator.random(items) < 0.1, generator.integers(2, 4, items), said).astype(np.int8))
    question: IntArray = generator.integers(questions, size=items)
    return outcomes, gold, question


def test_every_pattern_of_three_votes() -> None:
    for pattern in product((1, -1, 0), repeat=3):
        for k in (1, 2, 3):
            # By enumeration: what would be said however those without a vote voted?
            ways = product(*((vote,) if vote else (1, -1) for vote in pattern))
            said = {sum(vote == 1 for vote in way) >= k for way in ways}
            expected = ABSTAIN if len(said) == 2 else YES if said == {True} else NO
            assert at_least(votes_of(pattern), k)[0] == expected


@pytest.mark.parametrize(("k", "expected"), [(1, YES), (2, NO)])
def test_a_tie_accepts_at_half_and_refuses_above(k: int, expected: OutcomeCode) -> None:
    assert at_least(votes_of((1, -1)), k)[0] == expected


@settings(deadline=None)
@given(st.lists(st.sampled_from([-1, 0, 1, 2, 3]), min_size=1, max_size=30))
def test_one_of_one_is_the_verifier(outcomes: list[int]) -> None:
    said = np.array(outcomes, dtype=np.int8)
    gold = np.zeros(len(said), dtype=np.int8)
    one = ballots([said], gold, gold.astype(np.int64))
    undecided = np.where((said == NO) | (said == YES), said, ABSTAIN)
    assert one.outcome(at_least(one.votes, 1)).tolist() == undecided.tolist()
    assert one.outcome(singles(one.votes)[0]).tolist() == undecided.tolist()


def test_patterns_give_back_every_vote() -> None:
    outcomes, gold, question = drawn(1, 400, 4)
    found = ballots(outcomes, gold, fold_of(question, 5))
    for place, said in enumerate(outcomes):
        expected = np.select([said == YES, said == NO], [1, -1], 0)
        assert (found.votes[found.pattern, place] == expected).all()
    assert found.counts.sum() == 400
    assert len(found.votes) == len({tuple(pattern) for pattern in found.votes.tolist()}) <= 3**4
    assert found.counts[:, 1].sum() == gold.sum()
    less = found.without(2)
    assert (less.votes[less.pattern, 2] == found.votes[found.pattern, 3]).all()


def test_as_many_members_as_fit_and_no_more() -> None:
    gold = np.array([0, 1, 1], dtype=np.int8)
    fold = np.array([0, 1, 1])
    said = [np.array([1, 2, 0], dtype=np.int8)] * MOST_MEMBERS
    assert ballots(said, gold, fold).votes.shape == (3, MOST_MEMBERS)
    for number in (0, MOST_MEMBERS + 1):
        with pytest.raises(ValueError, match="members"):
            ballots([said[0]] * number, gold, fold)


def fitted_by_scikit(votes: IntArray, counts: IntArray) -> list[float]:
    x = np.column_stack([np.ones(len(votes)), votes == 1, votes == -1]).astype(float)
    rows = np.concatenate([np.repeat(x, counts[gold], axis=0) for gold in (0, 1)])
    labels = np.repeat([0, 1], counts.sum(axis=1))
    model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(rows, labels)
    return [float(weight) for weight in model.coef_[0]]


def test_weights_equal_scikit_learns() -> None:
    outcomes, gold, question = drawn(2, 300, 3)
    found = ballots(outcomes, gold, fold_of(question, 4))
    counts = found.counts.sum(axis=0)
    assert fit_weights(found.votes, counts) == pytest.approx(fitted_by_scikit(found.votes, counts), abs=1e-4)


def test_weights_exist_where_votes_separate_the_classes_or_gold_has_one() -> None:
    votes = votes_of((1, 1), (-1, -1))
    for counts in (np.array([[0, 50], [50, 0]]), np.array([[25, 25], [0, 0]])):
        assert np.isfinite(fit_weights(votes, counts)).all()
    assert weighted(votes, fit_weights(votes, np.array([[0, 50], [50, 0]]))).tolist() == [YES, NO]


def test_members_that_vote_alike_share_their_weight() -> None:
    outcomes, gold, question = drawn(3, 300, 2)
    fold = fold_of(question, 4)
    once = ballots(outcomes, gold, fold)
    twice = ballots([*outcomes, outcomes[1]], gold, fold)
    one, two = (fit_weights(found.votes, found.counts.sum(axis=0)) for found in (once, twice))
    assert two[2] == pytest.approx(two[3], abs=1e-4)
    assert two[2] + two[3] == pytest.approx(one[2], rel=0.2)


def test_nobody_voting_is_no_verdict_and_even_odds_refuse() -> None:
    assert weighted(votes_of((0, 0), (1, 0)), np.array([3.0, -3.0, 0, 0, 0])).tolist() == [ABSTAIN, NO]


def right_outside(outcomes: IntArray, gold: IntArray, fold: IntArray, number: int) -> float:
    outside = fold != number
    counted, right = grade(outcomes[outside], gold[outside], "decided")
    return float(right.sum() / counted.sum())


def test_the_choice_for_a_fold_looks_at_the_other_folds_only() -> None:
    outcomes, gold, question = drawn(4, 500, 4)
    fold = fold_of(question, 5)
    found = ballots(outcomes, gold, fold)
    alone = np.stack([found.outcome(table) for table in singles(found.votes)])
    best = chosen(found, singles(found.votes), "decided")
    strictness = chosen(found, every_k(found.votes), "decided")
    rules = np.stack([found.outcome(table) for table in every_k(found.votes)])
    for number in range(5):
        for candidates, choice in ((alone, best), (rules, strictness)):
            shares = [right_outside(said, gold, fold, number) for said in candidates]
            assert shares[choice[number]] == max(shares)


def test_choosing_among_members_that_guess_promises_nothing() -> None:
    """In sample the luckiest of 15 coins looks good; chosen outside each fold it is a coin again."""
    honest, flattering = [], []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        gold: IntArray = generator.integers(2, size=200).astype(np.int8)
        coins: list[IntArray] = [generator.integers(2, size=200).astype(np.int8) for _ in range(15)]
        found = ballots(coins, gold, fold_of(np.arange(200), 5))
        picked = found.outcome(singles(found.votes)[chosen(found, singles(found.votes), "forced")])
        honest.append(float((picked == gold).mean()))
        flattering.append(max(float((coin == gold).mean()) for coin in coins))
    assert np.mean(flattering) > 0.55
    assert abs(np.mean(honest) - 0.5) < 0.02


def test_weights_for_a_fold_are_fitted_on_the_other_folds_only() -> None:
    outcomes, gold, question = drawn(5, 200, 3)
    fold = fold_of(question, 4)
    whole = ballots(outcomes, gold, fold)
    table = weighted_outside(whole)
    for number in range(4):
        # Labels inside the fold are turned round: what is said of it stays the same.
        turned = ballots(outcomes, np.where(fold == number, 1 - gold, gold).astype(np.int8), fold)
        assert (weighted_outside(turned)[number] == table[number]).all()
    assert (whole.outcome(table) == table[fold, whole.pattern]).all()


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 50), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_nothing(seed: int, random: Random) -> None:
    outcomes, gold, question = drawn(seed, 60, 3, questions=20)
    order = list(range(60))
    random.shuffle(order)

    def figures(rows: list[int]) -> list[IntArray]:
        found: Ballots = ballots([said[rows] for said in outcomes], gold[rows], fold_of(question[rows], 5))
        best = found.outcome(singles(found.votes)[chosen(found, singles(found.votes), "forced")])
        return [found.outcome(at_least(found.votes, 2)), best, found.outcome(weighted_outside(found))]

    for ordered, shuffled in zip(figures(list(range(60))), figures(order), strict=True):
        assert (ordered[order] == shuffled).all()


def test_folds_keep_questions_whole_and_are_even() -> None:
    question = np.repeat(np.arange(23) * 1_000_003, 3)
    fold = fold_of(question, 5)
    assert all(len(set(fold[question == one].tolist())) == 1 for one in set(question.tolist()))
    assert sorted(np.bincount(fold).tolist()) == [12, 12, 15, 15, 15]
    assert (fold == fold_of(question, 5)).all()
    assert (fold != fold_of(question, 5, seed=1)).any()


@pytest.mark.parametrize("folds", [1, 4])
def test_folds_that_can_not_be_are_refused(folds: int) -> None:
    with pytest.raises(ValueError, match="folds"):
        fold_of(np.array([7, 7, 8, 9]), folds)


def test_a_candidate_without_a_row_outside_is_chosen_last_and_of_equals_the_first() -> None:
    right, counted = np.array([[5.0, 0], [2, 2], [2, 2]]), np.array([[5.0, 0], [4, 4], [4, 4]])
    assert best_outside(right, counted).tolist() == [1, 0]


def test_a_difference_of_what_was_chosen_is_as_unsure_as_folds_that_share_items_make_it() -> None:
    # The best of five that guess is compared with what they say together: nobody is any better than another.
    generator = np.random.default_rng(5)
    taken, wider, plain = 0, 0, 0
    for _ in range(200):
        gold = generator.integers(2, size=200).astype(np.int8)
        said = [generator.integers(2, size=200).astype(np.int8) for _ in range(5)]
        question = np.arange(200)
        votes = ballots(said, gold, fold_of(question, 5))
        alone, together = singles(votes.votes), every_k(votes.votes)
        rules = [votes.outcome(ways[chosen(votes, ways, "forced")]) for ways in (together, alone)]
        one, other = (grade(outcome, gold, "forced") for outcome in rules)
        given = compare_graded(one, other, question)
        assert given is not None
        found = chosen_apart(given, 5)
        taken += given.ci[0] <= 0 <= given.ci[1]
        wider += found.ci[0] <= 0 <= found.ci[1]
        plain += one_is_best([grade(votes.outcome(way), gold, "forced") for way in alone], question)
    assert taken / 200 < 0.9
    assert wider / 200 >= 0.93
    assert plain / 200 <= 0.05


def test_a_choice_makes_ends_p_and_what_would_show_wider_by_the_same() -> None:
    right = np.arange(400) % 10 < 7
    worse = np.arange(400) % 10 < 6
    gold: IntArray = np.ones(400, dtype=np.int8)
    a, b = (grade(np.where(one, YES, NO).astype(np.int8), gold, "forced") for one in (right, worse))
    given = compare_graded(a, b, np.arange(400))
    assert given is not None
    for folds, factor in ((5, 1.5), (2, 3**0.5)):
        found = chosen_apart(given, folds)
        assert [abs(end - 0.1) for end in found.ci] == pytest.approx([factor * abs(end - 0.1) for end in given.ci])
        assert norm.isf(found.permutation_p / 2) * factor == pytest.approx(norm.isf(given.permutation_p / 2))
        assert found.mcnemar_p is None
        assert (found.difference, found.only_a, found.n) == (given.difference, given.only_a, given.n)
        if given.detectable is not None:
            assert found.detectable == pytest.approx(factor * given.detectable)
    assert one_is_best([b, a], np.arange(400))
    assert not one_is_best([a, b, a], np.arange(400))
    same = compare_graded(a, a, np.arange(400))
    assert same is not None
    assert chosen_apart(same, 5).permutation_p == 1.0
