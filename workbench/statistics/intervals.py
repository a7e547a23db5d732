"""Intervals for shares of clustered items: verdicts on completions of one question are dependent.

Every share uses the rule of `share_ends`. ``python -m bench.coverage`` shows its coverage.
"""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

Z95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""
FEWEST: Final = 2
"""Questions of equal size, by Kish, below which a share has no interval: a single question says nothing about
others.
"""
_MIN_SURE_QUESTIONS: Final = 3
"""Effective questions that are wrong (or right) below which the correlation within questions can't be estimated."""

_ROUNDING: Final = 1e-9

Ends: TypeAlias = tuple[float, float]


class Clustering(NamedTuple):
    """The numbers of clusters behind each group's interval, as arrays of equal length.

    Attributes:
        clusters: Number of clusters with items.
        deff: The design effect, at least 1.
        alike: Number of clusters of equal size that would give a share the same variance, if each cluster were all
            right or all wrong: (sum m)² / sum m² (Kish, "Survey Sampling", 1965).
        effective: Number of clusters of equal size that would estimate that variance as precisely, in the same case;
            it determines the degrees of freedom: (sum m²)²
            / sum m⁴ (Satterthwaite; Carter, Schnepel and Steigerwald, "Asymptotic behavior of a t-test robust to
            cluster heterogeneity", Review of Economics and Statistics 99, 2017).
    """

    clusters: IntArray
    deff: FloatArray
    alike: FloatArray
    effective: FloatArray


class Clusters(NamedTuple):
    """Items by group and question, the clusters of intervals.

    The clusters depend on neither gold nor verdicts, so many metrics can share them.

    Attributes:
        of_item: Each item's cluster (int32).
        group: Each cluster's group, ascending.
        question: Each cluster's question, from 0 to ``questions - 1``.
        items: Number of items in each cluster.
        groups: The number of groups.
        questions: The number of questions.
    """

    of_item: IntArray
    group: IntArray
    question: IntArray
    items: IntArray
    groups: int
    questions: int

    def of(self, rows: BoolArray | slice) -> Clusters:
        """Return the clusters of some of the items; clusters of only other items become empty."""
        kept = self.of_item[rows]
        return self._replace(of_item=kept, items=np.bincount(kept, minlength=len(self.group)))


def wilson(k: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Return Wilson's score interval for the share ``k / n``; both may be fractional, like effective counts.

    (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²). Without items it is [0, 1].
    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.

    Args:
        z: The normal quantile; by default that of a 95 % interval.
    """
    if n <= 0:
        return 0.0, 1.0
    centre = k + z * z / 2
    half = z * sqrt(max(k * (n - k), 0.0) / n + z * z / 4)
    # At 0 and n a bound is exact; rounding could move it slightly.
    lo = max((centre - half) / (n + z * z), 0.0) if k > 0 else 0.0
    hi = min((centre + half) / (n + z * z), 1.0) if k < n else 1.0
    return lo, hi


def share_interval(correct: BoolArray | FloatArray, cluster: IntArray) -> Ends | None:
    """Return the 95 % interval of `share_ends` for the share of items that are right; None with too few clusters, or
    without items.

    Args:
        correct: Whether, or to what share, each item is right.
        cluster: Each item's cluster, any integers.
    """
    known = clustering(correct, cluster, np.zeros(len(cluster), dtype=np.int8), 1)
    return intervals(np.array([correct.sum()]), np.array([len(correct)]), known)[0]


def alone(n: int) -> Clustering:
    return Clustering(np.array([n]), np.ones(1), np.array([float(n)]), np.array([float(n)]))


def count_interval(right: float, n: int) -> Ends | None:
    """Return the 95 % interval of `share_ends` for ``right`` of n items, each of which is its own cluster; None with
    too few items.
    """
    return intervals(np.array([right]), np.array([n]), alone(n))[0]


def intervals_by_question(
    right: BoolArray | FloatArray, question: IntArray, group: IntArray, groups: int
) -> list[Ends | None]:
    """Return each group's 95 % interval of `share_ends` for the share of items that are right; groups may share
    questions.

    Args:
        right: Whether each item is right, or the share of it that is.
        question: Each item's question, any integers; items of one question and group are a cluster.
        group: Each item's group, from 0 to ``groups - 1``.
    """
    found = clusters(question, group, groups)
    in_cluster = np.bincount(found.of_item, weights=right, minlength=len(found.group))
    known = design_effects(found.items, in_cluster, found.group, groups)
    n = np.bincount(group, minlength=groups)
    return intervals(np.bincount(group, weights=right, minlength=groups), n, known)


def intervals(right: FloatArray | IntArray, n: IntArray, known: Clustering) -> list[Ends | None]:
    """Return each group's interval by `share_ends`; None with fewer than `FEWEST` effective clusters."""
    ends = zip(*(side.tolist() for side in share_ends(right, n, known)), strict=True)
    enough = has_enough_clusters(known).tolist()
    return [(low, high) if there else None for (low, high), there in zip(ends, enough, strict=True)]


def has_enough_clusters(known: Clustering) -> BoolArray:
    return np.asarray(known.alike >= FEWEST - _ROUNDING)


def is_seldom(share: FloatArray, known: Clustering) -> BoolArray:
    return np.asarray(np.minimum(share, 1 - share) * known.effective < _MIN_SURE_QUESTIONS)


def share_ends(
    right: FloatArray | IntArray, n: IntArray | FloatArray, known: Clustering
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper ends of the 95 % intervals of p = right / n, one for each group; [0, 1] without items.

    It is Wilson's interval for p of n / deff items, with Student's t instead of z; its degrees of freedom are the
    effective clusters minus one. If fewer than three effective clusters are wrong, or fewer than three right, the
    design effect is unreliable: then it is Clopper and Pearson's interval, for n / deff items or for ``alike``
    clusters of equal size, whichever is smaller: five questions of four completions, all right, are five trials.
    Sources: Wilson,
    JASA 22, 1927; Rao and Scott, "A simple method for the analysis of clustered binary data", Biometrics 48, 1992, for
    n / deff; Korn and Graubard, "Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data", Survey Methodology 24, 1998, for t and Clopper and Pearson; Bell and McCaffrey, Survey
    Methodology 28, 2002, for Satterthwaite's degrees of freedom.
    """
    from scipy.special import stdtrit

    p = right / np.maximum(n, 1)
    seldom = is_seldom(p, known)
    size = n / known.deff
    size = np.where(seldom, np.minimum(size, known.alike), size)
    t = stdtrit(np.maximum(known.effective - 1, 1.0), 0.975)
    wide, exact = _wilson_ends(p * size, size, t), _clopper_pearson_ends(p * size, size)
    low, high = (np.where(seldom, *ends) for ends in zip(exact, wide, strict=True))
    return np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)


def _wilson_ends(right: FloatArray, n: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    half = z * np.sqrt(np.maximum(right * (n - right), 0) / np.maximum(n, 1e-300) + z * z / 4)
    centre, whole = right + z * z / 2, n + z * z
    return np.maximum((centre - half) / whole, 0.0), np.minimum((centre + half) / whole, 1.0)


def _clopper_pearson_ends(right: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    from scipy.special import betaincinv

    wrong = np.maximum(n - right, 0.0)
    low = np.where(right > _ROUNDING, betaincinv(np.maximum(right, _ROUNDING), wrong + 1, 0.025), 0.0)
    high = np.where(wrong > _ROUNDING, betaincinv(right + 1, np.maximum(wrong, _ROUNDING), 0.975), 1.0)
    return low, high


def clustering(correct: BoolArray | FloatArray, cluster: IntArray, group: IntArray, groups: int) -> Clustering:
    """Return the numbers of clusters behind intervals of many groups; each cluster is in one group.

    With n items in G clusters of size m_g with k_g right, and p = k / n:
    SE_c = sqrt(G / (G - 1) * sum (k_g - m_g p)²) / n, SE = sqrt(p (1 - p) / n) and
    deff = max(1, (SE_c / SE)²); 1 when p is 0 or 1 or G < 2.
    Source: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 3 (a proportion from clusters).

    Args:
        correct: Whether, or to what share, each item is right.
        cluster: Each item's cluster, any integers.
        group: Each item's group, from 0 to ``groups - 1``.
        groups: The number of groups.
    """
    found = clusters(cluster, group, groups)
    right = np.bincount(found.of_item, weights=correct, minlength=len(found.group))
    return design_effects(found.items, right, found.group, groups)


def design_effects(
    sizes: IntArray | FloatArray, right: FloatArray | IntArray, group: IntArray, groups: int
) -> Clustering:
    mass = sizes.astype(np.float64)
    n, squares, fourths = (np.bincount(group, weights=mass**power, minlength=groups) for power in (1, 2, 4))
    p = np.bincount(group, weights=right, minlength=groups) / np.maximum(n, 1)
    g = np.bincount(group[sizes > 0], minlength=groups)
    apart = np.bincount(group, weights=(right - mass * p[group]) ** 2, minlength=groups)
    deff = np.ones(groups)
    varies = (p > 0) & (p < 1) & (g > 1)
    among = g[varies] / (g[varies] - 1) * apart[varies]
    deff[varies] = np.maximum(among / (n * p * (1 - p))[varies], 1.0)
    return Clustering(g, deff, n**2 / np.maximum(squares, 1), squares**2 / np.maximum(fourths, 1))


def clusters(question: IntArray, group: IntArray | None = None, groups: int = 1) -> Clusters:
    """Cluster items by group and question.

    Args:
        question: Each item's question, any integers.
        group: Each item's group, from 0 to ``groups - 1``; None for one group of all items.
        groups: The number of groups.
    """
    code, known = compact(question)
    width = max(len(known), 1)
    pair = code if group is None else group.astype(np.int64) * width + code
    of_item, pairs = compact(pair)
    return Clusters(
        of_item=of_item.astype(np.int32),
        group=pairs // width,
        question=pairs % width,
        items=np.bincount(of_item, minlength=len(pairs)),
        groups=groups,
        questions=len(known),
    )


def tally(cluster: IntArray, values: BoolArray | FloatArray) -> tuple[IntArray, FloatArray | IntArray]:
    codes = countable(cluster)
    return np.bincount(codes), np.bincount(codes, weights=values)


def countable(values: IntArray) -> IntArray:
    return values if _are_small(values) else compact(values)[0]


def _are_small(values: IntArray) -> bool:
    return bool(len(values) and values.min() >= 0 and values.max() < 4 * len(values) + 1024)


def compact(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return each value's rank among the distinct values, and the distinct values in ascending order.

    Small values are counted instead of sorted.
    """
    if _are_small(values):
        known = np.flatnonzero(np.bincount(values))
        rank = np.zeros(int(values.max()) + 1, dtype=np.intp)
        rank[known] = np.arange(len(known))
        return rank[values], known
    known, codes = np.unique(values, return_inverse=True)
    return codes, known


def distinct(values: IntArray) -> int:
    return int(np.count_nonzero(np.bincount(countable(values)))) if len(values) else 0


def student_interval(values: FloatArray) -> tuple[float, float] | None:
    """Return Student's 95 % interval for the mean of values from -1 to 1; None for a single value, or if all values
    are equal.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908.
    """
    from scipy.special import stdtrit

    if len(values) < 2 or np.ptp(values) < 1e-12:
        return None
    half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(len(values))
    mean = float(values.mean())
    return max(-1.0, mean - half), min(1.0, mean + half)
