"""Votes of several verifiers on the same items, counted; an abstention and an error are never votes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from workbench.core.verdict import Outcome
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray


class VoteCounts(NamedTuple):
    """How many verifiers say "correct" and "incorrect" of each item."""

    yes: IntArray
    no: IntArray


class Ranking(NamedTuple):
    """Items of a queue, the first to be looked at first.

    Attributes:
        place: Their positions in the columns.
        score: What they are ordered by, falling.
    """

    place: IntArray
    score: FloatArray


def counted(votes: Sequence[IntArray], items: int) -> VoteCounts:
    """Count the decided verdicts of each item.

    Args:
        votes: For each verifier each item's outcome, -1 for none.
        items: How many items there are.
    """
    yes, no = np.zeros(items, dtype=np.int16), np.zeros(items, dtype=np.int16)
    for vote in votes:
        yes += vote == Outcome.CORRECT
        no += vote == Outcome.INCORRECT
    return VoteCounts(yes, no)


def falling(place: IntArray, score: FloatArray) -> Ranking:
    """Items in falling order of their scores; equal ones stay in the order of import."""
    order = np.argsort(-score, kind="stable")
    return Ranking(place[order], score[order])


def of(chosen: BoolArray, kept: BoolArray | None) -> IntArray:
    """Positions of the chosen items among those that are kept; None keeps all."""
    return np.flatnonzero(chosen if kept is None else chosen & kept)
