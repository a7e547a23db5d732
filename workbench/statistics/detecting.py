"""Minimum detectable effect: the true difference that the paired permutation test finds with a power of 80 %."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.intervals import Z95

FOUND: Final = 0.8
"""How often a difference that is called detectable is found."""
FEWEST: Final = 30
"""Questions of equal size, by Kish, below which the test's steps and their weights are too coarse for a forecast."""
DIFFERING: Final = 7
"""Questions on which the two differ below which it can't be told how far a question's items differ alike."""
_MANY: Final = 20
"""The same where sizes are so uneven that this decides much."""
_EVEN: Final = 13
"""Effective questions, as `intervals.Clustering` has them, from which sizes are even enough."""
_UNSURE: Final = 0.4
"""The relative variance of the test's own variance above which, with fewer, no forecast is to be relied on."""
_PLANNED: Final = 0.25
"""The share of that variance, where two are equally accurate, that stands for the error of what is estimated here."""
_STEPS: Final = 65
_ZOOMS: Final = 4
_ROUNDING: Final = 1e-12


class _Design(NamedTuple):
    """Assumptions about future data.

    Attributes:
        sizes: Different numbers of items that questions have.
        often: How many questions have so many.
        discordance: The share of items only one of both judges rightly.
        correlation: The intra-class correlation of being discordant, over questions.
        alike: That of which of both is right, over the discordant items of questions.
    """

    sizes: FloatArray
    often: IntArray
    discordance: float
    correlation: float
    alike: float


class _PowerForecast(NamedTuple):
    """The power of the test for each difference, and the relative variance of the test's own variance."""

    power: FloatArray
    unsure: FloatArray


def detectable(sizes: IntArray, only_a: IntArray, only_b: IntArray) -> float | None:
    """Return the true difference that `compare.permutation` finds at 5 % in four of five data sets like this one.

    Those have questions of the same sizes, as many discordant items in the mean, or as many as the difference takes,
    and the same two intra-class correlations of these: questions may have a chance of their own that an item is
    discordant, and that A is right where one is. None where too few questions, of equal size, carry it, where the two
    differ on too few of them, and where a few of these decide the test. ``python -m bench.coverage --kind power``
    shows how often what is given is found.

    Args:
        sizes: Items of each question, at least one.
        only_a: How many of these only A judges rightly.
        only_b: How many only B does.
    """
    differ = only_a + only_b
    number = np.bincount(sizes)
    known = np.flatnonzero(number).astype(np.float64)
    often = number[number > 0]
    n, squares, fourths = (float(often @ known**power) for power in (1, 2, 4))
    even = squares**2 >= _EVEN * fourths
    if n**2 < FEWEST * squares or np.count_nonzero(differ) < (DIFFERING if even else _MANY):
        return None
    design = _Design(
        sizes=known,
        often=often,
        discordance=float(differ.sum()) / n,
        correlation=_correlation(sizes, differ),
        alike=_correlation(differ, only_a),
    )
    found = _found(design)
    if found is None or even:
        return found
    return found if _forecast(design, np.array([found])).unsure[0] <= _UNSURE else None


def _correlation(sizes: IntArray, hits: IntArray) -> float:
    """Return the intra-class correlation of hits among the items of a question, from 0 to 1.

    Pearson's, of every two items of a question, weighed so that a question counts by its items less one and not by its
    pairs: no large one alone decides. Source: Ridout, Demétrio and Firth, "Estimating intraclass correlation for binary
    data", Biometrics 55, 1999.
    """
    several = sizes > 1
    size, hit, mean = sizes[several], hits[several], hits.sum() / sizes.sum()
    own = hit * (1 - mean) ** 2 + (size - hit) * mean**2
    apart = float((mean * (1 - mean) * (size - 1)).sum())
    together = float((((hit - mean * size) ** 2 - own) / size).sum())
    return min(max(together / apart, 0.0), 1.0) if apart else 0.0


def _found(design: _Design) -> float | None:
    low, high = 0.0, 1.0
    planned = _PLANNED * float(_forecast(design, np.zeros(1)).unsure[0])
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
    """Compute the test's power at differences, by moments.

    With S_g what a question adds to the difference, S their sum and Q that of their squares, the test finds S where
    |S| - 1, since sums step by two, is beyond sqrt(Q) z (1 - (z² - 3) k / 12): k = sum S_g⁴ / Q² is for the kurtosis of
    sums with random signs (Cornish and Fisher). S / sqrt(Q) is taken for normal, with the mean and the variance of the
    delta method's second and first order. S_g has the moments of a beta-binomial number of discordant items, each +1
    with a chance of the question's own, beta distributed, else -1. To the first order, (z.975 + z.8) sqrt(discordance
    / n) where questions have one item each, it is Connor's ("Sample size for testing differences in proportions for the
    paired-sample design", Biometrics 43, 1987).

    Args:
        planned: The relative variance of Q as it is estimated here, which adds to that of the data to come.
    """
    from scipy.special import ndtr

    ways = np.cumprod(design.sizes - np.arange(4)[:, None], axis=0)
    discordance = np.maximum(design.discordance, difference)
    one, two, three, four = ways[:, :, None] * _raw(discordance, design.correlation)[:, None]
    p1, p2, p3, p4 = _raw((1 + difference / discordance) / 2, design.alike)
    # Means of products of so many signs of a question.
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
    # Of more discordant items than there are here, what is estimated of these has no part in it.
    estimated = np.where(difference < design.discordance, planned / 4, 0.0)
    variance = (of_total - slope * of_both + slope**2 * of_q / 4) / q + estimated * slope**2 * q
    needed = Z95 * (1 - (Z95**2 - 3) / 12 * kurtosis / q**2)
    return _PowerForecast(ndtr((mean - needed) / np.sqrt(np.maximum(variance, _ROUNDING))), unsure)


def _raw(mean: FloatArray, correlation: float) -> FloatArray:
    step = np.arange(1, 4)[:, None] * correlation
    left = 1 - correlation
    return np.cumprod(np.vstack([mean, (mean * left + step) / (left + step)]), axis=0)
