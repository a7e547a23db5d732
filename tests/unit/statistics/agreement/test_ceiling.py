"""The ceiling of label noise: the figures of the model, and a simulation of the procedure itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.statistics.agreement.figures import accuracy_behind, ceiling, residue


@pytest.mark.parametrize(
    ("accuracy", "wrong", "conflicts"), [(0.90, 0.028, 180), (0.95, 0.0073, 95), (0.98, 0.0012, 39)]
)
def test_golden_values(accuracy: float, wrong: float, conflicts: int) -> None:
    found = residue(accuracy)
    assert found.wrong == pytest.approx(wrong, abs=5e-5)
    assert round(1000 * found.conflicts) == conflicts


def test_it_is_what_two_and_a_third_leave() -> None:
    right = np.random.default_rng(0).random((400_000, 3)) < 0.9
    agreed = right[:, 0] == right[:, 1]
    final = np.where(agreed, right[:, 0], right[:, 2])
    assert 1 - final.mean() == pytest.approx(residue(0.9).wrong, abs=1e-3)
    assert 1 - agreed.mean() == pytest.approx(residue(0.9).conflicts, abs=2e-3)


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
    assert residue(high).wrong <= residue(low).wrong + 1e-15


def test_a_verifier_without_error_reaches_the_ceiling() -> None:
    found = ceiling("agreement", 0.95, (0.9, 0.98))
    assert found.highest_accuracy == pytest.approx(1 - 0.00725)
    assert found.highest_ci == pytest.approx((1 - 0.028, 1 - 0.001184))
    assert found.conflicts_per_1000 == pytest.approx(95)
