"""The label noise ceiling: values of the model, and a simulation of the labelling procedure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.agreement.ceiling import GoldMade, accuracy_behind, ceiling, remaining_errors, wrong_gold


@pytest.mark.parametrize(
    ("accuracy", "wrong", "conflicts"), [(0.90, 0.028, 180), (0.95, 0.0073, 95), (0.98, 0.0012, 39)]
)
def test_golden_values(accuracy: float, wrong: float, conflicts: int) -> None:
    found = remaining_errors(accuracy)
    assert found.wrong == pytest.approx(wrong, abs=5e-5)
    assert round(1000 * found.conflicts) == conflicts


def test_it_is_what_two_and_a_third_leave() -> None:
    right = np.random.default_rng(0).random((400_000, 3)) < 0.9
    agreed = right[:, 0] == right[:, 1]
    final = np.where(agreed, right[:, 0], right[:, 2])
    assert 1 - final.mean() == pytest.approx(remaining_errors(0.9).wrong, abs=1e-3)
    assert 1 - agreed.mean() == pytest.approx(remaining_errors(0.9).conflicts, abs=2e-3)


@given(st.floats(0.5, 1))
def test_agreement_gives_the_accuracy_back(accuracy: float) -> None:
    agreement = accuracy**2 + (1 - accuracy) ** 2
    assert accuracy_behind(agreement) == pytest.approx(accuracy, abs=1e-6)


def test_the_agreement_of_the_paradox_is_that_of_95_percent() -> None:
    assert accuracy_behind(0.905) == pytest.approx(0.95)
    assert accuracy_behind(0.3) == 0.5


@given(st.floats(0, 1), st.floats(0, 1))
def test_better_people_leave_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert remaining_errors(high).wrong <= remaining_errors(low).wrong + 1e-15


def test_a_verifier_without_error_reaches_the_ceiling() -> None:
    found = ceiling("agreement", 0.95, (0.9, 0.98))
    assert found.highest_accuracy == pytest.approx(1 - 0.00725)
    assert found.highest_ci == pytest.approx((1 - 0.028, 1 - 0.001184))
    assert found.conflicts_per_1000 == pytest.approx(95)


class Labelled(NamedTuple):
    """Gold of a world whose truth is known.

    Attributes:
        wrong: The share of gold that is wrong.
        differ: The share of items two annotators disagree on.
    """

    made: GoldMade
    wrong: float
    differ: float


def labelled(error: tuple[float, float], shared: float, common: float = 0.3, items: int = 400_000) -> Labelled:
    """Two people on every item, and a third on half of those they differ on."""
    chance = np.random.default_rng(1)
    correct = chance.random(items) < common
    mean = np.where(correct, *error)
    hard = chance.beta(mean * (1 / shared - 1), (1 - mean) * (1 / shared - 1)) if shared else mean
    errs = chance.random((items, 3)) < hard[:, None]
    agree = errs[:, 0] == errs[:, 1]
    settled = ~agree & (chance.random(items) < 0.5)
    wrong = np.where(agree, errs[:, 0], errs[:, 2])[agree | settled].mean()
    made = GoldMade({2: int(agree.sum())}, int(settled.sum()), int((~agree & ~settled).sum()))
    return Labelled(made, float(wrong), 1 - float(agree.mean()))


@pytest.mark.parametrize(
    ("error", "shared"),
    [((0.1, 0.1), 0.0), ((0.02, 0.15), 0.0), ((0.1, 0.1), 0.3), ((0.02, 0.15), 0.3)],
    ids=["the model", "unequal", "hard items", "both"],
)
def test_gold_with_open_conflicts_is_as_wrong_as_the_truth_says(error: tuple[float, float], shared: float) -> None:
    made, wrong, differ = labelled(error, shared)
    assert wrong_gold(made, error, 0.3, shared) == pytest.approx(wrong, abs=1e-3)
    found = ceiling("agreement", accuracy_behind(1 - differ), (0.9, 0.95), made=made, common=0.7)
    low, high = found.sensitivity
    assert low - 2e-3 <= 1 - wrong <= high + 2e-3
    assert found.gold is not None
    assert found.gold.in_conflict == made.in_conflict > 0


def test_open_conflicts_leave_gold_better_than_a_third_person_would() -> None:
    settled, open_ = GoldMade({2: 820}, 180, 0), GoldMade({2: 820}, 0, 180)
    assert wrong_gold(settled, (0.1, 0.1)) == pytest.approx(remaining_errors(0.9).wrong)
    assert wrong_gold(open_, (0.1, 0.1)) == pytest.approx(0.01 / 0.82)


def test_more_agreeing_annotators_lower_the_noise() -> None:
    assert wrong_gold(GoldMade({3: 5}, 0, 0), (0.1, 0.1)) == pytest.approx(0.001 / 0.730)
    assert wrong_gold(GoldMade({1: 5}, 0, 0), (0.1, 0.1)) == pytest.approx(0.1)


def test_one_class_only_and_people_without_error_have_a_ceiling() -> None:
    assert ceiling("checks", 1.0, (0.9, 1.0), common=1.0).sensitivity == (1.0, 1.0)
    assert ceiling("agreement", 0.5, (0.5, 0.6), common=1.0).sensitivity[1] <= 0.5
