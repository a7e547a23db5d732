"""A verifier as a selector: the probability that the completion it picks from n is correct, over all sets of n
completions of a question."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import FEWEST, Ends, alone, intervals


class RankedLevels(Struct, frozen=True, kw_only=True, eq=False):
    """Completions by level: completions of a question that a selector can't distinguish are on one level.

    Attributes:
        question: Each level's question, as a position in ``size``.
        below: Number of completions of the question on lower levels.
        level: Number of completions on the level.
        correct: Number of correct completions on the level.
        size: Number of completions of each question.
        right: Number of correct completions of each question.
    """

    question: IntArray
    below: IntArray
    level: IntArray
    correct: IntArray
    size: IntArray
    right: IntArray


class Picks(Struct, frozen=True, kw_only=True, eq=False):
    """The results of picking one of n completions: arrays with one value for each question with at least n completions.

    Attributes:
        size: Number of completions of the question.
        mixed: Whether some of them are correct and some are not.
        picked: Probability that the completion picked by the selector is correct.
        random: Probability that a random completion is correct.
        oracle: Probability that at least one of n is correct.
    """

    size: IntArray
    mixed: BoolArray
    picked: FloatArray
    random: FloatArray
    oracle: FloatArray


def keys_of(
    outcome: IntArray, score: FloatArray | None, gold: IntArray, protocol: Protocol3
) -> tuple[BoolArray, FloatArray]:
    """Return which completions can be picked, and the key that a selector ranks them by, higher being better.

    The key is the score if there are scores; else 1 for "correct" and 0 for "incorrect". Completions without a score
    or a decided verdict rank last under ``forced`` (like "incorrect"), contrary to their gold under ``strict``, and
    can't be picked under ``decided``.

    Args:
        outcome: One outcome for each row; a row with -1 (no verdict) can't be picked.
        score: One score for each row, NaN for none; None for a verifier without scores.
        gold: 1 correct, 0 incorrect; a row with -1 (no gold) can't be picked.
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
    """Group each question's completions into levels.

    Args:
        key: The ranking key, higher being better; no NaN.
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
    """Return the expected result of picking among n completions drawn without replacement, over all sets of n.

    For a question with M completions, take a level with t completions and b completions below it: the best completion
    of a set is on that level with probability (C(b + t, n) - C(b, n)) / C(M, n). It is then each of the t with equal
    probability, so ties need no rule.
    """
    enough = levels.size >= n
    size = levels.size[levels.question]
    chance = _all_inside_probability(levels.below + levels.level, size, n) - _all_inside_probability(
        levels.below, size, n
    )
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
    """Return the probability that at least one of n completions drawn without replacement is correct: 1 - C(M - c, n)
    / C(M, n).

    That is the unbiased pass@n of Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374,
    section 2.1, as a product of n fractions, so that nothing overflows.

    Args:
        size: M, the number of completions of each question, at least n.
        right: c, the number of correct ones.
    """
    return 1 - _all_inside_probability(size - right, size, n)


def _all_inside_probability(inside: IntArray, size: IntArray, n: int) -> FloatArray:
    """Return C(inside, n) / C(size, n): the probability that all n completions drawn of ``size`` are among a subset of
    ``inside``; 0 if the subset is too small.
    """
    chance = np.ones(len(inside))
    for drawn in range(n):
        chance *= np.maximum(inside - drawn, 0) / np.maximum(size - drawn, 1)
    return chance


def mean_interval(share: FloatArray, completions: int) -> Ends | None:
    """Return a 95 % interval for the mean over questions of ``share``: that of `share_ends` for an equivalent number
    of items.

    With mean p and standard error s / sqrt(G) over G questions that is p (1 - p) G / s² items, but at most the number
    of completions; G if p is 0 or 1. If few questions are wrong, or few are right, each question counts as one trial:
    five questions,
    all right, give [.478, 1]. None with fewer than two questions.
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
