"""Estimates shares from items sampled with unequal probabilities, and tests sequentially for a rise of false
acceptances."""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import Final, NamedTuple

import numpy as np

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
from workbench.statistics.intervals import Clustering, Ends, intervals

STEPS: Final = 20_000
"""Least mean number of steps to a false alarm of the sequential test."""
_BETS: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


class WeightedShare(NamedTuple):
    """A share of a population, estimated from a sample of it.

    Attributes:
        share: Hájek's ratio of sums of weights; None without items.
        ci: Its 95 % interval; None with too few questions.
        n: Number of items in the sample.
    """

    share: float | None
    ci: Ends | None
    n: int


def weighted_share(hit: BoolArray, weight: FloatArray, question: IntArray) -> WeightedShare:
    """Return the share of hits, each item weighted by the inverse of its sampling probability.

    The variance is linearised, with questions as clusters; its design effect relative to equal probabilities enters the
    interval by `workbench.statistics.intervals.share_ends`. Sources: Hájek, "Comment on an essay by D. Basu", 1971;
    Särndal, Swensson and Wretman, "Model Assisted Survey Sampling", 1992, chapter 5.

    Args:
        hit: Whether each item is a hit.
            weight: The inverse of each item's sampling probability.
            question: Each item's question; questions are the clusters.
    """
    n = len(hit)
    if not n:
        return WeightedShare(None, None, 0)
    total = float(weight.sum())
    share = float(weight @ hit) / total
    _, cluster = np.unique(question, return_inverse=True)
    size = np.bincount(cluster, weights=weight)
    clusters = len(size)
    known = Clustering(
        clusters=np.array([clusters]),
        deff=np.array([_design_effect(hit, weight, cluster, share)]),
        alike=np.array([total**2 / float(size @ size)]),
        effective=np.array([float(size @ size) ** 2 / float((size**2) @ (size**2))]),
    )
    (ci,) = intervals(np.array([share * n]), np.array([n]), known)
    return WeightedShare(share, ci, n)


def _design_effect(hit: BoolArray, weight: FloatArray, cluster: IntArray, share: float) -> float:
    n, total = len(hit), float(weight.sum())
    kish = n * float(weight @ weight) / total**2
    plain = share * (1 - share) / n
    clusters = int(cluster.max()) + 1
    if plain <= 0 or clusters < 2:
        return max(kish, 1.0)
    residual = np.bincount(cluster, weights=weight * (hit - share)) / total
    return max(float(residual @ residual) * clusters / (clusters - 1) / plain, 1.0)


class Rise(NamedTuple):
    """The step at which false acceptances have risen.

    Attributes:
        place: Position of the step at which the evidence reached the threshold.
        before: The bound on the share of judged completions that were wrongly accepted before the rise.
        evidence: The logarithm of the e-detector's value at that step.
    """

    place: int
    before: float
    evidence: float


def first_rise(estimate: FloatArray, bound: float, first: int) -> Rise | None:
    """Return the first step at which unbiased estimates of a share, one for each step, exceed a bound; None if never.

    An e-detector (Shin, Ramdas and Rinaldo, 2024): M = (M + 1)(1 + b (estimate - bound)), whose factor is never
    negative and has a mean of at most 1 while the share is within the bound, for any distribution of the estimates;
    averaged over several bets b. The mean time to a false alarm is at least `STEPS`.

    Args:
        estimate: The Horvitz-Thompson estimate of each step; NaN if unknown.
        first: The position of the first tested step.
    """
    if bound >= 1:
        return None
    evidence = [-inf] * len(_BETS)
    bets = [bet for bet in _BETS if bet * bound < 1]
    for place in range(first, len(estimate)):
        if np.isnan(estimate[place]):
            continue
        for number, bet in enumerate(bets):
            gained = log1p(bet * (float(estimate[place]) - bound))
            evidence[number] = float(np.logaddexp(0.0, evidence[number])) + gained
        mean = _log_mean_exp(evidence[: len(bets)])
        if mean >= log(STEPS):
            return Rise(place, bound, mean)
    return None


def _log_mean_exp(evidence: list[float]) -> float:
    most = max(evidence)
    return most + log(sum(exp(one - most) for one in evidence) / len(evidence))
