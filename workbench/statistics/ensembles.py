"""Verifiers that vote: k of n acceptances, or votes weighted by what they have been worth.

Abstaining and failing are no votes. Everything is worked out on the patterns of votes that occur, of which there are
few, and then looked up for each item.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from msgspec import Struct, structs

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray, grade
from workbench.statistics.intervals import FEWEST, Ends, alone, compact, intervals
from workbench.statistics.records.comparison import PairedFigures

# -- Choices made on some questions and judged on the others, so that no figure flatters the choice behind it.


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


def chosen_apart(figures: PairedFigures, folds: int) -> PairedFigures:
    """A difference of what luck may have chosen or fitted outside each fold, as unsure as such a difference is.

    Each fold's choice rests on the other folds' items, so that folds are right or wrong together. The variance of a
    mean of J folds counts as 1/J + 1/(J - 1) times that of a fold in place of 1/J: the ends of the interval stand as
    much further off, p is that of a normal deviate as much smaller, and what would be found has to be as much larger.
    McNemar's test does not know of the choice: None. Of verifiers that guess, or are equally good, 95 % intervals that
    take choices as given hold the true difference in .76 to .92.
    Source: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003, section 3.

    Args:
        figures: As if what was chosen had been given.
        folds: J, at least 2.
    """
    from scipy.special import ndtr, ndtri

    wider = sqrt(1 + folds / (folds - 1))
    at, (low, high) = figures.difference, figures.ci
    return structs.replace(
        figures,
        ci=(max(-1.0, at - wider * (at - low)), min(1.0, at + wider * (high - at))),
        permutation_p=float(2 * ndtr(ndtri(figures.permutation_p / 2) / wider)),
        mcnemar_p=None,
        detectable=None if figures.detectable is None else min(1.0, wider * figures.detectable),
    )


MOST_MEMBERS = 39
"""So many votes, each one of three, fit into one number."""
_STRENGTH = 1.0
"""Of the penalty on weights: as if each had a normal prior of variance 1."""


class Ballots(Struct, frozen=True, kw_only=True, eq=False):
    """The votes of all members on all items.

    Attributes:
        votes: One row a pattern, one column a member: 1 accepts, -1 refuses, 0 does not vote (int8).
        pattern: Each item's row in ``votes``.
        fold: Each item's fold.
        counts: Items by fold, gold and pattern.
    """

    votes: IntArray
    pattern: IntArray
    fold: IntArray
    counts: IntArray

    def outcome(self, table: IntArray) -> IntArray:
        """Each item's outcome (int8) from those of the patterns, or by fold and pattern."""
        return table[self.pattern] if table.ndim == 1 else table[self.fold, self.pattern]

    def without(self, member: int) -> Ballots:
        """The same items without one member's votes."""
        return structs.replace(self, votes=np.delete(self.votes, member, axis=1))


def ballots(outcomes: Sequence[IntArray], gold: IntArray, fold: IntArray) -> Ballots:
    """Gather the votes.

    Args:
        outcomes: Each member's `OutcomeCode` of each item; -1 and what is undecided are no vote.
        gold: 1 correct, 0 incorrect.
        fold: Each item's fold, from 0.

    Raises:
        ValueError: There are no members, or more than `MOST_MEMBERS`.
    """
    if not 1 <= len(outcomes) <= MOST_MEMBERS:
        raise ValueError(f"an ensemble of {len(outcomes)} members")
    code = np.zeros(len(gold), dtype=np.int64)
    for outcome in reversed(outcomes):
        code = code * 3 + np.select([outcome == OutcomeCode.CORRECT, outcome == OutcomeCode.INCORRECT], [2, 0], 1)
    pattern, codes = compact(code)
    votes = codes[:, None] // 3 ** np.arange(len(outcomes)) % 3 - 1
    folds = int(fold.max(initial=0)) + 1
    cell = (fold * 2 + gold) * len(codes) + pattern
    counts = np.bincount(cell, minlength=folds * 2 * len(codes)).reshape(folds, 2, len(codes))
    return Ballots(votes=votes.astype(np.int8), pattern=pattern, fold=fold, counts=counts)


def singles(votes: IntArray) -> IntArray:
    """What each member says of each pattern: an `OutcomeCode` by member and pattern; no vote is "abstain"."""
    return np.array([OutcomeCode.INCORRECT, OutcomeCode.ABSTAIN, OutcomeCode.CORRECT], dtype=np.int8)[votes.T + 1]


def at_least(votes: IntArray, k: int) -> IntArray:
    """Correct where at least ``k`` members accept: the `OutcomeCode` of each pattern.

    Incorrect only where it could no longer be k, however the members without a vote voted; else it abstains.
    So 1 of 1 is the member itself. With an even number of members k = n/2 accepts on a tie, and k = n/2 + 1 refuses.
    Source of the three values: Kleene, "Introduction to Metamathematics", 1952, section 64.
    """
    accepts, refuses = (votes == 1).sum(axis=1), (votes == -1).sum(axis=1)
    decided = [accepts >= k, refuses > votes.shape[1] - k]
    return np.select(decided, [OutcomeCode.CORRECT, OutcomeCode.INCORRECT], OutcomeCode.ABSTAIN).astype(np.int8)


def every_k(votes: IntArray) -> IntArray:
    """`at_least` for k = n, n - 1, ..., 1: outcomes by rule and pattern, the strictest rule first."""
    return np.stack([at_least(votes, k) for k in range(votes.shape[1], 0, -1)])


def chosen(ballots: Ballots, candidates: IntArray, protocol: Protocol3) -> IntArray:
    """For each fold the place of the candidate that is right most often on the other folds; of equals the first.

    Args:
        candidates: Outcomes by candidate and pattern.
        protocol: How undecided rows count.
    """
    folds, _, patterns = ballots.counts.shape
    gold = np.repeat(np.array([0, 1], dtype=np.int8), patterns)
    graded = [grade(np.tile(outcome, 2), gold, protocol) for outcome in candidates]
    items = ballots.counts.reshape(folds, -1).T
    counted, right = (np.array([part.astype(float) @ items for part in parts]) for parts in zip(*graded, strict=True))
    return best_outside(right, counted)


def fit_weights(votes: IntArray, counts: IntArray) -> FloatArray:
    """Log-odds that votes add up to: a constant, then each member's for accepting, then each one's for refusing.

    Logistic regression of gold on the indicators of the votes: it minimises -log likelihood + |weights|² / 2, the
    constant included, so that it has a minimum whatever the votes. Members that vote alike share their weight, where
    weights from each member's own rates (Nitzan and Paroush, "Optimal decision rules in uncertain dichotomous choice
    situations", International Economic Review 23, 1982) would count them twice.
    Source: le Cessie and van Houwelingen, "Ridge estimators in logistic regression", Applied Statistics 41, 1992.

    Args:
        counts: Items by gold and pattern.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    x = _indicators(votes)
    correct, total = counts[1], counts.sum(axis=0)

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        odds = x @ weights
        value = float(total @ np.logaddexp(0, odds) - correct @ odds) + _STRENGTH / 2 * float(weights @ weights)
        return value, x.T @ (total * expit(odds) - correct) + _STRENGTH * weights

    def curvature(weights: FloatArray) -> FloatArray:
        share = expit(x @ weights)
        found: FloatArray = (x.T * (total * share * (1 - share))) @ x + _STRENGTH * np.eye(x.shape[1])
        return found

    found: FloatArray = minimize(loss, np.zeros(x.shape[1]), jac=True, hess=curvature, method="trust-exact").x
    return found


def weighted(votes: IntArray, weights: FloatArray) -> IntArray:
    """Correct where the weights make that likelier than not: the `OutcomeCode` of each pattern.

    Even odds are incorrect; where nobody votes it abstains.
    """
    odds = _indicators(votes) @ weights
    decided = np.where(odds > 0, OutcomeCode.CORRECT, OutcomeCode.INCORRECT)
    return np.where((votes != 0).any(axis=1), decided, OutcomeCode.ABSTAIN).astype(np.int8)


def weighted_outside(ballots: Ballots) -> IntArray:
    """`weighted` for each fold and pattern, with weights fitted on the other folds."""
    total = ballots.counts.sum(axis=0)
    return np.stack([weighted(ballots.votes, fit_weights(ballots.votes, total - inside)) for inside in ballots.counts])


def _indicators(votes: IntArray) -> FloatArray:
    return np.column_stack([np.ones(len(votes)), votes == 1, votes == -1]).astype(np.float64)


# -- A verifier as a selector: how often the completion it picks of n is correct, over all sets of n there are.


class RankedLevels(Struct, frozen=True, kw_only=True, eq=False):
    """Completions in levels: those of a question that a selector can't tell apart.

    Attributes:
        question: Each level's question, as a place in ``size``.
        below: Completions of the question on lower levels.
        level: Completions on the level.
        correct: Those of them that are correct.
        size: Completions of each question.
        right: Correct completions of each question.
    """

    question: IntArray
    below: IntArray
    level: IntArray
    correct: IntArray
    size: IntArray
    right: IntArray


class Picks(Struct, frozen=True, kw_only=True, eq=False):
    """Chances that a completion is correct, one value a question with at least n completions.

    Attributes:
        size: Completions of the question.
        mixed: Whether some are correct and some are not.
        picked: The one the selector picks of n.
        random: Any one.
        oracle: At least one of n.
    """

    size: IntArray
    mixed: BoolArray
    picked: FloatArray
    random: FloatArray
    oracle: FloatArray


def keys_of(
    outcome: IntArray, score: FloatArray | None, gold: IntArray, protocol: Protocol3
) -> tuple[BoolArray, FloatArray]:
    """Which completions can be picked, and what a selector ranks them by, higher being better.

    The score where there are scores; else 1 for "correct" and 0 for "incorrect". What has neither ranks last under
    ``forced`` (as "incorrect" does), against its gold under ``strict``, and can't be picked under ``decided``.

    Args:
        outcome: One outcome a row, -1 for none: such rows can't be picked.
        score: One score a row, NaN for none; None for a verifier without scores.
        gold: 1 correct, 0 incorrect, -1 none: such rows can't be picked either.
    """
    if score is None:
        key, undecided = (outcome == OutcomeCode.CORRECT).astype(np.float64), outcome >= OutcomeCode.ABSTAIN
        worst, best = 0.0, 1.0
    else:
        key, undecided, worst, best = score, np.isnan(score), -np.inf, np.inf
    usable = (gold >= 0) & (outcome >= 0)
    if protocol == "decided":
        return usable & ~undecided, key
    against = best if protocol == "strict" else worst
    return usable, np.where(undecided, np.where(gold == 1, worst, against), key)


def ranked(key: FloatArray, gold: IntArray, question: IntArray) -> RankedLevels:
    """Put each question's completions into levels.

    Args:
        key: What they are ranked by, higher being better; no NaN.
        gold: 1 correct, 0 incorrect.
        question: Each completion's question.
    """
    order = np.lexsort((key, question))
    key, question, correct = key[order], question[order], (gold[order] == 1).astype(np.int64)
    new_question = np.ones(len(key), dtype=bool)
    new_question[1:] = np.diff(question) != 0
    begins = new_question.copy()
    begins[1:] |= key[1:] != key[:-1]
    first, start = np.flatnonzero(new_question), np.flatnonzero(begins)
    place = np.cumsum(new_question)[start] - 1
    return RankedLevels(
        question=place,
        below=start - first[place],
        level=np.diff(start, append=len(key)),
        correct=np.add.reduceat(correct, start) if len(start) else start,
        size=np.diff(first, append=len(key)),
        right=np.add.reduceat(correct, first) if len(first) else first,
    )


def best_of(levels: RankedLevels, n: int) -> Picks:
    """What becomes of n completions drawn without replacement, as an expectation over all sets of n.

    A set's best completion is on a level with b completions below it and t on it with chance
    (C(b + t, n) - C(b, n)) / C(M, n), M being all of them; it is then any of the t, each as likely as the others, so
    that ties need no rule.
    """
    enough = levels.size >= n
    size = levels.size[levels.question]
    chance = _none_outside(levels.below + levels.level, size, n) - _none_outside(levels.below, size, n)
    picked = np.bincount(levels.question, weights=chance * levels.correct / levels.level, minlength=len(levels.size))
    size, right = levels.size[enough], levels.right[enough]
    return Picks(
        size=size,
        mixed=(right > 0) & (right < size),
        picked=np.clip(picked[enough], 0, 1),
        random=right / size,
        oracle=pass_at(n, size, right),
    )


def pass_at(n: int, size: IntArray, right: IntArray) -> FloatArray:
    """The chance that at least one of n drawn without replacement is correct: 1 - C(M - c, n) / C(M, n).

    That is the unbiased pass@n of Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374,
    section 2.1, as a product of n fractions, so that nothing overflows.

    Args:
        size: M, all there are of each question, at least n.
        right: c, the correct ones of them.
    """
    return 1 - _none_outside(size - right, size, n)


def _none_outside(inside: IntArray, size: IntArray, n: int) -> FloatArray:
    """C(inside, n) / C(size, n): the chance that all n are among some; 0 where they are too few."""
    chance = np.ones(len(inside))
    for drawn in range(n):
        chance *= np.maximum(inside - drawn, 0) / np.maximum(size - drawn, 1)
    return chance


def mean_interval(share: FloatArray, completions: int) -> Ends | None:
    """A 95 % interval for the mean of one share a question, that of `share_ends` for items that would vary as much.

    With mean p and standard error s / sqrt(G) over G questions that is p (1 - p) G / s² items, but never more than
    there are completions; G where p is 0 or 1. Where few questions are wrong, or right, those many count as one trial
    each: five questions, all right, are [.478, 1]. Fewer than two questions can't say: None.
    """
    questions = len(share)
    if questions < FEWEST:
        return None
    p = float(share.mean())
    items = float(questions)
    if 0 < p < 1:
        variance = float(share.var(ddof=1)) / questions
        items = min(completions, p * (1 - p) / variance) if variance else float(completions)
    return intervals(np.array([p * items]), np.array([items]), alone(questions))[0]
