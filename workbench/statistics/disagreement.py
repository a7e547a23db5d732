"""Labels that are probably wrong, by what verifiers say of the items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit

from workbench.core.verdict import Outcome
from workbench.statistics.agreement.dawid_skene import consensus
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.patterns import Feature, patterns

FOLDS = 5
_RIDGE, _HARDLY = 1.0, 1e-6
_ROUNDS = 100
_CLOSE = 1e-6


def improbable(features: Sequence[Feature], gold: IntArray, question: IntArray) -> FloatArray:
    """How probably each label is wrong, by a model fitted on other questions' labels.

    Confident learning's self-confidence, 1 - P(label | features), where P is out of fold: a ridge-penalised logistic
    regression on the features' levels, fitted on four fifths of the questions and applied to the others. Two
    completions of one question are never on both sides.

    Source: Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", Journal of
    Artificial Intelligence Research 70, 2021.

    Args:
        features: What the label may follow from; one level an item.
        gold: 1 correct, 0 incorrect for each item.
        question: Each item's question.
    """
    if not len(gold):
        return np.zeros(0)
    known = patterns(features)
    fold, count = folds(question), len(known.level)
    cell = (fold * count + known.of) * 2 + gold
    counts = np.bincount(cell, minlength=FOLDS * count * 2).reshape(FOLDS, count, 2).astype(float)
    indicators, everything = known.indicators(), counts.sum(axis=0)
    correct = np.empty((FOLDS, count))
    for held in np.unique(fold).tolist():
        correct[held] = expit(indicators @ _fitted(indicators, everything - counts[held]))
    probability = correct[fold, known.of]
    wrong: FloatArray = np.where(gold == 1, 1 - probability, probability)
    return wrong


def folds(question: IntArray) -> IntArray:
    """Each item's fold, from 0 to ``FOLDS - 1``, by a hash of its question: other items change nothing."""
    mixed = question.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found: IntArray = ((mixed >> np.uint64(32)) % np.uint64(FOLDS)).astype(np.int64)
    return found


def _fitted(indicators: sparse.csr_array, counts: FloatArray) -> FloatArray:
    """Coefficients of P(correct) by penalised maximum likelihood (Newton's method, with steps halved where too long).

    Args:
        indicators: Patterns x coefficients; the last is the intercept, which is hardly penalised.
        counts: Incorrect and correct items of each pattern, patterns x 2.
    """
    ridge = np.full(indicators.shape[1], _RIDGE)
    ridge[-1] = _HARDLY
    correct, total = counts[:, 1], counts.sum(axis=1)

    def loss(coefficients: FloatArray) -> float:
        margin = indicators @ coefficients
        return float(ridge @ coefficients**2 / 2 - correct @ margin - total @ log_expit(-margin))

    found: FloatArray = np.zeros(len(ridge))
    for _ in range(_ROUNDS):
        chance = expit(indicators @ found)
        gradient = indicators.T @ (total * chance - correct) + ridge * found
        weighted = indicators * (total * chance * (1 - chance))[:, None]
        step = np.linalg.solve((indicators.T @ weighted).toarray() + np.diag(ridge), gradient)
        while loss(found - step) > loss(found) and np.abs(step).max() > _CLOSE:
            step /= 2
        found = found - step
        if np.abs(step).max() < _CLOSE:
            break
    return found


def outvoted(votes: Sequence[IntArray], gold: IntArray) -> FloatArray:
    """How probably each label is wrong where gold is one annotator more, and no one is right by definition.

    The consensus of `workbench.statistics.agreement.dawid_skene`. It takes annotators for independent given the truth:
    several verifiers with one and the same weakness outvote everybody. Use it beside `improbable`, not for it.

    Args:
        votes: For each verifier each item's outcome, -1 for none; undecided ones are left out.
        gold: 1 correct, 0 incorrect for each item.
    """
    features = [Feature(np.where(_decided(vote), vote, 2), 3) for vote in votes]
    known = patterns([*features, Feature(gold, 2)])
    rater, pattern = np.nonzero(known.level.T < 2)
    said = Ratings(
        item=pattern,
        annotator=rater,
        value=known.level[pattern, rater],
        items=len(known.level),
        annotators=len(features) + 1,
        categories=2,
    )
    truth = consensus(said, np.bincount(known.of, minlength=len(known.level))).probability
    wrong: FloatArray = truth[known.of, 1 - gold]
    return wrong


def _decided(vote: IntArray) -> BoolArray:
    found: BoolArray = (vote == Outcome.CORRECT) | (vote == Outcome.INCORRECT)
    return found
