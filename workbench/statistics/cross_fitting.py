"""Choices made on some questions and judged on the others, so that no figure flatters the choice behind it."""

from __future__ import annotations

import numpy as np

from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.intervals import compact

SEED = 0
"""Seed of the folds."""


def fold_of(question: IntArray, folds: int, seed: int = SEED) -> IntArray:
    """Each item's fold, from 0: questions are dealt out at random, with all their items, as evenly as can be.

    Source: Stone, "Cross-validatory choice and assessment of statistical predictions", JRSS B 36, 1974, with
    questions as the units.

    Raises:
        ValueError: There are fewer questions than folds, or fewer than two folds.
    """
    place, known = compact(question)
    if not 2 <= folds <= len(known):
        raise ValueError(f"{folds} folds of {len(known)} questions")
    return np.random.default_rng(seed).permutation(len(known))[place] % folds


def best_outside(right: FloatArray, counted: FloatArray) -> IntArray:
    """For each fold the candidate that is right most often on the other folds; of equals the first.

    Args:
        right: Rows a candidate judges rightly, by candidate and fold.
        counted: Rows that count for it.
    """
    right, counted = (total.sum(axis=1, keepdims=True) - total for total in (right, counted))
    share = np.divide(right, counted, out=np.full(right.shape, -1.0), where=counted > 0)
    best: IntArray = np.argmax(share, axis=0)
    return best
