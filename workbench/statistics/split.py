"""Verifiers against each other: how evenly they are split, and which of them carry weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.votes import Ranking, VoteCounts, counted, falling, of


class Splits(NamedTuple):
    """Items by how many verifiers are in the minority, and those of the split asked for.

    Attributes:
        ranking: Items split k against n - k, the side that carries less weight the strongest first.
        sizes: How many items have a minority of 0, 1, 2 … verifiers.
        unvoted: Items on which not every verifier has decided.
    """

    ranking: Ranking
    sizes: tuple[int, ...]
    unvoted: int


def uneven(votes: Sequence[IntArray], items: int, kept: BoolArray | None = None) -> Ranking:
    """Items on which decided verdicts differ, the most evenly split first, then those with more verdicts.

    Returns:
        Scores are twice the minority's share of the decided verdicts: 1 for an even split.
    """
    said = counted(votes, items)
    place = of((said.yes > 0) & (said.no > 0), kept)
    minority, total = np.minimum(said.yes, said.no)[place].astype(float), (said.yes + said.no)[place].astype(float)
    score = 2 * minority / total
    order = np.lexsort((-total, -score))
    return Ranking(place[order], score[order])


def splits(votes: Sequence[IntArray], items: int, k: int, kept: BoolArray | None = None) -> Splits:
    """Items on which exactly ``k`` verifiers stand against all the others.

    Every verifier must have decided: an abstention or an error is no vote, as VerifyBench-Hard counts them.

    Args:
        votes: For each verifier each item's outcome, -1 for none.
        items: How many items there are.
        k: Verifiers in the minority, 1 to n // 2.
        kept: Which items are meant.

    Returns:
        The scores are the weight of the weaker side as a share of the stronger's; see `weights`.
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
        yes += share * (vote[place] == Outcome.CORRECT)
    no = weight.sum() - yes
    unvoted = int(items if kept is None else np.count_nonzero(kept)) - int(np.count_nonzero(meant))
    score = np.minimum(yes, no) / np.maximum(yes, no)
    return Splits(falling(place, score), tuple(sizes.tolist()), unvoted)


def weights(votes: Sequence[IntArray], said: VoteCounts, full: BoolArray) -> FloatArray:
    """What each verifier's vote weighs: the log-odds of its siding with the majority of the others, at least .01.

    No gold is needed. Counted over fully voted items on which the others have a majority; one item for and one
    against are added, so that a verifier that always sides with it weighs something finite.
    """
    found = np.empty(len(votes))
    for number, vote in enumerate(votes):
        own = vote == Outcome.CORRECT
        lead = (said.yes - own) * 2 - (len(votes) - 1)
        led = full & (lead != 0)
        agree = np.count_nonzero(led & ((lead > 0) == own)) + 1
        found[number] = np.log(agree / (np.count_nonzero(led) + 2 - agree))
    return np.maximum(found, 0.01)
