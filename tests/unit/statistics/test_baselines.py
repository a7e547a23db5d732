"""Baselines: their verdicts, and the data they must not use."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.verdict import OutcomeCode
from workbench.statistics.accuracy import always, majority

ITEMS = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 3)), max_size=40)


def test_a_constant_baseline_has_one_verdict() -> None:
    assert always(OutcomeCode.CORRECT, 3).tolist() == [1, 1, 1]
    assert always(OutcomeCode.INCORRECT, 0).tolist() == []


def test_the_majority_goes_by_type_and_a_tie_is_incorrect_and_named() -> None:
    gold, kind = np.array([1, 1, 0, 0, 1, -1, -1]), np.array([0, 0, 0, 2, 2, 2, 3])
    found = majority(gold, kind, 5)
    assert found.outcome.tolist() == [1, 1, 1, 0, 0, 0, 0]
    # Nothing of type 3 or 4 has gold: no votes are no tie.
    assert found.tied.tolist() == [2]


@settings(deadline=None)
@given(ITEMS)
def test_majority_by_type_is_the_best_baseline_by_type(items: list[tuple[int, int]]) -> None:
    gold, kind = np.array(items, dtype=np.int64).reshape(-1, 2).T
    found = majority(gold, kind, 4)
    votes = {name: Counter(truth for truth, of in items if of == name and truth >= 0) for name in range(4)}
    assert int(((found.outcome == gold) & (gold >= 0)).sum()) == sum(
        max(of.values(), default=0) for of in votes.values()
    )
    assert set(found.tied.tolist()) == {name for name, of in votes.items() if of and of[0] == of[1]}
