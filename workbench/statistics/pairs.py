"""Pairwise accuracy: does the correct completion of a question score above the incorrect one?"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.intervals import wilson
from workbench.statistics.records.reward import PairRow, Unpaired


class Pairs(Struct, frozen=True, kw_only=True, eq=False):
    """Questions with exactly one correct and one incorrect completion, both with a score.

    Attributes:
        row: Where each pair's correct completion stands among the rows.
        correct: Its score.
        incorrect: The other one's score.
        unpaired: How many other questions there are, by why they make no pair.
    """

    row: IntArray
    correct: FloatArray
    incorrect: FloatArray
    unpaired: Unpaired


def pair_up(score: FloatArray, gold: IntArray, question: IntArray) -> Pairs:
    """Find the pairs.

    Args:
        score: One score a row, NaN for none.
        gold: 1 correct, 0 incorrect, -1 none; rows without gold belong to no question here.
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
            one_class=int(one_class.sum()),
            several=int((~single & ~one_class).sum()),
            unscored=int((~scored).sum()),
        ),
    )


def pair_row(group: str | None, pairs: Pairs) -> PairRow:
    """The share of pairs whose correct completion scores higher; a tie is wrong.

    Acc = 1/|D| · Σ 1[R(q, r_w) > R(q, r_l)] (VerifyBench, arXiv 2505.15801, eq. 2). A question is one pair, so pairs
    are independent and the interval is Wilson's.
    """
    n = len(pairs.row)
    right = int((pairs.correct > pairs.incorrect).sum())
    return PairRow(
        group=group,
        n=n,
        right=right,
        ties=int((pairs.correct == pairs.incorrect).sum()),
        accuracy=right / n if n else None,
        ci=wilson(right, n) if n else None,
    )
