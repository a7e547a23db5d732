"""Finds labels that are probably wrong, from verifiers' verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit

from workbench.core.verdict import OutcomeCode
from workbench.statistics.agreement.figures import consensus
from workbench.statistics.agreement.ratings import Ratings
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, tally

# -- Items with equal features, grouped: a million items have only a few thousand patterns.


_MAX_PATTERN = 2**62


class Feature(NamedTuple):
    """A property of items: each item's level, from 0 to ``levels - 1``."""

    level: IntArray
    levels: int


class Patterns(NamedTuple):
    """The distinct combinations of the features' levels.

    Attributes:
        of: Each item's pattern.
        level: The levels of each pattern, patterns x features.
        levels: Number of levels of each feature.
    """

    of: IntArray
    level: IntArray
    levels: tuple[int, ...]

    def indicators(self) -> sparse.csr_array:
        """Return patterns x levels of all features: 1 where a pattern has the level, and a last column of ones."""
        count, features = self.level.shape
        starts = np.cumsum((0, *self.levels))
        columns = np.column_stack([self.level + starts[:-1], np.full(count, starts[-1])])
        shape = (count, int(starts[-1]) + 1)
        pointers = np.arange(count + 1) * (features + 1)
        return sparse.csr_array((np.ones(columns.size), columns.ravel(), pointers), shape=shape)


def patterns(features: Sequence[Feature]) -> Patterns:
    """Group items with equal levels; the numbering depends on the levels, not on the order of items."""
    code, size = np.zeros(len(features[0].level), dtype=np.int64), 1
    for feature in features:
        if size > _MAX_PATTERN // feature.levels:
            known, code = np.unique(code, return_inverse=True)
            size = len(known)
        code = code * feature.levels + feature.level
        size *= feature.levels
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    level = np.column_stack([feature.level[first] for feature in features]).astype(np.int64)
    return Patterns(of, level, tuple(feature.levels for feature in features))


def quantiles(values: FloatArray, parts: int) -> Feature:
    known = ~np.isnan(values)
    level = np.full(len(values), parts, dtype=np.int64)
    if known.any():
        cuts = np.unique(np.quantile(values[known], np.arange(1, parts) / parts))
        level[known] = np.searchsorted(cuts, values[known], side="right")
    return Feature(level, parts + 1)


FOLDS = 5
_MODEL_WEIGHT = 10.0
"""Weight of the model, in items, relative to the items with exactly the same levels."""
_RIDGE, _HARDLY = 1.0, 1e-6
_MAX_ROUNDS = 100
_CLOSE = 1e-6


def label_surprise(features: Sequence[Feature], gold: IntArray, question: IntArray) -> FloatArray:
    """Return, for each item, the probability of the label opposite to its gold, by a model fitted on other questions'
    labels.

    It measures how surprising a label is, not the probability that it is wrong: where verifiers err jointly, correct
    labels are as surprising as wrong ones.

    Confident learning's self-confidence, 1 - P(label | features), where P is out of fold: a ridge-penalised logistic
    regression on the features' levels, fitted on four fifths of the questions and applied to the others. Items with
    exactly the same levels in those four fifths are averaged in, so that the result remains valid for verifiers with
    dependent errors, which a linear model does not capture. All completions of a question are in the same fold.

    Source: Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset labels", Journal of
    Artificial Intelligence Research 70, 2021.

    Args:
        features: Features that may predict the label; one level for each item.
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
        others = everything - counts[held]
        expected = expit(indicators @ _fit_logistic(indicators, others))
        correct[held] = (others[:, 1] + _MODEL_WEIGHT * expected) / (others.sum(axis=1) + _MODEL_WEIGHT)
    probability = correct[fold, known.of]
    return np.where(gold == 1, 1 - probability, probability)


def folds(question: IntArray) -> IntArray:
    """Return each item's fold, from 0 to ``FOLDS - 1``, by a hash of its question, independent of other items."""
    mixed = question.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(32)) % np.uint64(FOLDS)).astype(np.int64)


def _fit_logistic(indicators: sparse.csr_array, counts: FloatArray) -> FloatArray:
    """Fit P(correct) by penalized maximum likelihood (Newton's method, with steps halved where too long).

    Args:
        indicators: Patterns x coefficients; the last coefficient is the intercept, which is hardly penalised.
        counts: Incorrect and correct items of each pattern, patterns x 2.
    """
    ridge = np.full(indicators.shape[1], _RIDGE)
    ridge[-1] = _HARDLY
    correct, total = counts[:, 1], counts.sum(axis=1)

    def loss(coefficients: FloatArray) -> float:
        margin = indicators @ coefficients
        return float(ridge @ coefficients**2 / 2 - correct @ margin - total @ log_expit(-margin))

    found: FloatArray = np.zeros(len(ridge))
    for _ in range(_MAX_ROUNDS):
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


def label_error_probability(votes: Sequence[IntArray], gold: IntArray) -> FloatArray:
    """Return the probability that each label is wrong, treating gold as one more annotator that may err like the
    verifiers.

    It uses the consensus of `workbench.statistics.agreement.figures`, which assumes that annotators are independent
    given the truth: several verifiers with the same weakness outvote all others. Use it in addition to
    `label_surprise`, not instead of it.

    Args:
        votes: For each verifier, the outcome of each item, -1 for none; undecided outcomes are left out.
        gold: 1 correct, 0 incorrect for each item.
    """
    decided = OutcomeCode.CORRECT, OutcomeCode.INCORRECT
    features = [Feature(np.where(np.isin(vote, decided), vote, 2), 3) for vote in votes]
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
    return np.asarray(truth[known.of, 1 - gold])


# -- Vote counts of several verifiers on the same items; abstentions and errors are not votes.


class VoteCounts(NamedTuple):
    yes: IntArray
    no: IntArray


class Ranking(NamedTuple):
    """The items of a queue, the most urgent first.

    Attributes:
        place: The items' positions in the columns.
        score: The ranking score, descending.
    """

    place: IntArray
    score: FloatArray


def counted(votes: Sequence[IntArray], items: int) -> VoteCounts:
    """Count the decided verdicts of each item.

    Args:
        votes: For each verifier, the outcome of each item, -1 for none.
        items: Number of items.
    """
    yes, no = np.zeros(items, dtype=np.int16), np.zeros(items, dtype=np.int16)
    for vote in votes:
        yes += vote == OutcomeCode.CORRECT
        no += vote == OutcomeCode.INCORRECT
    return VoteCounts(yes, no)


def rank_by_score(place: IntArray, score: FloatArray) -> Ranking:
    """Sort items by score, highest first; items with equal scores stay in the order of import."""
    order = np.argsort(-score, kind="stable")
    return Ranking(place[order], score[order])


def of(chosen: BoolArray, kept: BoolArray | None) -> IntArray:
    """Return positions of the chosen items among the kept ones; None keeps all."""
    return np.flatnonzero(chosen if kept is None else chosen & kept)


# -- Verdicts against gold: the weight of evidence, by each verifier's error rates on such items.


_GOLDS, _OUTCOMES = 2, len(OutcomeCode) + 1
_PRIOR_WEIGHT = 10.0
"""Weight, in items, of a verifier's rates over all types in its rates on one type."""


def against_gold(
    votes: Sequence[IntArray], gold: IntArray, group: IntArray, groups: int, kept: BoolArray | None = None
) -> Ranking:
    """Rank the items on which some decided verdict contradicts gold, by the weight of evidence against gold.

    Args:
        votes: For each verifier, the outcome of each item, -1 for none.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Each item's type.
        groups: Number of types.
        kept: Whether to rank each item; None ranks all. Error rates are estimated from all items.

    Returns:
        The score of an item is the sum over its decided verdicts of log(P(verdict | gold is wrong) / P(verdict | gold
        is right)), in nats; each term is given by `evidence`.
    """
    place = of(is_contradicted(votes, gold), kept)
    cell = group[place].astype(np.int32) * _GOLDS + gold[place]
    score = np.zeros(len(place))
    for vote in votes:
        score += evidence(vote, gold, group, groups).ravel()[cell * _OUTCOMES + (vote[place] + 1)]
    return rank_by_score(place, score)


def is_contradicted(votes: Sequence[IntArray], gold: IntArray) -> BoolArray:
    """Return, for each item, whether some decided verdict differs from gold; for the arguments see `against_gold`."""
    said = counted(votes, len(gold))
    return np.asarray(((gold == 1) & (said.no > 0)) | ((gold == 0) & (said.yes > 0)))


def evidence(vote: IntArray, gold: IntArray, group: IntArray, groups: int) -> FloatArray:
    """Return the evidence of each verdict of one verifier against gold, as a log-likelihood ratio.

    The verifier's error rates are those on the item's type, shrunk towards those over all types, without the item
    itself. A verdict that contradicts gold never counts as evidence for gold, and one that agrees never as evidence
    against it: the verdicts of a verifier that is mostly wrong are no evidence.

    Returns:
        The evidence by type, gold and outcome + 1 (so 0 is a missing verdict), in nats; 0 without a decided verdict.
    """
    counts = tally(vote, gold, group, groups)[:, :, : OutcomeCode.ABSTAIN].astype(float)
    overall = counts.sum(axis=0) + 1.0
    prior = _PRIOR_WEIGHT * overall / overall.sum(axis=1, keepdims=True)
    total = counts.sum(axis=2, keepdims=True)
    if_right = (np.maximum(counts - 1, 0) + prior) / (np.maximum(total - 1, 0) + _PRIOR_WEIGHT)
    if_wrong = ((counts + prior) / (total + _PRIOR_WEIGHT))[:, ::-1]
    ratio = np.log(if_wrong / if_right)
    found: FloatArray = np.zeros((groups, _GOLDS, _OUTCOMES))
    for true in range(_GOLDS):
        found[:, true, true + 1] = np.minimum(ratio[:, true, true], 0.0)
        found[:, true, 2 - true] = np.maximum(ratio[:, true, 1 - true], 0.0)
    return found


# -- Verifiers against each other: the split of votes, and the weight of verifiers.


class Splits(NamedTuple):
    """The number of items by the size of the minority of verifiers, and the items of the requested split.

    Attributes:
        ranking: Items split k against n - k, ranked by the weight of the weaker side relative to the stronger.
        sizes: Number of items on which 0, 1, 2 … verifiers are in the minority.
        unvoted: Number of items on which not every verifier has a decided verdict.
    """

    ranking: Ranking
    sizes: tuple[int, ...]
    unvoted: int


def rank_by_split(votes: Sequence[IntArray], items: int, kept: BoolArray | None = None) -> Ranking:
    """Rank the items on which decided verdicts disagree, the most evenly split first; equally split items are ranked
    by their number of verdicts.

    Returns:
        The score is twice the minority's share of the decided verdicts: 1 for an even split.
    """
    said = counted(votes, items)
    place = of((said.yes > 0) & (said.no > 0), kept)
    minority, total = np.minimum(said.yes, said.no)[place].astype(float), (said.yes + said.no)[place].astype(float)
    score = 2 * minority / total
    order = np.lexsort((-total, -score))
    return Ranking(place[order], score[order])


def splits(votes: Sequence[IntArray], items: int, k: int, kept: BoolArray | None = None) -> Splits:
    """Find items on which exactly ``k`` verifiers disagree with all the others.

    Every verifier must have decided: an abstention or an error is not a vote, as in VerifyBench-Hard.

    Args:
        votes: For each verifier, the outcome of each item, -1 for none.
        items: Number of items.
        k: Number of verifiers in the minority, 1 to n // 2 for n verifiers.
        kept: Items to include; None for all.

    Returns:
        The score is the weight of the weaker side of the vote divided by that of the stronger; see `weights`.
    """
    said, every = counted(votes, items), len(votes)
    full = said.yes + said.no == every
    minority = np.minimum(said.yes, said.no)
    meant = full if kept is None else full & kept
    sizes = np.bincount(minority[meant], minlength=every // 2 + 1)
    place = np.flatnonzero(meant & (minority == k))
    yes = np.zeros(len(place))
    weight = weights(votes, said, full)
    for vote, share in zip(votes, weight, strict=True):
        yes += share * (vote[place] == OutcomeCode.CORRECT)
    no = weight.sum() - yes
    unvoted = int(items if kept is None else np.count_nonzero(kept)) - int(np.count_nonzero(meant))
    score = np.minimum(yes, no) / np.maximum(yes, no)
    return Splits(rank_by_score(place, score), tuple(sizes.tolist()), unvoted)


def weights(votes: Sequence[IntArray], said: VoteCounts, full: BoolArray) -> FloatArray:
    """Return the weight of each verifier's vote: the log-odds that it agrees with the majority of the others, at least
    .01.

    No gold is needed. An item counts if every verifier has voted on it and the others have a majority. One agreement
    and one disagreement are added, so that the weight is finite for a verifier that always agrees.
    """
    found = np.empty(len(votes))
    for number, vote in enumerate(votes):
        own = vote == OutcomeCode.CORRECT
        lead = (said.yes - own) * 2 - (len(votes) - 1)
        led = full & (lead != 0)
        agree = np.count_nonzero(led & ((lead > 0) == own)) + 1
        found[number] = np.log(agree / (np.count_nonzero(led) + 2 - agree))
    return np.maximum(found, 0.01)
