"""Agreement as it is observed, and what was said how often."""

from __future__ import annotations

import numpy as np

from workbench.statistics.agreement.arithmetic import divided
from workbench.statistics.agreement.ratings import Units
from workbench.statistics.arrays import FloatArray, IntArray
from workbench.statistics.intervals import clustering, wilson


def agreeing(units: Units) -> FloatArray:
    """The share of agreeing pairs of ratings, a value a kind; NaN where there is only one rating.

    sum_c n_uc (n_uc - 1) / (m_u (m_u - 1)), with n_uc ratings of category c among the m_u of unit u.
    """
    squares = np.asarray(units.counts.power(2).sum(axis=1))
    return divided(squares - units.sizes, units.sizes * (units.sizes - 1))


def percent(units: Units, weights: FloatArray) -> FloatArray:
    """Percent agreement, from 0 to 1: the mean over items with two ratings or more of their share of agreeing pairs.

    Args:
        weights: How many items are of each kind, samples x kinds.

    Returns:
        A value a sample; NaN without such items.
    """
    return mean(agreeing(units), weights)


def mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    """The weighted mean of the values that are no NaN, one a row of the weights; NaN without any weight."""
    there = ~np.isnan(values)
    return divided(weights[:, there] @ values[there], weights[:, there].sum(axis=1))


def percent_interval(units: Units, cluster: IntArray) -> tuple[float, float] | None:
    """Wilson's 95 % interval for percent agreement, the number of items divided by the design effect.

    The items' shares of agreeing pairs stand in place of right and wrong; that a share of more than one pair
    varies less than a coin is not counted on, as the design effect is at least 1. See `analysis.intervals`.

    Args:
        cluster: Each item's cluster (its question), at least 0.

    Returns:
        The interval; None without an item that has two ratings.
    """
    there = units.kind >= 0
    shares = np.full(len(units.kind), np.nan)
    shares[there] = agreeing(units)[units.kind[there]]
    paired = ~np.isnan(shares)
    if not paired.any():
        return None
    kept = shares[paired]
    deff = float(clustering(kept, cluster[paired], np.zeros(len(kept), dtype=np.int64), 1).deff[0])
    return wilson(float(kept.sum()) / deff, len(kept) / deff)


def prevalence(units: Units) -> FloatArray:
    """The share of each category among all ratings; NaN without ratings."""
    totals = (units.often @ units.counts)[0]
    return divided(totals, totals.sum())
