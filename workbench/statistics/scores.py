"""How well a verifier's score ranks correct completions above incorrect ones."""

from __future__ import annotations

import numpy as np

from workbench.statistics.arrays import FloatArray, IntArray


def auroc(score: FloatArray | None, gold: IntArray, group: IntArray, groups: int) -> list[float | None]:
    """The area under the receiver operating characteristic of each group, None where a class is missing.

    It is the chance that a correct completion scores above an incorrect one, a tie counting one half:
    U / (P N) with U = R - P (P + 1) / 2, where R is the sum of the P correct completions' ranks among all
    P + N and tied scores share their mean rank. Verdicts play no part in it.
    Sources: Mann and Whitney, "On a test of whether one of two random variables is stochastically larger than
    the other", Annals of Mathematical Statistics 18, 1947; Hanley and McNeil, "The meaning and use of the area
    under a receiver operating characteristic (ROC) curve", Radiology 143, 1982.

    Args:
        score: One score a row, NaN for none; None for a verifier without scores.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Each row's group, from 0 to ``groups - 1``.
        groups: The number of groups.
    """
    if score is None:
        return [None] * groups
    kept = (gold >= 0) & ~np.isnan(score)
    score, correct, group = score[kept], gold[kept] == 1, group[kept]
    order = np.lexsort((score, group))
    score, correct, group = score[order], correct[order], group[order]

    # A run of ties: one score within one group. Ranks count through all groups, from 0.
    begins = np.ones(len(score), dtype=bool)
    begins[1:] = (np.diff(group) != 0) | (score[1:] != score[:-1])
    start = np.flatnonzero(begins)
    length = np.diff(start, append=len(score))
    rank = np.repeat(start + (length - 1) / 2, length)

    size = np.bincount(group, minlength=groups)
    positives = np.bincount(group, weights=correct, minlength=groups)
    below = np.cumsum(size) - size
    u = np.bincount(group, weights=rank * correct, minlength=groups) - positives * (below + (positives - 1) / 2)
    pairs = positives * (size - positives)
    return [float(won / of) if of else None for won, of in zip(u, pairs, strict=True)]
