"""The ceiling that label noise puts on what a verifier can be measured to reach.

Two people label, a third settles what they disagree on. Everyone is right with the same chance on every item, each
independently of the others, and what is wrong is wrong alike (two verdicts). Errors that people share, such as the
same misreading, lower the ceiling further.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from workbench.statistics.records.agreement import Ceiling, Ends, Source


class Residue(NamedTuple):
    """What "two agree, else a third" leaves.

    Attributes:
        wrong: The share of final labels that are wrong.
        conflicts: The share of items the two disagree on.
    """

    wrong: float
    conflicts: float


def residue(accuracy: float) -> Residue:
    """The share of wrong final labels and of conflicts, for people who are right with this chance.

    wrong = (1 - a)² + 2 a (1 - a) (1 - a) = (1 - a)² (1 + 2 a), conflicts = 2 a (1 - a).
    """
    miss = 1 - accuracy
    return Residue(wrong=miss * miss * (1 + 2 * accuracy), conflicts=2 * accuracy * miss)


def accuracy_behind(agreement: float) -> float:
    """The accuracy of two people alike who agree so often: a = (1 + sqrt(2 po - 1)) / 2.

    One half for an agreement below one half, which no accuracy explains.
    """
    return (1 + sqrt(max(2 * agreement - 1, 0.0))) / 2


def ceiling(source: Source, accuracy: float, ends: Ends) -> Ceiling:
    """What people of this accuracy leave, and what a verifier without any error would then be measured to have.

    Args:
        ends: The accuracy's 95 % interval.
    """
    left = residue(accuracy)
    low, high = (1 - residue(end).wrong for end in ends)
    return Ceiling(
        source=source,
        annotator_accuracy=accuracy,
        accuracy_ci=ends,
        wrong=left.wrong,
        conflicts_per_1000=1000 * left.conflicts,
        highest_accuracy=1 - left.wrong,
        highest_ci=(low, high),
    )
