"""The threshold on a score that separates correct from incorrect completions best."""

from __future__ import annotations

import numpy as np

from workbench.statistics.arrays import BoolArray, FloatArray
from workbench.statistics.records.reward import Method


def fit_threshold(score: FloatArray, correct: BoolArray, method: Method) -> float:
    """The threshold t of the rule "correct iff score ≥ t" that is best on these rows.

    It is one of the scores, or the next number above all of them (nothing is accepted). Of equally good ones it is the
    highest, since a wrong completion that is accepted costs more than a right one that is refused.
    ``accuracy`` maximises (TP + TN) / n, ``youden`` maximises J = TPR - FPR.
    Source of J: Youden, "Index for rating diagnostic tests", Cancer 3, 1950.

    Args:
        score: Finite scores, one a row.
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
    # Accepted so far, in whole numbers: equal values stay equal.
    tp = np.append(0, np.cumsum(correct)[last_of_ties])
    fp = np.append(0, np.cumsum(~correct)[last_of_ties])
    value = tp - fp if method == "accuracy" else tp * negatives - fp * positives
    return float(thresholds[np.argmax(value)])
