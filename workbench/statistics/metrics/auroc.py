"""AUROC: the area under the curve of true-positive against false-positive rates at every threshold on the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.statistics.metrics.metric import Metric

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray, IntArray


def auroc(score: FloatArray | None, gold: IntArray, group: IntArray, groups: int) -> list[float | None]:
    """Return the area under the receiver operating characteristic of each group; None for a group without correct or
    without incorrect completions.

    It is the probability that a correct completion scores above an incorrect one, a tie counting one half: U / (P N)
    with U = R - P (P + 1) / 2, where R is the sum of the P correct completions' ranks among all P + N and tied scores
    share their mean rank. It doesn't depend on verdicts. Sources: Mann and Whitney, "On a test of whether one of two
    random variables is stochastically larger than the other", Annals of Mathematical Statistics 18, 1947; Hanley and
    McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC) curve", Radiology 143,
    1982.

    Args:
        score: One score for each row, NaN for none; None for a verifier without scores.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Each row's group, from 0 to ``groups - 1``.
        groups: The number of groups.
    """
    import numpy as np

    if score is None:
        return [None] * groups
    kept = (gold >= 0) & ~np.isnan(score)
    score, correct, group = score[kept], gold[kept] == 1, group[kept]
    order = np.lexsort((score, group))
    score, correct, group = score[order], correct[order], group[order]

    # Ties are equal scores within one group. Ranks continue over all groups, from 0.
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


AUROC = Metric(
    name="AUROC",
    heading="AUROC",
    short="AUROC",
    help="How often a correct completion scores above an incorrect one, under any protocol",
    undefined="without scores, or if gold lacks a class",
    unit="",
    is_optional=True,
).field()
