"""Questions are dealt out whole, and a difference of what was chosen is as unsure as the choice makes it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from workbench.core.verdict import OutcomeCode
from workbench.statistics.compare import compare_graded
from workbench.statistics.confusion import IntArray, grade
from workbench.statistics.folds import fold_of, widened_for_selection


def test_a_difference_of_what_was_chosen_is_as_unsure_as_folds_that_share_items_make_it() -> None:
    # The best of five that guess outside each fold is compared with one more that guesses: neither is any better.
    generator = np.random.default_rng(5)
    question = np.arange(200)
    fold = fold_of(question, 5)
    held = 0
    for _ in range(200):
        right = generator.random((6, 200)) < 0.5
        best = [int(np.argmax(right[:5, fold != number].mean(axis=1))) for number in range(5)]
        chosen = right[np.array(best)[fold], question]
        gold: IntArray = np.ones(200, dtype=np.int8)
        one, other = (grade(said.astype(np.int8), gold, "forced") for said in (chosen, right[5]))
        given = compare_graded(one, other, question)
        assert given is not None
        low, high = widened_for_selection(given, 5).ci
        held += low <= 0 <= high
    assert held / 200 >= 0.93


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


def test_a_choice_makes_ends_p_and_what_would_show_wider_by_the_same() -> None:
    right = np.arange(400) % 10 < 7
    worse = np.arange(400) % 10 < 6
    gold: IntArray = np.ones(400, dtype=np.int8)
    a, b = (
        grade(np.where(one, OutcomeCode.CORRECT, OutcomeCode.INCORRECT).astype(np.int8), gold, "forced")
        for one in (right, worse)
    )
    given = compare_graded(a, b, np.arange(400))
    assert given is not None
    for folds, factor in ((5, 1.5), (2, 3**0.5)):
        found = widened_for_selection(given, folds)
        assert [abs(end - 0.1) for end in found.ci] == pytest.approx([factor * abs(end - 0.1) for end in given.ci])
        assert norm.isf(found.permutation_p / 2) * factor == pytest.approx(norm.isf(given.permutation_p / 2))
        assert found.mcnemar_p is None
        assert (found.difference, found.only_a, found.n) == (given.difference, given.only_a, given.n)
        if given.detectable is not None:
            assert found.detectable == pytest.approx(factor * given.detectable)
    same = compare_graded(a, a, np.arange(400))
    assert same is not None
    assert widened_for_selection(same, 5).permutation_p == 1.0
