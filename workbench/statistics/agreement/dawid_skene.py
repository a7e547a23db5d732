"""Dawid and Skene's model: everyone's confusion matrix, and the consensus that follows from it.

It ranks people and flags items. Final labels come from people, never from here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.statistics.agreement.arithmetic import summed
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.arrays import FloatArray, IntArray

MOST_CATEGORIES = 50
"""More categories than this are measurements; a confusion matrix of them says nothing."""

_ROUNDS = 100
_CLOSE = 1e-6
_SMALLEST = 1e-12


class Consensus(NamedTuple):
    """What the model finds.

    Attributes:
        probability: Of each category being an item's true one, items x categories; uniform without ratings.
        confusion: Of each person's saying c where k is true, people x true x said.
        share: Of each category among the truths.
    """

    probability: FloatArray
    confusion: FloatArray
    share: FloatArray

    @property
    def labels(self) -> IntArray:
        """The likeliest category of each item, the first of equally likely ones."""
        likeliest: IntArray = np.argmax(self.probability, axis=1)
        return likeliest


def consensus(ratings: Ratings, often: IntArray | None = None) -> Consensus:
    """Fit by expectation and maximisation, from the shares of votes; nothing in it is random.

    M: share_k = mean_i T_ik, confusion_akc = sum_i T_ik [a said c of i] / sum_i T_ik [a rated i].
    E: T_ik proportional to share_k prod_a confusion_a,k,said(a, i). It ends when no T moves by more than 1e-6, or
    after 100 rounds. Source: Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM
    algorithm", Applied Statistics 28, 1979.

    Args:
        often: How many items with the same ratings each item stands for; None for one each.
    """
    items, people, categories = ratings.items, ratings.annotators, ratings.categories
    said = ratings.annotator * categories + ratings.value
    truth = np.bincount(ratings.item * categories + ratings.value, minlength=items * categories).astype(float)
    truth = _normal(truth.reshape(items, categories))
    weight = (np.bincount(ratings.item, minlength=items) > 0) * (1.0 if often is None else often)
    for _ in range(_ROUNDS):
        counted = truth * weight[:, None]
        share = _normal(counted.sum(axis=0))
        votes = [summed(said, counted[ratings.item, true], people * categories) for true in range(categories)]
        confusion = _normal(np.stack([vote.reshape(people, categories) for vote in votes], axis=1))
        likely = np.log(np.maximum(confusion, _SMALLEST))[ratings.annotator, :, ratings.value]
        scores = [summed(ratings.item, likely[:, true], items) for true in range(categories)]
        score = np.stack(scores, axis=1) + np.log(np.maximum(share, _SMALLEST))
        before, truth = truth, _normal(np.exp(score - score.max(axis=1, keepdims=True)))
        if np.abs(truth - before).max(initial=0) < _CLOSE:
            break
    return Consensus(truth, confusion, share)


def _normal(values: FloatArray) -> FloatArray:
    """Values divided by their sum along the last axis; alike where all are 0."""
    total = values.sum(axis=-1, keepdims=True)
    shares: FloatArray = np.full(values.shape, 1 / values.shape[-1])
    np.divide(values, total, out=shares, where=total > 0)
    return shares
