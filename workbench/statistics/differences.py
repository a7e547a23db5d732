"""Accuracy, balanced accuracy and Matthews' correlation of two verifiers on the same items, and their differences."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.statistics.agreement.arithmetic import divided
from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
from workbench.statistics.bootstrap import Interval, intervals
from workbench.statistics.records.comparison import Bootstrap, Metric, MetricDifference

Figure = Callable[[FloatArray, FloatArray], FloatArray]
"""A figure of each sample from its right items and all its items by gold, see `balanced`."""

_CELLS = 8
"""Gold, whether A is right, whether B is."""


class PairedItems(NamedTuple):
    """Items two verifiers judge, arrays of one length.

    Attributes:
        gold: 1 correct, 0 incorrect.
        right_a: Whether A is right.
        right_b: Whether B is right.
        question: The item's question; questions are the clusters.
    """

    gold: IntArray
    right_a: BoolArray
    right_b: BoolArray
    question: IntArray


def metric_differences(items: PairedItems, draws: Bootstrap | None = None) -> list[MetricDifference]:
    """Each figure of A and B and their difference, with intervals where draws are asked for.

    Definitions as in `statistics.accuracy`. All are functions of the eight counts of gold, A right and B right,
    so that a sample of questions is the sum of its questions' counts.
    """
    cell = 4 * (items.gold > 0) + 2 * items.right_a + items.right_b
    counts = np.bincount(cell, minlength=_CELLS).astype(float)[None, :]
    drawn: dict[str, Interval] = {}
    if draws is not None:
        figures: dict[str, Callable[[FloatArray], FloatArray]] = {
            metric: partial(_difference, figure) for metric, figure in _FIGURES.items()
        }
        drawn = intervals(cell, _CELLS, items.question, figures, samples=draws.samples, seed=draws.seed)
    return [_of_metric(metric, *_both(figure, counts), drawn.get(metric)) for metric, figure in _FIGURES.items()]


def _of_metric(metric: Metric, a: FloatArray, b: FloatArray, drawn: Interval | None) -> MetricDifference:
    ours, theirs = a.item(), b.item()
    if ours != ours or theirs != theirs:
        return MetricDifference(metric=metric, a=None, b=None, difference=None)
    ends, undefined = drawn or (None, 0)
    return MetricDifference(metric=metric, a=ours, b=theirs, difference=ours - theirs, ci=ends, undefined=undefined)


def _both(figure: Figure, totals: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A figure of A and of B in each of the samples x cells; NaN where undefined."""
    counts = totals.reshape(-1, 2, 2, 2)
    of_gold = counts.sum(axis=(2, 3))
    return figure(counts[:, :, 1, :].sum(axis=2), of_gold), figure(counts[:, :, :, 1].sum(axis=2), of_gold)


def _difference(figure: Figure, totals: FloatArray) -> FloatArray:
    a, b = _both(figure, totals)
    return a - b


def _accuracy(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    return divided(right.sum(axis=1), of_gold.sum(axis=1))


def balanced(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    """Balanced accuracy of each sample, NaN where gold lacks a class.

    Args:
        right: Rightly judged items by gold, incorrect and correct: samples x 2.
        of_gold: All items by gold, likewise.
    """
    means: FloatArray = divided(right, of_gold).mean(axis=1)
    return means


def matthews(right: FloatArray, of_gold: FloatArray) -> FloatArray:
    """Matthews' correlation of each sample: NaN where gold lacks a class, 0 where all verdicts are the same.

    See `balanced`.
    """
    (tn, tp), (fp, fn) = right.T, (of_gold - right).T
    below = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    found: FloatArray = np.where(of_gold.all(axis=1), np.nan_to_num(divided(tp * tn - fp * fn, below)), np.nan)
    return found


_FIGURES: dict[Metric, Figure] = {"accuracy": _accuracy, "balanced_accuracy": balanced, "mcc": matthews}
