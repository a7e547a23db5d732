"""Bootstrap intervals: questions are drawn again, with all their items and everything said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy import sparse

from workbench.analysis.agreement.ratings import Units, alike
from workbench.analysis.arrays import FloatArray, IntArray

UNDEFINED_SHARE = 0.05
"""Where a figure is undefined in more than this share of the samples (one category only), it has no interval."""

_NOTHING = 1e-12

_CELLS = 1 << 23
"""Weights held at a time."""


class Interval(NamedTuple):
    """The 2.5 and 97.5 percentiles of the samples in which a figure is defined.

    Attributes:
        ends: None where it is undefined in too many samples, all samples are alike (full agreement is no certainty),
            or there is nothing to draw from.
        undefined: Samples in which it is undefined.
    """

    ends: tuple[float, float] | None
    undefined: int


def intervals(
    units: Units,
    cluster: IntArray,
    figures: Mapping[str, Callable[[FloatArray], FloatArray]],
    *,
    samples: int,
    seed: int,
) -> dict[str, Interval]:
    """95 % percentile intervals of figures, all from the same samples.

    As many clusters as there are are drawn with replacement; each comes with all its items. Both observed and
    expected (dis)agreement follow the sample. The same seed gives the same interval, whatever the order of items,
    clusters and people. Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13; clusters
    as in Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8.

    Args:
        cluster: Each item's cluster, at least 0: its question, or the item itself.
        figures: Name -> what gives a value a sample from weights (how many items are of each kind, samples x kinds).
    """
    found: dict[str, list[FloatArray]] = {name: [] for name in figures}
    if np.count_nonzero(units.kind >= 0):
        for weights in _samples(units, cluster, samples, np.random.default_rng(seed)):
            for name, figure in figures.items():
                found[name].append(figure(weights))
    return {name: _interval(np.concatenate([*blocks, np.empty(0)])) for name, blocks in found.items()}


def _interval(values: FloatArray) -> Interval:
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if not len(defined) or undefined > UNDEFINED_SHARE * len(values) or np.ptp(defined) < _NOTHING:
        return Interval(None, undefined)
    low, high = np.quantile(defined, (0.025, 0.975))
    return Interval((float(low), float(high)), undefined)


def _samples(units: Units, cluster: IntArray, samples: int, generator: np.random.Generator) -> Iterator[FloatArray]:
    """Weights of the kinds of items, in blocks of samples."""
    rated = units.kind >= 0
    _, group = np.unique(cluster[rated], return_inverse=True)
    groups = int(group.max()) + 1
    kind_of_group, first = alike(group, units.kind[rated], groups)
    often = np.bincount(kind_of_group)
    items = _items_of(group, units.kind[rated], first, len(units.sizes))
    size = max(1, _CELLS // max(len(often), len(units.sizes)))
    for start in range(0, samples, size):
        drawn = _draw(often, min(size, samples - start), generator)
        yield np.asarray(drawn @ items) if items is not None else drawn


def _items_of(group: IntArray, kind: IntArray, first: IntArray, kinds: int) -> sparse.csr_array | None:
    """How many items of each kind a cluster of each kind has; None where every cluster is one item."""
    row = np.full(int(group.max()) + 1, -1)
    row[first] = np.arange(len(first))
    shown = row[group] >= 0
    if len(first) == kinds and np.count_nonzero(shown) == len(first):
        return None
    cells = (np.ones(np.count_nonzero(shown)), (row[group[shown]], kind[shown]))
    return sparse.csr_array(cells, shape=(len(first), kinds))


def _draw(often: IntArray, samples: int, generator: np.random.Generator) -> FloatArray:
    """How many clusters of each kind are among as many as there are, drawn with replacement; samples x kinds."""
    total = int(often.sum())
    if len(often) * 8 < total:
        return generator.multinomial(total, often / total, size=samples).astype(float)
    # With many kinds it is quicker to draw the clusters one by one.
    place = np.repeat(np.arange(len(often)), often)
    drawn = np.empty((samples, len(often)))
    for row in drawn:
        row[:] = np.bincount(place[generator.integers(total, size=total)], minlength=len(often))
    return drawn
