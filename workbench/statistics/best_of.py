"""A verifier as a selector: the share of correct picks among n completions, over all sets of n."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from workbench.core.verdict import OutcomeCode, Protocol3
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import FEWEST, Ends, alone, intervals


class RankedLevels(Struct, frozen=True, kw_only=True, eq=False):
    """Completions by level: those of a question that a selector can't distinguish share one.

    Attributes:
        question: Each level's question, as a position in ``size``.
        below: Completions of the question on lower levels.
        level: Completions on the level.
        correct: Correct completions on the level.
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
    """Probabilities that the picked completion is correct, one value for each question with at least n completions.

    Attributes:
        size: Completions of the question.
        mixed: Whether some are correct and some are not.
        picked: The completion that the selector picks from n.
        random: A random completion.
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
    """Return which completions can be picked, and the key that a selector ranks them by, higher being better.

    The key is the score if there are scores; else 1 for "correct" and 0 for "incorrect". Completions with neither rank
    last under ``forced`` (like "incorrect"), against their gold under ``strict``, and can't be picked under
    ``decided``.

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

    The best completion of a set is on a level with b completions below it and t on it with probability (C(b + t, n) -
    C(b, n)) / C(M, n), M being their total number; it is then each of the t with equal probability, so ties need no
    rule.
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
    """Return the probability that at least one of n drawn without replacement is correct: 1 - C(M - c, n) / C(M, n).

    That is the unbiased pass@n of Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374,
    section 2.1, as a product of n fractions, so that nothing overflows.

    Args:
        size: M, the number of completions of each question, at least n.
        right: c, the number of correct ones.
    """
    return 1 - _none_outside(size - right, size, n)


def _none_outside(inside: IntArray, size: IntArray, n: int) -> FloatArray:
    """Return C(inside, n) / C(size, n): the probability that all n drawn are in a subset; 0 if the subset is too
    small.
    """
    chance = np.ones(len(inside))
    for drawn in range(n):
        chance *= np.maximum(inside - drawn, 0) / np.maximum(size - drawn, 1)
    return chance


def mean_interval(share: FloatArray, completions: int) -> Ends | None:
    """Return a 95 % interval for the mean of one share for each question: that of `share_ends` for an equivalent number
    of items.

    With mean p and standard error s / sqrt(G) over G questions that is p (1 - p) G / s² items, but at most the number
    of completions; G if p is 0 or 1. If few questions are wrong, or right, each counts as one trial: five questions,
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
