"""Gwet's AC1 and AC2: agreement beyond chance that stays in sight where one category prevails."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from workbench.statistics.agreement.arithmetic import divided
from workbench.statistics.agreement.observed import mean
from workbench.statistics.agreement.ratings import Units
from workbench.statistics.arrays import FloatArray

Weighting = Literal["linear", "quadratic", "ordinal"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)

MOST_CATEGORIES = 200
"""More categories than this are measurements: chance agreement by category then says nothing, and AC2 is undefined."""


def ac1(units: Units, weights: FloatArray) -> FloatArray:
    """AC1 = (pa - pe) / (1 - pe), a value a sample; NaN with one category only.

    pa is percent agreement; pe = sum_q pi_q (1 - pi_q) / (K - 1), pi_q the mean over all rated items of the share of
    category q, K the number of categories. Missing ratings are allowed; items with one rating count in pi alone.
    Source: Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement", British
    Journal of Mathematical and Statistical Psychology 61, 2008; "Handbook of Inter-Rater Reliability", 4th edition,
    2014, chapter 5.

    Args:
        weights: How many items are of each kind, samples x kinds.
    """
    squares = np.asarray(units.counts.power(2).sum(axis=1))
    credit = squares - units.sizes
    categories = units.counts.shape[1]
    return _coefficient(units, weights, credit, categories)


def ac2(units: Units, weights: FloatArray, weighting: Weighting, values: FloatArray) -> FloatArray:
    """AC2: AC1 with credit w_ck for near categories, a value a sample; NaN with one category only.

    pa is the mean of sum_q r_q (sum_l w_ql r_l - 1) / (m (m - 1)) over the items with m > 1 ratings, r_q of category
    q; pe = sum_ql w_ql / (K (K - 1)) sum_q pi_q (1 - pi_q). Weights are 1 - |v_c - v_k| / (v_max - v_min) (linear),
    1 - (v_c - v_k)² / (v_max - v_min)² (quadratic), 1 - C(|c - k| + 1, 2) / C(K, 2) of the categories' ranks (ordinal).
    Source: Gwet, "Handbook of Inter-Rater Reliability", 4th edition, 2014, chapters 3 and 5.

    Args:
        values: Each category's number, ascending.
    """
    categories = len(values)
    if not 1 < categories <= MOST_CATEGORIES:
        return np.full(len(weights), np.nan)
    table = credits(weighting, values)
    credit = np.asarray(units.counts.multiply(units.counts @ table).sum(axis=1)) - units.sizes
    return _coefficient(units, weights, credit, float(table.sum()))


def credits(weighting: Weighting, values: FloatArray) -> FloatArray:
    """The credit of each two of at least two categories, from 0 to 1, categories x categories."""
    if weighting == "ordinal":
        ranks = np.arange(len(values), dtype=float)
        apart = np.abs(ranks[:, None] - ranks)
        ordinal: FloatArray = 1 - apart * (apart + 1) / (len(values) * (len(values) - 1))
        return ordinal
    apart = np.abs(values[:, None] - values) / (values[-1] - values[0])
    by_values: FloatArray = 1 - (apart if weighting == "linear" else apart**2)
    return by_values


def _coefficient(units: Units, weights: FloatArray, credit: FloatArray, total: float) -> FloatArray:
    """The coefficient of credits that are m (m - 1) for full agreement; ``total`` is the sum of their table."""
    categories = units.counts.shape[1]
    if categories < 2:
        return np.full(len(weights), np.nan)
    observed = mean(divided(credit, units.sizes * (units.sizes - 1)), weights)
    shares = divided((weights / units.sizes) @ units.counts, weights.sum(axis=1, keepdims=True))
    expected = total / (categories * (categories - 1)) * (shares * (1 - shares)).sum(axis=1)
    return divided(observed - expected, 1 - expected)
