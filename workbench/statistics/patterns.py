"""Items that look alike to a model, taken together: a million items are a few thousand patterns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from workbench.statistics.arrays import FloatArray, IntArray

_MOST = 2**62


class Feature(NamedTuple):
    """A property of items: each item's level, from 0 to ``levels - 1``."""

    level: IntArray
    levels: int


class Patterns(NamedTuple):
    """The different combinations of levels.

    Attributes:
        of: Each item's pattern.
        level: The levels of each pattern, patterns x features.
        levels: How many levels each feature has.
    """

    of: IntArray
    level: IntArray
    levels: tuple[int, ...]

    def indicators(self) -> sparse.csr_array:
        """Patterns x levels of all features: 1 where a pattern has the level, and a last column of ones."""
        count, features = self.level.shape
        starts = np.cumsum((0, *self.levels))
        columns = np.column_stack([self.level + starts[:-1], np.full(count, starts[-1])])
        shape = (count, int(starts[-1]) + 1)
        pointers = np.arange(count + 1) * (features + 1)
        return sparse.csr_array((np.ones(columns.size), columns.ravel(), pointers), shape=shape)


def patterns(features: Sequence[Feature]) -> Patterns:
    """Bring items with equal levels together; the numbering follows from the levels, not from the items' order."""
    code, size = np.zeros(len(features[0].level), dtype=np.int64), 1
    for feature in features:
        if size > _MOST // feature.levels:
            known, code = np.unique(code, return_inverse=True)
            size = len(known)
        code = code * feature.levels + feature.level
        size *= feature.levels
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    level = np.column_stack([feature.level[first] for feature in features]).astype(np.int64)
    return Patterns(of, level, tuple(feature.levels for feature in features))


def quantiles(values: FloatArray, parts: int) -> Feature:
    """Numbers in parts of about equal size, as levels; NaN is a level of its own, the last."""
    known = ~np.isnan(values)
    level = np.full(len(values), parts, dtype=np.int64)
    if known.any():
        cuts = np.unique(np.quantile(values[known], np.arange(1, parts) / parts))
        level[known] = np.searchsorted(cuts, values[known], side="right")
    return Feature(level, parts + 1)
