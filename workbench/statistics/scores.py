"""Scores against gold: ranking quality, the best threshold, and pairs."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import count_interval
from workbench.statistics.records.probe import Method, PairRow, Unpaired


def at_threshold(outcome: IntArray, score: FloatArray, threshold: float) -> IntArray:
    return np.where(np.isnan(score), outcome, score >= threshold).astype(np.int8)


# -- The threshold on a score that best separates correct from incorrect completions.


def fit_threshold(score: FloatArray, correct: BoolArray, method: Method) -> float:
    """Fit the threshold t of the rule "correct iff score ≥ t" on these rows.

    It is one of the scores, or the next number above all of them (nothing is accepted). Of equally good thresholds it
    is the highest, since a false acceptance costs more than a false rejection. ``accuracy`` maximises (TP + TN) / n,
    ``youden`` maximises J = TPR - FPR. Source of J: Youden, "Index for rating diagnostic tests", Cancer 3, 1950.

    Args:
        score: Finite scores, one for each row.
        correct: Whether the completion is correct.

    Raises:
        ValueError: A class is missing, or the arrays differ in length.
    """
    if len(score) != len(correct):
        raise ValueError("score and correct differ in length")
    positives = int(correct.sum())
    negatives = len(correct) - positives
    if not positives or not negatives:
        raise ValueError("a threshold needs correct and incorrect completions")
    order = np.argsort(-score, kind="stable")
    score, correct = score[order], correct[order]
    last_of_ties = np.flatnonzero(np.append(np.diff(score) != 0, True))
    thresholds = np.append(np.nextafter(score[0], np.inf), score[last_of_ties])
    # Cumulative accepted counts as integers, so that equal values stay equal.
    tp = np.append(0, np.cumsum(correct)[last_of_ties])
    fp = np.append(0, np.cumsum(~correct)[last_of_ties])
    value = tp - fp if method == "accuracy" else tp * negatives - fp * positives
    return float(thresholds[np.argmax(value)])


# -- Pairwise accuracy: the share of questions whose correct completion scores above the incorrect one.


class Pairs(Struct, frozen=True, kw_only=True, eq=False):
    """Questions with exactly one correct and one incorrect completion, both with a score.

    Attributes:
        row: The row of each pair's correct completion.
        correct: The score of each pair's correct completion.
        incorrect: The score of each pair's incorrect completion.
        unpaired: Numbers of questions without a pair, by reason.
    """

    row: IntArray
    correct: FloatArray
    incorrect: FloatArray
    unpaired: Unpaired


def pair_up(score: FloatArray, gold: IntArray, question: IntArray) -> Pairs:
    """Find the pairs.

    Args:
        score: One score for each row, NaN for none.
        gold: 1 correct, 0 incorrect, -1 none; rows without gold are ignored.
        question: Each row's question.
    """
    rows = np.flatnonzero(gold >= 0)
    names, place = np.unique(question[rows], return_inverse=True)
    is_correct = gold[rows] == 1
    counts = [np.bincount(place[chosen], minlength=len(names)) for chosen in (is_correct, ~is_correct)]
    single = (counts[0] == 1) & (counts[1] == 1)
    one_class = (counts[0] == 0) | (counts[1] == 0)
    at = np.zeros((2, len(names)), dtype=np.int64)
    at[0, place[is_correct]], at[1, place[~is_correct]] = rows[is_correct], rows[~is_correct]
    at = at[:, single]
    scored = ~np.isnan(score[at]).any(axis=0)
    at = at[:, scored]
    return Pairs(
        row=at[0],
        correct=score[at[0]],
        incorrect=score[at[1]],
        unpaired=Unpaired(
            one_class=int(one_class.sum()), several=int((~single & ~one_class).sum()), unscored=int((~scored).sum())
        ),
    )


def pair_row(group: str | None, pairs: Pairs) -> PairRow:
    """Return the share of pairs whose correct completion scores higher; a tie is wrong.

    Acc = 1/|D| · Σ 1[R(q, r_w) > R(q, r_l)] (VerifyBench, arXiv 2505.15801, eq. 2). Each question has one pair, so
    pairs are independent and the interval is that of `count_interval`.
    """
    n = len(pairs.row)
    right = int((pairs.correct > pairs.incorrect).sum())
    return PairRow(
        group=group,
        n=n,
        right=right,
        ties=int((pairs.correct == pairs.incorrect).sum()),
        accuracy=right / n if n else None,
        ci=count_interval(right, n),
    )


def pairwise_within(score: FloatArray, gold: IntArray, question: IntArray) -> tuple[float | None, int]:
    """Return the mean share of pairs in which a correct completion scores above an incorrect one of its question; a
    tie is wrong.

    The share is computed within each question that has correct and incorrect completions, and averaged over these
    questions with equal weight. If each question has one correct and one incorrect completion, it equals the share of
    `pair_row`.

    Returns:
        The mean, None without such questions; and their number.
    """
    rank = np.unique(score, return_inverse=True)[1]
    names, place = np.unique(question, return_inverse=True)
    key = place * (len(score) + 1) + rank
    is_correct = gold == 1
    below = np.sort(key[~is_correct])
    # Incorrect completions of the same question with a lower score.
    own, start = place[is_correct], np.searchsorted(below, place[is_correct] * (len(score) + 1))
    won = np.bincount(own, weights=np.searchsorted(below, key[is_correct]) - start, minlength=len(names))
    couples = np.bincount(own, minlength=len(names)) * np.bincount(place[~is_correct], minlength=len(names))
    both = couples > 0
    return (float((won[both] / couples[both]).mean()) if both.any() else None), int(both.sum())
