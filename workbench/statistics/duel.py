"""Win rates of paired comparisons that are asked in both orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.statistics.intervals import clustered_wilson
from workbench.statistics.records.study import Dimension, DuelRow, Winner


def duel_row(
    dimension: Dimension, winners: Sequence[Winner | None], flipped: Sequence[bool], question: Sequence[int]
) -> DuelRow:
    """One dimension's figures: A's share of the items that either judge wins in both orders.

    The interval is Wilson's with the design effect of questions as clusters; see `intervals`.

    Args:
        dimension: Which one.
        winners: Each item's winner; None where an order wasn't read.
        flipped: Whether both orders prefer the same place.
        question: Each item's question.
    """
    a, b, ties = (winners.count(one) for one in ("a", "b", "tie"))
    return DuelRow(
        dimension=dimension,
        n=a + b + ties,
        a=a,
        b=b,
        ties=ties,
        flipped=sum(flipped),
        win_rate=a / (a + b) if a + b else None,
        ci=_interval(winners, question) if a + b else None,
    )


def _interval(winners: Sequence[Winner | None], question: Sequence[int]) -> tuple[float, float]:
    decided = [place for place, winner in enumerate(winners) if winner in ("a", "b")]
    won = np.array([winners[place] == "a" for place in decided])
    return clustered_wilson(won, np.array([question[place] for place in decided]))
