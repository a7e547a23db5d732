"""A verifier's accuracy as one number, in both conventions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.statistics.arrays import BoolArray, IntArray
from workbench.statistics.records.report import AverageRow


def average(verifier: str, micro: float | None, groups: Sequence[float | None], over: str) -> AverageRow:
    """Micro, the mean over items, and macro, the unweighted mean over groups.

    The averages of VerifyBench (arXiv 2505.15801, table 2) are micro.

    Args:
        micro: The accuracy over all items.
        groups: The groups' accuracies; those that have none don't count.
        over: What the groups are.
    """
    shares = [share for share in groups if share is not None]
    macro = sum(shares) / len(shares) if shares else None
    return AverageRow(verifier=verifier, micro=micro, macro=macro, over=over, groups=len(shares))


def shares(right: BoolArray, group: IntArray) -> list[float]:
    """The share of right items of each group that has any."""
    counts = np.bincount(2 * group + right, minlength=2 * (int(group.max(initial=0)) + 1)).reshape(-1, 2)
    sizes = counts.sum(axis=1)
    found: list[float] = (counts[sizes > 0, 1] / sizes[sizes > 0]).tolist()
    return found
