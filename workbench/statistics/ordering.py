"""Which items are worth a person's time first, judged by what verifiers have said of them.

A priority is a number an item, greater for those that come first; equal ones are left to chance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.arrays import FloatArray, IntArray


def disagreement(outcomes: Sequence[IntArray]) -> FloatArray:
    """How evenly the votes on each item are split: the minority's share, 0 to 0.5.

    It orders items as the entropy of the split does, and equal splits of other sizes (1:1, 3:3) are exactly equal.
    Correct and incorrect are votes; an abstention, an error and no verdict are none, and without a vote it is 0.

    Args:
        outcomes: One array a run, one outcome an item, -1 for none.
    """
    table = np.stack(outcomes)
    correct, incorrect = (table == Outcome.CORRECT).sum(axis=0), (table == Outcome.INCORRECT).sum(axis=0)
    share: FloatArray = np.minimum(correct, incorrect) / np.maximum(correct + incorrect, 1)
    return share


def uncertainty(outcome: IntArray, score: FloatArray, threshold: float) -> FloatArray:
    """How unsure one run is of each item, 0 to 1; NaN where it says nothing of it.

    Items with a score are ranked by its distance from the threshold, so that runs with scores of any scale can be
    averaged: 1 - rank / (ranks + 1), equal distances alike. Without one, an abstention and an error are 1.

    Args:
        outcome: The run's outcomes, -1 for none.
        score: Its scores, NaN for none.
        threshold: Where its verdict changes.
    """
    unsure = np.where((outcome == Outcome.ABSTAIN) | (outcome == Outcome.ERROR), 1.0, np.nan)
    scored = np.isfinite(score) & (outcome >= 0)
    distances, rank = np.unique(np.abs(score[scored] - threshold), return_inverse=True)
    unsure[scored] = 1 - (rank + 1) / (len(distances) + 1)
    return unsure


def mean_known(values: Sequence[FloatArray]) -> FloatArray:
    """The mean of what is known of each item; 0 where nothing is."""
    table = np.stack(values)
    known = np.isfinite(table)
    mean: FloatArray = np.where(known, table, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return mean


def by_priority(priority: FloatArray, chance: FloatArray) -> IntArray:
    """The places of the items, greatest priority first, equal ones by their ``chance``."""
    return np.lexsort((chance, -priority))


def first_of_each(order: IntArray, group: IntArray, most: int) -> IntArray:
    """An order with no more than ``most`` items of a group: its first ones.

    Args:
        order: Places of items.
        group: The group of each place, from 0.
    """
    groups = group[order]
    by_group = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    within = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    number = np.empty(len(order), dtype=np.int64)
    number[by_group] = within
    return order[number < most]
