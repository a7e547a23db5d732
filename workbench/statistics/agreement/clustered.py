"""Intervals of agreement coefficients for labels that are clustered by question.

A coefficient k has the standard error e, from leaving out one cluster at a time. Its interval uses Fisher's
transformation with Student's t, tanh(artanh k ± t e / (1 - k²)). The upper end is that of an interval for the square
root of 1 - k where this is higher, 1 - (1 - k) (1 - t e / 2 (1 - k))²: small numbers of disagreements vary like
counts, whose square root has a
stable variance. The degrees of freedom are one less than an effective number of clusters, Kish's (sum x)² / sum x². x
is each cluster's amount of disagreement, or of agreement on labels other than the most frequent, whichever gives the
smaller number. There is no interval if annotators disagree in fewer than `FEWEST_DIFFERING` clusters, agree
on a rarer label in fewer than `FEWEST_ALIKE`, or if fewer than `FEWEST_RARER` clusters have a rarer label. ``python -m
bench.coverage --kind agreement`` shows the coverage of the intervals. Sources: Efron and Stein, "The jackknife
estimate of
variance", Annals of Statistics 9, 1981; Bartlett, "The square root transformation in analysis of variance", Supplement
to the Journal of the Royal Statistical Society 3, 1936; Carter, Schnepel and Steigerwald, "Asymptotic behavior of a
t-test robust to cluster heterogeneity", Review of Economics and Statistics 99, 2017; Kish, "Survey Sampling", 1965.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import atanh, tanh
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from workbench.statistics.agreement.coefficients import divide_or_nan, sum_by_position
from workbench.statistics.bootstrap import group_equal_clusters
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.records.agreement import FEWEST_ALIKE, FEWEST_DIFFERING, FEWEST_RARER, Ends

if TYPE_CHECKING:
    from scipy import sparse

_NOTHING = 1e-9
_MAX_CELLS: Final = 1 << 26
"""Most cells (differing clusters x kinds of items) for which every cluster is left out separately."""
_JACKKNIFE_GROUPS: Final = 1_000
"""Number of random groups in which clusters are left out if there are more cells."""
_BLOCK: Final = 1 << 20


class Evidence(NamedTuple):
    """The numbers of clusters behind intervals, and their degrees of freedom: arrays with one value for each metric.

    Attributes:
        differing: Number of clusters in which annotators disagree.
        alike: Number of clusters in which two annotators agree on a label other than the most frequent.
        rarer: Number of clusters with a label other than the most frequent.
        freedom: Degrees of freedom.
    """

    differing: IntArray
    alike: IntArray
    rarer: IntArray
    freedom: FloatArray

    def is_enough(self, figure: int = 0) -> bool:
        return bool(
            self.differing[figure] >= FEWEST_DIFFERING
            and self.alike[figure] >= FEWEST_ALIKE
            and self.rarer[figure] >= FEWEST_RARER
        )


def evidence(figure: IntArray, differing: FloatArray, alike: FloatArray, rarer: FloatArray, figures: int) -> Evidence:
    """Return the evidence behind intervals, from arrays with one value for each cluster of a metric.

    Args:
        figure: The metric that the value belongs to, from 0 to ``figures - 1``.
        differing: Amount of disagreement in the cluster.
        alike: Amount of agreement in the cluster on labels other than the most frequent.
        rarer: Number of labels in the cluster other than the most frequent.
    """
    effective = [
        divide_or_nan(sum_by_position(figure, mass, figures) ** 2, sum_by_position(figure, mass**2, figures))
        for mass in (differing, alike)
    ]
    differs, agrees, holds = (
        np.bincount(figure[mass > _NOTHING], minlength=figures) for mass in (differing, alike, rarer)
    )
    return Evidence(differs, agrees, holds, np.maximum(np.fmin(*effective) - 1, 1.0))


def interval(value: float, error: float, known: Evidence, figure: int = 0) -> Ends | None:
    """Return the 95 % interval of a coefficient; None with too few clusters.

    Args:
        error: The coefficient's clustered standard error.
        figure: The coefficient's position in ``known``.
    """
    from scipy.special import stdtrit

    if not (known.is_enough(figure) and abs(value) < 1 and error > _NOTHING):
        return None
    half = float(stdtrit(known.freedom[figure], 0.975)) * error
    low, high = (tanh(atanh(value) + side * half / (1 - value * value)) for side in (-1, 1))
    return low, max(high, 1 - (1 - value) * max(1 - half / (2 * (1 - value)), 0.0) ** 2)


def jackknife(
    kind: IntArray, kinds: int, cluster: IntArray, figures: Mapping[str, Callable[[FloatArray], FloatArray]]
) -> dict[str, float]:
    """Return leave-one-cluster-out standard errors; NaN where a metric is undefined without some cluster.

    sqrt((G - 1) / G sum (f_g - mean f)²), f_g the metric without cluster g of G.

    Args:
        kind: Each item's kind, from 0 to ``kinds - 1``; -1 for an item that is left out.
        kinds: The number of kinds; a metric depends only on the items' kinds.
        cluster: Each item's cluster, any integers.
        figures: Name -> function from the numbers of items of each kind (rows x kinds) to one value for each row.
    """
    there = kind >= 0
    kind, cluster = kind[there], cluster[there]
    if not len(kind):
        return dict.fromkeys(figures, float("nan"))
    often, items = group_equal_clusters(cluster, kind, kinds)
    if len(often) * kinds > _MAX_CELLS:
        number = np.unique(cluster, return_inverse=True)[1]
        dealt = np.random.default_rng(0).permutation(int(number.max()) + 1) % _JACKKNIFE_GROUPS
        often, items = group_equal_clusters(dealt[number], kind, kinds)
    total = np.bincount(kind, minlength=kinds).astype(float)
    found: dict[str, list[FloatArray]] = {name: [] for name in figures}
    for rows in _left_out_counts(items, len(often), kinds):
        for name, figure in figures.items():
            found[name].append(figure(total - rows))
    return {name: _jackknife_error(np.concatenate(values), often) for name, values in found.items()}


def _left_out_counts(items: FloatArray | sparse.csr_array | None, number: int, kinds: int) -> Iterator[FloatArray]:
    size = max(1, _BLOCK // kinds)
    for start in range(0, number, size):
        if items is None:
            rows = np.zeros((min(size, number - start), kinds))
            rows[np.arange(len(rows)), start + np.arange(len(rows))] = 1
        else:
            part = items[start : start + size]
            rows = part if isinstance(part, np.ndarray) else np.asarray(part.toarray())
        yield rows


def _jackknife_error(values: FloatArray, often: IntArray) -> float:
    clusters = int(often.sum())
    if clusters < 2:
        return float("nan")
    mean = float(often @ values) / clusters
    return float(np.sqrt((clusters - 1) / clusters * (often @ (values - mean) ** 2)))
