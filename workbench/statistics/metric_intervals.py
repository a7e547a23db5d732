"""Intervals of figures that have no closed form for clustered items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.bootstrap import percentiles, resampled
from workbench.statistics.differences import balanced, matthews

Ends = tuple[float, float]


class MetricIntervals(NamedTuple):
    """95 % intervals; None where a figure is undefined in too many samples, or the same in all of them."""

    balanced_accuracy: Ends | None
    mcc: Ends | None


def metric_intervals(
    right: BoolArray, gold: IntArray, question: IntArray, *, samples: int, seed: int
) -> MetricIntervals:
    """Percentile intervals of balanced accuracy and Matthews' correlation; questions are drawn with replacement.

    Args:
        right: Whether an item is judged rightly.
        gold: 1 correct, 0 incorrect.
        question: The item's question.
    """
    drawn: dict[str, list[FloatArray]] = {"balanced": [np.empty(0)], "mcc": [np.empty(0)]}
    for totals in resampled(2 * gold.astype(np.int64) + right, 4, question, samples, seed):
        counts = totals.reshape(-1, 2, 2)
        drawn["balanced"].append(balanced(counts[:, :, 1], counts.sum(axis=2)))
        drawn["mcc"].append(matthews(counts[:, :, 1], counts.sum(axis=2)))
    found = {name: percentiles(np.concatenate(values)).ends for name, values in drawn.items()}
    return MetricIntervals(found["balanced"], found["mcc"])
