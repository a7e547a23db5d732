"""Agreement coefficients for any number of annotators: Krippendorff's alpha at four levels, AC1, AC2, Fleiss' kappa."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from workbench.statistics.agreement.ratings import Units
from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import share_interval
from workbench.statistics.records.agreement import Level

# -- Sums by position, and division that is undefined for a zero divisor.


def divide_or_nan(above: FloatArray, below: FloatArray, *, where: BoolArray | None = None) -> FloatArray:
    """Return ``above / below``; NaN where ``below`` is not positive or ``where`` is False."""
    above, below = np.broadcast_arrays(above, below)
    quotient: FloatArray = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0 if where is None else where)
    return quotient


def sum_by_position(place: IntArray, values: FloatArray, places: int) -> FloatArray:
    return np.asarray(np.bincount(place, weights=values, minlength=places), dtype=np.float64)


MOST_RATIOS = 1_000
"""Most distinct values at the ratio level: its distances have no closed form and fill a square table."""
_BLOCK = 4_096
_NEVER = 1e-300
_ROUNDING = 1e-12


def alpha(units: Units, weights: FloatArray, level: Level, values: FloatArray) -> FloatArray:
    """Return alpha = 1 - Do / De, one value for each sample; NaN if only one category occurs, so that no disagreement
    is expected.

    Only units with at least two ratings count. With n_uc of the m_u ratings of unit u in category c, n_c of all n
    ratings in category c, and the squared distance d²: Do = sum_u sum_ck n_uc n_uk d²_ck / (m_u - 1) / n and De =
    sum_ck n_c n_k d²_ck / (n (n
    - 1)). d² is 1 for unequal categories (nominal), (v_c - v_k)² (interval), ((v_c - v_k) / (v_c + v_k))² (ratio), and
    for ordinal the square of sum_{g=c..k} n_g - (n_c + n_k) / 2, which is the interval distance of the categories'
    mid-ranks. Source: Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, sections C to F.

    Args:
        weights: Numbers of items of each kind, samples x kinds.
        values: Each category's number, ascending; ignored at the nominal and ordinal levels.

    Raises:
        ValueError: The ratio level with more than `MOST_RATIOS` distinct values.
    """
    paired = np.flatnonzero(units.sizes > 1)
    several = Units(counts=units.counts[paired], sizes=units.sizes[paired], kind=np.empty(0, dtype=np.int64))
    chosen = weights[:, paired]
    observed, expected = _DISAGREEMENT[level](several, chosen, values)
    n = chosen @ several.sizes
    # Do / De without the common divisor n.
    return 1.0 - divide_or_nan(observed * (n - 1), expected)


Disagreement = tuple[FloatArray, FloatArray]
"""The observed disagreement times n, and the expected one times n (n - 1): one value for each sample."""


def _nominal(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    totals = weights @ units.counts
    unequal = units.sizes**2 - np.asarray(units.counts.power(2).sum(axis=1))
    return weights @ (unequal / (units.sizes - 1)), totals.sum(axis=1) ** 2 - (totals**2).sum(axis=1)


def _interval(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    """Return observed and expected interval-level disagreement. They are computed from sums: over ordered pairs of m
    values, the squared differences sum to 2 (m sum v² - (sum v)²).
    """
    # Centred on their mean and scaled to 1: no overflow, and little cancellation in differences of large sums.
    values = values - np.average(values, weights=np.maximum(units.counts.sum(axis=0), _NEVER))
    values = values / np.maximum(np.abs(values).max(initial=0), _NEVER)
    sums, squares = units.counts @ values, units.counts @ values**2
    all_squares = (weights @ units.sizes) * (weights @ squares)
    expected = all_squares - (weights @ sums) ** 2
    # The remainder in a sample with only one value is rounding.
    expected = np.where(expected > _ROUNDING * all_squares, 2 * expected, 0.0)
    return weights @ _pairwise_squared_differences(units.sizes, sums, squares), expected


def _ordinal(units: Units, weights: FloatArray, values: FloatArray) -> Disagreement:
    totals = weights @ units.counts
    n = totals.sum(axis=1)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - n[:, None] / 2
    sums, squares = units.counts @ ranks.T, units.counts @ (ranks**2).T
    observed = np.einsum("su,us->s", weights, _pairwise_squared_differences(units.sizes[:, None], sums, squares))
    expected = 2 * n * (totals * ranks**2).sum(axis=1)
    return observed, np.where(np.count_nonzero(totals, axis=1) > 1, expected, 0.0)


def _pairwise_squared_differences(sizes: FloatArray, sums: FloatArray, squares: FloatArray) -> FloatArray:
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


# -- Observed agreement, and the frequency of labels.


def agreeing(units: Units) -> FloatArray:
    """Return the share of agreeing pairs of ratings, one value for each kind of items; NaN for items with one rating.

    sum_c n_uc (n_uc - 1) / (m_u (m_u - 1)), with n_uc ratings of category c among the m_u of unit u.
    """
    squares = np.asarray(units.counts.power(2).sum(axis=1))
    return divide_or_nan(squares - units.sizes, units.sizes * (units.sizes - 1))


def percent(units: Units, weights: FloatArray) -> FloatArray:
    """Return percent agreement, from 0 to 1: the mean over items with at least two ratings of their share of agreeing
    pairs.

    Args:
        weights: Numbers of items of each kind, samples x kinds.

    Returns:
        One value for each sample; NaN without such items.
    """
    return mean(agreeing(units), weights)


def mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    there = ~np.isnan(values)
    return divide_or_nan(weights[:, there] @ values[there], weights[:, there].sum(axis=1))


def percent_interval(units: Units, cluster: IntArray) -> tuple[float, float] | None:
    """Return the 95 % interval of percent agreement by cluster, see `statistics.intervals.share_ends`.

    The items' shares of agreeing pairs replace right and wrong. A share of several pairs has a smaller variance than a
    single pair; this is not used, since the design effect is at least 1.

    Args:
        cluster: Each item's cluster (its question), at least 0.

    Returns:
        The interval; None with too few clusters, or without an item with two ratings.
    """
    there = units.kind >= 0
    shares = np.full(len(units.kind), np.nan)
    shares[there] = agreeing(units)[units.kind[there]]
    paired = ~np.isnan(shares)
    return share_interval(shares[paired], cluster[paired]) if paired.any() else None


def prevalence(units: Units) -> FloatArray:
    totals = (units.often @ units.counts)[0]
    return divide_or_nan(totals, totals.sum())


# -- Gwet's AC1 and AC2: chance-corrected agreement that is robust to prevalence.


Weighting = Literal["linear", "quadratic", "ordinal"]
WEIGHTINGS: tuple[Weighting, ...] = get_args(Weighting)
MOST_CATEGORIES = 200
"""Most categories for AC2. With more, values are measurements and chance agreement by category is meaningless."""


def ac1(units: Units, weights: FloatArray) -> FloatArray:
    """Return AC1 = (pa - pe) / (1 - pe), one value for each sample; NaN with only one category.

    pa is percent agreement, and pe = sum_q pi_q (1 - pi_q) / (K - 1). pi_q is the mean, over all rated items, of the
    share of an item's ratings in category q; K is the number of categories. Missing ratings are allowed; items with
    one rating count only in pi. Source:
    Gwet, "Computing inter-rater reliability and its variance in the presence of high agreement", British Journal of
    Mathematical and Statistical Psychology 61, 2008; "Handbook of Inter-Rater Reliability", 4th edition, 2014, chapter
    5.

    Args:
        weights: Numbers of items of each kind, samples x kinds.
    """
    squares = np.asarray(units.counts.power(2).sum(axis=1))
    credit = squares - units.sizes
    categories = units.counts.shape[1]
    return _coefficient(units, weights, credit, categories)


def ac2(units: Units, weights: FloatArray, weighting: Weighting, values: FloatArray) -> FloatArray:
    """Return AC2: AC1 with credit w_ck for close categories, one value for each sample; NaN with only one category.

    pa is the mean of sum_q r_q (sum_l w_ql r_l - 1) / (m (m - 1)) over the items with m > 1 ratings, r_q of them in
    category q; pe = sum_ql w_ql / (K (K - 1)) sum_q pi_q (1 - pi_q). Weights are 1 - |v_c - v_k| / (v_max - v_min)
    (linear),
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
    """Return the credit of each pair of at least two categories, from 0 to 1, categories x categories."""
    if weighting == "ordinal":
        ranks = np.arange(len(values), dtype=float)
        apart = np.abs(ranks[:, None] - ranks)
        return np.asarray(1 - apart * (apart + 1) / (len(values) * (len(values) - 1)))
    apart = np.abs(values[:, None] - values) / (values[-1] - values[0])
    return np.asarray(1 - (apart if weighting == "linear" else apart**2))


def _coefficient(units: Units, weights: FloatArray, credit: FloatArray, total: float) -> FloatArray:
    """Return AC1 or AC2 from each kind's credit.

    Args:
        credit: Credit of each kind of items with m ratings, m (m - 1) for full agreement.
        total: The sum of the table of credits w_ck.
    """
    categories = units.counts.shape[1]
    if categories < 2:
        return np.full(len(weights), np.nan)
    observed = mean(divide_or_nan(credit, units.sizes * (units.sizes - 1)), weights)
    shares = divide_or_nan((weights / units.sizes) @ units.counts, weights.sum(axis=1, keepdims=True))
    expected = total / (categories * (categories - 1)) * (shares * (1 - shares)).sum(axis=1)
    return divide_or_nan(observed - expected, 1 - expected)


# -- Fleiss' kappa for a fixed number of ratings an item, and the effect of prevalence on agreement.


def fleiss(units: Units, weights: FloatArray) -> FloatArray:
    """Return Fleiss' kappa, one value for each sample; NaN if items differ in their number of ratings, or with only one
    category.

    (P - Pe) / (1 - Pe), where P is percent agreement and Pe = sum_c p_c², with p_c the share of category c among all
    ratings.
    Source: Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76, 1971.

    Args:
        weights: Numbers of items of each kind, samples x kinds.
    """
    if len(np.unique(units.sizes)) != 1 or units.sizes[0] < 2:
        return np.full(len(weights), np.nan)
    totals = weights @ units.counts
    expected = (divide_or_nan(totals, totals.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    several = np.count_nonzero(totals, axis=1) > 1
    return divide_or_nan(percent(units, weights) - expected, 1 - expected, where=several)


def pabak(observed: float, categories: int) -> float:
    """Return the prevalence- and bias-adjusted kappa: (K po - 1) / (K - 1) for K categories and observed agreement po,
    so 2 po - 1 for two.

    Sources: Byrt, Bishop and Carlin, "Bias, prevalence and kappa", Journal of Clinical Epidemiology 46, 1993; for
    more than two categories it is the coefficient of Brennan and Prediger, Educational and Psychological Measurement
    41, 1981. NaN with one category.
    """
    return float("nan") if categories < 2 else (categories * observed - 1) / (categories - 1)
