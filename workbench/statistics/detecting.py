"""Minimum detectable effect: the true difference of two accuracies that the paired permutation test finds with a power
of 80 %."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.intervals import Z95

FOUND: Final = 0.8
"""Power at which a difference is called detectable."""
FEWEST: Final = 30
"""Questions of equal size, by Kish, below which the test is too discrete for a forecast."""
DIFFERING: Final = 7
"""Questions on which the two differ, below which the correlation within questions can't be estimated."""
_MIN_DIFFERING_UNEVEN: Final = 20
"""The same if sizes are so uneven that the correlation matters much."""
_MIN_EVEN_QUESTIONS: Final = 13
"""Effective questions (see `intervals.Clustering`) from which sizes are even enough."""
_MAX_VARIANCE: Final = 0.4
"""Relative variance of the test's own variance above which, with fewer questions, no forecast is reliable."""
_PLANNED_SHARE: Final = 0.25
"""Share of that variance, for two equally accurate verifiers, that represents the estimation error of this data."""
_STEPS: Final = 65
_ZOOMS: Final = 4
_ROUNDING: Final = 1e-12


class _Design(NamedTuple):
    """Assumptions about future data.

    Attributes:
        sizes: The distinct sizes of questions, in items.
        often: Number of questions with each size.
        discordance: The share of items that only one of the two verifiers judges correctly.
        correlation: The intra-class correlation of discordance within questions.
        alike: The intra-class correlation, within questions, of which verifier is right on a discordant item.
    """

    sizes: FloatArray
    often: IntArray
    discordance: float
    correlation: float
    alike: float


class _PowerForecast(NamedTuple):
    """The power of the test for each difference, and the relative variance of the test's variance (Q in
    `_forecast`)."""

    power: FloatArray
    unsure: FloatArray


def detectable(sizes: IntArray, only_a: IntArray, only_b: IntArray) -> float | None:
    """Return the true difference that `compare.permutation` finds at the 5 % level in four of five data sets like this
    one.

    These data sets have questions of the same sizes, as many discordant items on average (or as many as the difference
    requires), and the same two intra-class correlations: each question may have its own probability that an item is
    discordant, and that A is right on a discordant item. None with too few effective questions, if the two verifiers
    differ on too few of them, or if a few of these questions decide the test. ``python -m bench.coverage --kind
    power`` shows how often
    the returned difference is found.

    Args:
        sizes: Items of each question, at least one.
        only_a: Items of each question that only A judges correctly.
        only_b: Items of each question that only B judges correctly.
    """
    differ = only_a + only_b
    number = np.bincount(sizes)
    known = np.flatnonzero(number).astype(np.float64)
    often = number[number > 0]
    n, squares, fourths = (float(often @ known**power) for power in (1, 2, 4))
    even = squares**2 >= _MIN_EVEN_QUESTIONS * fourths
    if n**2 < FEWEST * squares or np.count_nonzero(differ) < (DIFFERING if even else _MIN_DIFFERING_UNEVEN):
        return None
    design = _Design(
        sizes=known,
        often=often,
        discordance=float(differ.sum()) / n,
        correlation=_intra_class_correlation(sizes, differ),
        alike=_intra_class_correlation(differ, only_a),
    )
    found = _least_detectable(design)
    if found is None or even:
        return found
    return found if _forecast(design, np.array([found])).unsure[0] <= _MAX_VARIANCE else None


def _intra_class_correlation(sizes: IntArray, hits: IntArray) -> float:
    """Return the intra-class correlation of hits among the items of a question, from 0 to 1.

    It is Pearson's correlation over pairs of items of a question, weighted so that a question counts by its number of
    items minus one and not by its pairs: a single large question can't dominate. Source: Ridout, Demétrio and Firth,
    "Estimating intraclass correlation for binary data", Biometrics 55, 1999.
    """
    several = sizes > 1
    size, hit, mean = sizes[several], hits[several], hits.sum() / sizes.sum()
    own = hit * (1 - mean) ** 2 + (size - hit) * mean**2
    apart = float((mean * (1 - mean) * (size - 1)).sum())
    together = float((((hit - mean * size) ** 2 - own) / size).sum())
    return min(max(together / apart, 0.0), 1.0) if apart else 0.0


def _least_detectable(design: _Design) -> float | None:
    low, high = 0.0, 1.0
    planned = _PLANNED_SHARE * float(_forecast(design, np.zeros(1)).unsure[0])
    for _ in range(_ZOOMS):
        difference = np.linspace(low, high, _STEPS)
        found = _forecast(design, difference, planned)
        reached = np.flatnonzero(found.power >= FOUND)
        if not len(reached):
            return None
        high = float(difference[reached[0]])
        low = float(difference[max(reached[0] - 1, 0)])
    return high


def _forecast(design: _Design, difference: FloatArray, planned: float = 0.0) -> _PowerForecast:
    """Compute the test's power at each difference from moments.

    With S_g the contribution of a question to the difference, S their sum and Q the sum of their squares, the test
    detects S if |S| - 1 (sums change in steps of two) exceeds sqrt(Q) z (1 - (z² - 3) k / 12): k = sum S_g⁴ / Q²
    corrects for the kurtosis of sums with random signs (Cornish and Fisher). S / sqrt(Q) is approximately normal, with
    the mean and
    variance of the second- and first-order delta method. S_g has the moments of a beta-binomial number of discordant
    items, each +1 with a beta-distributed probability of the question, else -1. For questions with one item each, the
    detectable difference is to first order (z.975 + z.8) sqrt(discordance / n), Connor's formula ("Sample size for
    testing differences
    in proportions for the paired-sample design", Biometrics 43, 1987).

    Args:
        planned: The relative variance of the estimate of Q from the present data, which adds to that of future data.
    """
    from scipy.special import ndtr

    ways = np.cumprod(design.sizes - np.arange(4)[:, None], axis=0)
    discordance = np.maximum(design.discordance, difference)
    one, two, three, four = ways[:, :, None] * _raw_moments(discordance, design.correlation)[:, None]
    p1, p2, p3, p4 = _raw_moments((1 + difference / discordance) / 2, design.alike)
    # Means of products of this many signs of a question.
    y1, y2, y3, y4 = (
        2 * p1 - 1,
        4 * (p2 - p1) + 1,
        8 * p3 - 12 * p2 + 6 * p1 - 1,
        16 * p4 - 32 * p3 + 24 * p2 - 8 * p1 + 1,
    )
    first, square = one * y1, one + two * y2
    cube = one * y1 + 3 * two * y1 + three * y3
    fourth = one + two * (3 + 4 * y2) + 6 * three * y2 + four * y4
    total, q, kurtosis = (design.often @ moment for moment in (first, square, fourth))
    of_total, of_both, of_q = (
        design.often @ moment for moment in (square - first**2, cube - first * square, fourth - square**2)
    )
    root, unsure, slope = np.sqrt(q), of_q / q**2, total / q
    mean = total / root * (1 + 3 / 8 * unsure) - of_both / (2 * q * root) - 1 / root
    # If more discordant items are assumed than this data has, nothing is estimated from its discordant items.
    estimated = np.where(difference < design.discordance, planned / 4, 0.0)
    variance = (of_total - slope * of_both + slope**2 * of_q / 4) / q + estimated * slope**2 * q
    needed = Z95 * (1 - (Z95**2 - 3) / 12 * kurtosis / q**2)
    return _PowerForecast(ndtr((mean - needed) / np.sqrt(np.maximum(variance, _ROUNDING))), unsure)


def _raw_moments(mean: FloatArray, correlation: float) -> FloatArray:
    step = np.arange(1, 4)[:, None] * correlation
    left = 1 - correlation
    return np.cumprod(np.vstack([mean, (mean * left + step) / (left + step)]), axis=0)
