"""One proportion measured alone, the way a table measures many groups at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.statistics.confusion import BoolArray, IntArray
from workbench.statistics.subgroups import clustering, wilson


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
