"""Intervals for a proportion whose items come in clusters: completions that share a question.

Wilson's interval with the sample size divided by the design effect. At the size of an answer subtype it
keeps 95 % coverage where the clustered normal interval and the percentile bootstrap fall short. Beside it Student's
interval for a mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

Z95 = 1.959963984540054
"""The 0.975 quantile of the standard normal distribution."""


class Clustering(NamedTuple):
    """Clusters and design effect of each group, arrays of one length."""

    clusters: IntArray
    deff: FloatArray


class Clusters(NamedTuple):
    """Items by group and question: what intervals are clustered by.

    It depends on neither gold nor verdicts, so that one serves many figures.

    Attributes:
        of_item: Each item's cluster (int32).
        group: Each cluster's group, ascending.
        question: Each cluster's question, from 0 to ``questions - 1``.
        items: How many items each cluster has.
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
        """The clusters of some of the items; those of others have none left."""
        kept = self.of_item[rows]
        return self._replace(of_item=kept, items=np.bincount(kept, minlength=len(self.group)))


def wilson(k: float, n: float, z: float = Z95) -> tuple[float, float]:
    """Wilson's score interval for ``k`` of ``n``; both may be fractional, as effective counts are.

    (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²). Without items it is [0, 1].
    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22, 1927.

    Args:
        z: The normal quantile; that of 95 % by default.
    """
    if n <= 0:
        return 0.0, 1.0
    centre = k + z * z / 2
    half = z * sqrt(max(k * (n - k), 0.0) / n + z * z / 4)
    # At 0 and n a bound is exact; rounding would leave it a hair inside or outside.
    lo = max((centre - half) / (n + z * z), 0.0) if k > 0 else 0.0
    hi = min((centre + half) / (n + z * z), 1.0) if k < n else 1.0
    return lo, hi


def clustered_wilson(correct: BoolArray, cluster: IntArray) -> tuple[float, float]:
    """Wilson's 95 % interval for the share of True, with the sample size divided by the design effect.

    Args:
        correct: One value an item; without items the interval is [0, 1].
        cluster: Each item's cluster, any integers.
    """
    sizes, right = tally(cluster, correct)
    deff = float(design_effects(sizes, right, np.zeros(len(sizes), dtype=np.int64), 1).deff[0])
    return wilson(int(correct.sum()) / deff, len(correct) / deff)


def clustering(correct: BoolArray | FloatArray, cluster: IntArray, group: IntArray, groups: int) -> Clustering:
    """Design effects of many groups at once; a cluster never reaches beyond its group.

    With n items in G clusters of size m_g with k_g right, and p = k / n:
    SE_c = sqrt(G / (G - 1) * sum (k_g - m_g p)²) / n, SE = sqrt(p (1 - p) / n) and
    deff = max(1, (SE_c / SE)²); 1 when p is 0 or 1 or G < 2.
    Sources: Cochran, "Sampling Techniques", 3rd edition, 1977, chapter 3 (a proportion from clusters);
    Rao and Scott, "A simple method for the analysis of clustered binary data", Biometrics 48, 1992.

    Args:
        correct: True where an item is right, or by what share it is.
        cluster: Each item's cluster, any integers.
        group: Each item's group, from 0 to ``groups - 1``.
        groups: The number of groups.
    """
    found = clusters(cluster, group, groups)
    right = np.bincount(found.of_item, weights=correct, minlength=len(found.group))
    return design_effects(found.items, right, found.group, groups)


def design_effects(sizes: IntArray, right: FloatArray | IntArray, group: IntArray, groups: int) -> Clustering:
    """The same from each cluster's items and how many of them are right; clusters without items don't count."""
    n = np.bincount(group, weights=sizes, minlength=groups)
    p = np.bincount(group, weights=right, minlength=groups) / np.maximum(n, 1)
    g = np.bincount(group[sizes > 0], minlength=groups)
    squares = np.bincount(group, weights=(right - sizes * p[group]) ** 2, minlength=groups)
    deff = np.ones(groups)
    varies = (p > 0) & (p < 1) & (g > 1)
    among = g[varies] / (g[varies] - 1) * squares[varies]
    deff[varies] = np.maximum(among / (n * p * (1 - p))[varies], 1.0)
    return Clustering(g, deff)


def clusters(question: IntArray, group: IntArray | None = None, groups: int = 1) -> Clusters:
    """Items by group and question.

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
    """How many items each cluster has, and the sum of their values; clusters without items may stand between."""
    codes = countable(cluster)
    return np.bincount(codes), np.bincount(codes, weights=values)


def countable(values: IntArray) -> IntArray:
    """Integers as they are where they can be counted without being ranked first, else each one's rank."""
    return values if _are_small(values) else compact(values)[0]


def _are_small(values: IntArray) -> bool:
    return bool(len(values) and values.min() >= 0 and values.max() < 4 * len(values) + 1024)


def compact(values: IntArray) -> tuple[IntArray, IntArray]:
    """Each value's rank among the distinct ones, and the distinct ones in order.

    Small values are counted, which saves sorting them.
    """
    if _are_small(values):
        known = np.flatnonzero(np.bincount(values))
        rank = np.zeros(int(values.max()) + 1, dtype=np.intp)
        rank[known] = np.arange(len(known))
        return rank[values], known
    known, codes = np.unique(values, return_inverse=True)
    return codes, known


def distinct(values: IntArray) -> int:
    """How many different values there are; numpy's own way holds up all other threads."""
    return int(np.count_nonzero(np.bincount(countable(values)))) if len(values) else 0


def student_interval(values: FloatArray) -> tuple[float, float] | None:
    """Student's 95 % interval for the mean of values from -1 to 1; None for one value, or equal ones.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908.
    """
    from scipy.special import stdtrit

    if len(values) < 2 or np.ptp(values) < 1e-12:
        return None
    half = float(stdtrit(len(values) - 1, 0.975)) * float(values.std(ddof=1)) / sqrt(len(values))
    mean = float(values.mean())
    return max(-1.0, mean - half), min(1.0, mean + half)


# -- p-values of many tests at once.


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: with p_(1) <= … <= p_(m), max over j <= i of min(1, (m - j + 1) p_(j)).

    Rejecting those below 5 % makes any false rejection at most 5 % likely, however the tests depend on each other.
    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

    Returns:
        One value a test, in the tests' order.
    """
    order, ranked = _ranked(p)
    steps = np.maximum.accumulate(np.arange(len(p), 0, -1) * ranked)
    return _in_order(steps, order)


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's q-values: with p_(1) <= … <= p_(m), min over j >= i of min(1, m p_(j) / j).

    Rejecting those below 5 % makes the expected share of false ones among them at most 5 %, for tests that are
    independent or depend positively. scipy has it too, behind an import of most of a second. Source: Benjamini and
    Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995.

    Returns:
        One value a test, in the tests' order.
    """
    order, ranked = _ranked(p)
    steps = np.minimum.accumulate((len(p) * ranked / np.arange(1, len(p) + 1))[::-1])[::-1]
    return _in_order(steps, order)


def _ranked(p: Sequence[float]) -> tuple[IntArray, FloatArray]:
    order = np.argsort(p, kind="stable")
    return order, np.asarray(p, dtype=np.float64)[order]


def _in_order(steps: FloatArray, order: IntArray) -> list[float]:
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(steps, 1)
    found: list[float] = adjusted.tolist()
    return found
