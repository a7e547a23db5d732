"""Krippendorff's alpha: any number of people, any missing ratings, four levels of measurement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.statistics.agreement.arithmetic import divided
from workbench.statistics.agreement.ratings import Units
from workbench.statistics.arrays import FloatArray
from workbench.statistics.records.agreement import Level

MOST_RATIOS = 1_000
"""Distinct values the ratio level takes: its distances have no closed form and fill a square table."""

_BLOCK = 4_096
_NEVER = 1e-300
_ROUNDING = 1e-12


def alpha(units: Units, weights: FloatArray, level: Level, values: FloatArray) -> FloatArray:
    """Alpha = 1 - Do / De, a value a sample; NaN without disagreement to expect (one category only).

    Units with two ratings or more count. With n_uc ratings of category c among the m_u of unit u, n_c of all n and
    the squared distance d²: Do = sum_u sum_ck n_uc n_uk d²_ck / (m_u - 1) / n and
    De = sum_ck n_c n_k d²_ck / (n (n - 1)). d² is 1 for unequal categories (nominal), (v_c - v_k)² (interval),
    ((v_c - v_k) / (v_c + v_k))² (ratio), and for ordinal the square of sum_{g=c..k} n_g - (n_c + n_k) / 2, which is
    the interval distance of the categories' mid-ranks.
    Source: Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, sections C to F.

    Args:
        weights: How many items are of each kind, samples x kinds.
        values: Each category's number, ascending; nominal and ordinal do not look at them.

    Raises:
        ValueError: The ratio level with more than `MOST_RATIOS` distinct values.
    """
    paired = np.flatnonzero(units.sizes > 1)
    several = Units(counts=units.counts[paired], sizes=units.sizes[paired], kind=np.empty(0, dtype=np.int64))
    chosen = weights[:, paired]
    observed, expected = _DISAGREEMENT[level](several, chosen, values)
    n = chosen @ several.sizes
    # Do / De without the common divisor n.
    return 1.0 - divided(observed * (n - 1), expected)


Disagreement = tuple[FloatArray, FloatArray]
"""The disagreement observed, times n, and expected, times n (n - 1): a value a sample each."""


def _nominal(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    totals = weights @ units.counts
    unequal = units.sizes**2 - np.asarray(units.counts.power(2).sum(axis=1))
    return weights @ (unequal / (units.sizes - 1)), totals.sum(axis=1) ** 2 - (totals**2).sum(axis=1)


def _interval(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    """By sums alone: the squared differences of m values, each two twice, are 2 (m sum v² - (sum v)²)."""
    # Around their mean and of the size of 1: nothing overflows, and little is lost in differences of large sums.
    values = values - np.average(values, weights=np.maximum(units.counts.sum(axis=0), _NEVER))
    values = values / np.maximum(np.abs(values).max(initial=0), _NEVER)
    sums, squares = units.counts @ values, units.counts @ values**2
    all_squares = (weights @ units.sizes) * (weights @ squares)
    expected = all_squares - (weights @ sums) ** 2
    # What is left where a sample holds one value only is rounding.
    expected = np.where(expected > _ROUNDING * all_squares, 2 * expected, 0.0)
    return weights @ _spread(units.sizes, sums, squares), expected


def _ordinal(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    """The interval disagreement of mid-ranks, which are other ones in each sample."""
    totals = weights @ units.counts
    n = totals.sum(axis=1)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - n[:, None] / 2
    sums, squares = units.counts @ ranks.T, units.counts @ (ranks**2).T
    observed = np.einsum("su,us->s", weights, _spread(units.sizes[:, None], sums, squares))
    expected = 2 * n * (totals * ranks**2).sum(axis=1)
    return observed, np.where(np.count_nonzero(totals, axis=1) > 1, expected, 0.0)


def _spread(sizes: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
    return 2.0 * np.maximum(sizes * squares - sums**2, 0) / (sizes - 1)


def _ratio(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    if len(values) > MOST_RATIOS:
        raise ValueError(f"the ratio level takes {MOST_RATIOS:,} distinct values at most, not {len(values):,}")
    both = values[:, None] + values
    distance = np.divide(values[:, None] - values, both, out=np.zeros_like(both), where=both != 0) ** 2
    unequal = np.empty(len(units.sizes))
    for start in range(0, len(unequal), _BLOCK):
        block = units.counts[start : start + _BLOCK]
        unequal[start : start + _BLOCK] = np.asarray(block.multiply(block @ distance).sum(axis=1))
    totals = weights @ units.counts
    return weights @ (unequal / (units.sizes - 1)), ((totals @ distance) * totals).sum(axis=1)


_DISAGREEMENT: dict[Level, Callable[[Units, FloatArray, FloatArray], Disagreement]] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
