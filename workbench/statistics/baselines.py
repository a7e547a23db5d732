"""What verifiers that don't look at the completion would say."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.arrays import IntArray


class Majority(NamedTuple):
    """Verdicts by the class that is most frequent in the gold of an item's type.

    Attributes:
        outcome: One `Outcome` an item (int8).
        tied: Types, by code, in which both classes are equally frequent: they count as incorrect there.
    """

    outcome: IntArray
    tied: IntArray


def always(outcome: Outcome, items: int) -> IntArray:
    """The same verdict on every item (int8)."""
    return np.full(items, outcome, dtype=np.int8)


def majority(gold: IntArray, kind: IntArray, kinds: int) -> Majority:
    """Verdicts that follow the gold they are measured on: an upper bound for what knowing the type alone buys.

    Args:
        gold: 1 correct, 0 incorrect, -1 none; items without gold don't vote.
        kind: Each item's type, from 0 to ``kinds - 1``.
        kinds: The number of types.
    """
    _, incorrect, correct = np.bincount(kind * 3 + (gold + 1), minlength=3 * kinds).reshape(kinds, 3).T
    says = np.where(correct > incorrect, Outcome.CORRECT, Outcome.INCORRECT).astype(np.int8)
    return Majority(says[kind], np.flatnonzero((correct == incorrect) & (correct > 0)))
