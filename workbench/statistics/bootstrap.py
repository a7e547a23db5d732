"""The cluster bootstrap: questions are resampled with all their items and labels.

For metrics without a closed form: Matthews' correlation, balanced accuracy, joint errors and their differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.core.progress import stepping
from workbench.statistics.agreement.ratings import alike
from workbench.statistics.confusion import FloatArray, IntArray
from workbench.statistics.intervals import compact, countable

if TYPE_CHECKING:
    from scipy import sparse

UNDEFINED_SHARE = 0.05
"""Largest share of samples in which a metric may be undefined (only one category) and still have an interval."""

_NOTHING = 1e-12

_MAX_EXACT_FLOAT32 = 1 << 24
"""Integers up to this one are exact in single precision, and so are sums that stay below it."""

_DOUBLE: np.dtype[Any] = np.dtype(np.float64)

_BLOCK = 1 << 20
"""Numbers drawn at once: they fit into a processor's cache."""

_MAX_COARSE_CLUSTERS = 1 << 16
"""Most clusters that are drawn by a 24-bit fraction: their probabilities differ by at most 0.4 %."""

_FEW_KINDS_RATIO = 8
"""Ratio of clusters to kinds of clusters above which kinds count as few."""

_MAX_TABLE_CELLS = 1 << 23
"""Most cells for which the clusters' items are stored as a dense table."""

_MAX_CACHED_COUNTS = 1 << 23
"""Most counts for which the last samples are cached, for other metrics of as many clusters."""


class Interval(NamedTuple):
    """The 2.5 and 97.5 percentiles of the samples in which a metric is defined.

    Attributes:
        ends: The lower and upper end. None if the metric is undefined in too many samples, if it is equal in all
            samples (full agreement is not certainty), or if there is nothing to resample.
        undefined: Number of samples in which the metric is undefined.
    """

    ends: tuple[float, float] | None
    undefined: int


def intervals(
    kind: IntArray,
    kinds: int,
    cluster: IntArray,
    figures: Mapping[str, Callable[[FloatArray], FloatArray]],
    *,
    samples: int,
    seed: int,
) -> dict[str, Interval]:
    """Return 95 % percentile intervals of metrics, all from the same samples.

    Each sample draws as many clusters as there are, with replacement, each with all its items. The same seed gives the
    same interval for any order of items and clusters. Source: Efron and Tibshirani, "An Introduction to the Bootstrap",
    1993, chapter 13; clusters as in Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8.

    Args:
        kind: Each item's kind, from 0 to ``kinds - 1``; -1 for an item that is left out.
        kinds: The number of kinds; a metric depends only on the items' kinds.
        cluster: Each item's cluster, any integers.
        figures: Name -> function from the numbers of items of each kind (samples x kinds) to one value for each sample,
            NaN if undefined.
    """
    found: dict[str, list[FloatArray]] = {name: [] for name in figures}
    for counts in resampled(kind, kinds, cluster, samples, seed):
        for name, figure in figures.items():
            found[name].append(figure(counts))
    return {name: percentiles(np.concatenate([*blocks, np.empty(0)])) for name, blocks in found.items()}


def percentiles(values: FloatArray) -> Interval:
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if not len(defined) or undefined > UNDEFINED_SHARE * len(values) or np.ptp(defined) < _NOTHING:
        return Interval(None, undefined)
    low, high = np.quantile(defined, (0.025, 0.975))
    return Interval((float(low), float(high)), undefined)


def resampled(kind: IntArray, kinds: int, cluster: IntArray, samples: int, seed: int) -> Iterator[FloatArray]:
    """Yield the number of items of each kind in each sample of clusters: samples x kinds, in blocks; empty without
    items.

    Args:
        kind: Each item's kind, from 0 to ``kinds - 1``; -1 for an item that is left out.
        cluster: Each item's cluster, any integers.
    """
    there = kind >= 0
    if not there.all():
        kind, cluster = kind[there], cluster[there]
    if not len(kind):
        return
    often, items = group_equal_clusters(cluster, kind, kinds)
    clusters = int(often.sum())
    size = max(1, _BLOCK // max(len(often), kinds))
    each_once = len(often) == clusters < _MAX_COARSE_CLUSTERS and samples * len(often) <= _MAX_CACHED_COUNTS
    kept = _samples_of(len(often), samples, seed) if each_once else None
    generator = np.random.default_rng(seed)
    # A sample can contain the largest cluster as often as there are clusters.
    single = items is not None and items.max() * clusters < _MAX_EXACT_FLOAT32
    precision: np.dtype[Any] = np.dtype(np.float32 if single else np.float64)
    items = None if items is None else items.astype(precision)
    for start in stepping(range(0, samples, size), "drawing samples"):
        end = min(start + size, samples)
        drawn: FloatArray = (
            _draw_multiplicities(often, end - start, generator, precision)
            if kept is None
            else kept[start:end].astype(precision)
        )
        yield np.asarray(drawn @ items, dtype=float) if items is not None else drawn


@lru_cache(maxsize=1)
def _samples_of(clusters: int, samples: int, seed: int) -> IntArray:
    """Draw the multiplicity of each cluster in each sample, treating all clusters as distinct: samples x clusters
    (uint16).

    The result depends only on the number of clusters, so all pairs of verifiers share it.
    """
    found = np.empty((samples, clusters), dtype=np.uint16)
    generator, often = np.random.default_rng(seed), np.ones(clusters, dtype=np.int64)
    size = max(1, _BLOCK // clusters)
    for start in stepping(range(0, samples, size), "drawing samples"):
        block = found[start : start + size]
        block[:] = _draw_multiplicities(often, len(block), generator)
    return found


def group_equal_clusters(
    cluster: IntArray, kind: IntArray, kinds: int
) -> tuple[IntArray, FloatArray | sparse.csr_array | None]:
    """Group equal clusters, which have the same number of items of each kind.

    Returns:
        The number of clusters of each kind of cluster; and the number of items of each kind in such a cluster, None if
        all clusters have one item, in the order of the items' kinds.

    The order depends only on the items.
    """
    group = countable(cluster)
    groups = int(group.max()) + 1
    if groups * kinds <= _MAX_TABLE_CELLS:
        counts = np.bincount(group * kinds + kind, minlength=groups * kinds).reshape(groups, kinds)
        rows, often = _count_distinct_rows(counts[counts.any(axis=1)])
        if len(often) * _FEW_KINDS_RATIO >= (clusters := int(often.sum())):
            rows, often = rows.repeat(often, axis=0), np.ones(clusters, dtype=np.int64)
        return often, rows.astype(float)
    group, known = compact(group)
    kind_of_group, first = alike(group, kind, len(known))
    return np.bincount(kind_of_group), _items_by_cluster_kind(group, kind, first, kinds)


def _count_distinct_rows(table: IntArray) -> tuple[IntArray, IntArray]:
    rows = table[np.lexsort(table.T[::-1])]
    first = np.flatnonzero(np.concatenate([[True], (rows[1:] != rows[:-1]).any(axis=1)]))
    return rows[first], np.diff(first, append=len(rows))


def _items_by_cluster_kind(group: IntArray, kind: IntArray, first: IntArray, kinds: int) -> sparse.csr_array | None:
    from scipy import sparse

    row = np.full(int(group.max()) + 1, -1)
    row[first] = np.arange(len(first))
    shown = row[group] >= 0
    if len(first) == kinds and np.count_nonzero(shown) == len(first):
        return None
    cells = (np.ones(np.count_nonzero(shown)), (row[group[shown]], kind[shown]))
    return sparse.csr_array(cells, shape=(len(first), kinds))


def _draw_multiplicities(
    often: IntArray, samples: int, generator: np.random.Generator, precision: np.dtype[Any] = _DOUBLE
) -> FloatArray:
    total = int(often.sum())
    if len(often) * _FEW_KINDS_RATIO < total:
        return generator.multinomial(total, often / total, size=samples).astype(precision)
    # With many kinds, drawing individual clusters is faster.
    place = None if len(often) == total else np.repeat(np.arange(len(often)), often)
    drawn, clusters = np.empty((samples, len(often)), dtype=precision), np.empty(total, dtype=np.intp)
    shares = np.empty(total, dtype=np.float32)
    for row in drawn:
        if total <= _MAX_COARSE_CLUSTERS:
            generator.random(out=shares, dtype=np.float32)
            np.copyto(clusters, np.multiply(shares, total, out=shares), casting="unsafe")
        else:
            clusters[:] = generator.integers(total, size=total)
        row[:] = np.bincount(clusters if place is None else place[clusters], minlength=len(often))
    return drawn
