"""A single proportion, measured as a table measures many groups at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, t

from workbench.statistics.confusion import BoolArray, IntArray
from workbench.statistics.intervals import clustering, wilson


class ClusteredInterval(NamedTuple):
    """A proportion with its interval and the design effect behind it."""

    p: float
    lo: float
    hi: float
    deff: float


def design_effect(correct: BoolArray, cluster: IntArray) -> float:
    """The factor by which clusters raise the variance of a proportion."""
    return float(clustering(correct, cluster, np.zeros(len(cluster), dtype=np.int8), 1).deff[0])


def clustered_wilson(correct: BoolArray, cluster: IntArray) -> ClusteredInterval:
    """The share of right items with Wilson's interval on n / deff."""
    p, deff, n = float(correct.mean()), design_effect(correct, cluster), len(correct)
    return ClusteredInterval(p, *wilson(p * n / deff, n / deff), deff)


def by_hand(right: Sequence[bool], cluster: Sequence[Hashable]) -> tuple[float, float] | None:
    """The interval of a share as its definition says it, one cluster after the other; None for too few."""
    sizes = Counter(cluster)
    hits = Counter(name for name, hit in zip(cluster, right, strict=True) if hit)
    n, groups = sum(sizes.values()), len(sizes)
    p = sum(hits.values()) / n
    deff = 1.0
    if 0 < p < 1 and groups > 1:
        squares = sum((hits[name] - size * p) ** 2 for name, size in sizes.items())
        deff = max(1.0, groups / (groups - 1) * squares / (n * p * (1 - p)))
    alike = n**2 / sum(size**2 for size in sizes.values())
    effective = sum(size**2 for size in sizes.values()) ** 2 / sum(size**4 for size in sizes.values())
    if alike < 2 - 1e-9:
        return None
    size = n / deff
    if min(p, 1 - p) * effective < 3:
        size = min(size, alike)
        k = p * size
        low = beta.ppf(0.025, k, size - k + 1) if k > 0 else 0.0
        return float(low), float(beta.ppf(0.975, k + 1, size - k)) if k < size - 1e-9 else 1.0
    z = float(t.ppf(0.975, effective - 1))
    middle, half = (p + z * z / (2 * size)), z * sqrt(p * (1 - p) / size + z * z / (4 * size * size))
    return (middle - half) / (1 + z * z / size), (middle + half) / (1 + z * z / size)
