"""Verdicts against gold: how far they speak against it, by what each verifier's word is worth on such items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.confusion import tally
from workbench.statistics.votes import Ranking, counted, falling, of

_GOLDS, _OUTCOMES = 2, len(Outcome) + 1
_PRIOR = 10.0
"""Items whose weight a verifier's rates over all types have in its rates on one type."""


def against_gold(
    votes: Sequence[IntArray], gold: IntArray, group: IntArray, groups: int, kept: BoolArray | None = None
) -> Ranking:
    """Items on which some decided verdict differs from gold, by the weight of evidence against gold.

    Args:
        votes: For each verifier each item's outcome, -1 for none.
        gold: 1 correct, 0 incorrect, -1 none.
        group: Each item's type.
        groups: How many types there are.
        kept: Which items to rank; rates come from all.

    Returns:
        Scores are sums over the decided verdicts of log(P(verdict | gold is wrong) / P(verdict | gold is right)), in
        nats, each verifier's part as `evidence` has it.
    """
    said = counted(votes, len(gold))
    place = of(((gold == 1) & (said.no > 0)) | ((gold == 0) & (said.yes > 0)), kept)
    cell = group[place].astype(np.int32) * _GOLDS + gold[place]
    score = np.zeros(len(place))
    for vote in votes:
        score += evidence(vote, gold, group, groups).ravel()[cell * _OUTCOMES + (vote[place] + 1)]
    return falling(place, score)


def evidence(vote: IntArray, gold: IntArray, group: IntArray, groups: int) -> FloatArray:
    """What each verdict of one verifier says against gold, as a log-likelihood ratio.

    Rates are those of the item's type, drawn towards the rates over all types, without the item itself. A verdict that
    differs from gold never speaks for it, nor one that agrees against it: a verifier that is mostly wrong says
    nothing.

    Returns:
        Type x gold x (outcome + 1), so that a missing verdict comes first; 0 where there is no decided one.
    """
    counts = tally(vote, gold, group, groups)[:, :, : Outcome.ABSTAIN].astype(float)
    overall = counts.sum(axis=0) + 1.0
    prior = _PRIOR * overall / overall.sum(axis=1, keepdims=True)
    total = counts.sum(axis=2, keepdims=True)
    if_right = (np.maximum(counts - 1, 0) + prior) / (np.maximum(total - 1, 0) + _PRIOR)
    if_wrong = ((counts + prior) / (total + _PRIOR))[:, ::-1]
    ratio = np.log(if_wrong / if_right)
    found: FloatArray = np.zeros((groups, _GOLDS, _OUTCOMES))
    for true in range(_GOLDS):
        found[:, true, true + 1] = np.minimum(ratio[:, true, true], 0.0)
        found[:, true, 2 - true] = np.maximum(ratio[:, true, 1 - true], 0.0)
    return found
