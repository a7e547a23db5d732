"""Ratings of items by annotators, and items grouped by equal ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from workbench.statistics.confusion import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse


class Ratings(Struct, frozen=True, kw_only=True, eq=False):
    """Ratings as three arrays of equal length; each annotator rates an item at most once.

    Attributes:
        item: Each rating's item, from 0 to ``items - 1``.
        annotator: Each rating's annotator, from 0 to ``annotators - 1``.
        value: Each rating's category, from 0 to ``categories - 1``; categories are ordered.
        items: Number of items; some may have no rating here.
        annotators: Number of annotators.
        categories: Number of categories.
    """

    item: IntArray
    annotator: IntArray
    value: IntArray
    items: int
    annotators: int
    categories: int

    def of(self, kept: BoolArray) -> Ratings:
        """Return the ratings of some items, which are renumbered; annotators and categories keep their numbers.

        Args:
            kept: Whether to keep each item.
        """
        number = np.cumsum(kept) - 1
        there = kept[self.item]
        return Ratings(
            item=number[self.item[there]],
            annotator=self.annotator[there],
            value=self.value[there],
            items=int(np.count_nonzero(kept)),
            annotators=self.annotators,
            categories=self.categories,
        )


class Units(Struct, frozen=True, kw_only=True, eq=False):
    """Items grouped by kind: a kind is a vector of counts by category.

    Agreement of any number of annotators depends only on these counts and the numbers of items of each kind.
    Resampling a
    hundred thousand items with two labels therefore costs as much as resampling six kinds.

    Attributes:
        counts: How often each category was chosen, kinds x categories (sparse).
        sizes: Number of ratings of an item of each kind, at least 1.
        kind: Each item's kind; -1 for an item without ratings.
    """

    counts: sparse.csr_array
    sizes: FloatArray
    kind: IntArray

    @property
    def often(self) -> FloatArray:
        """Count the items of each kind: the weights of the original data, 1 x kinds."""
        return np.bincount(self.kind[self.kind >= 0], minlength=len(self.sizes)).astype(float)[None, :]


def units(ratings: Ratings) -> Units:
    """Group items into kinds: items with the same counts by category. The order of items and annotators does not
    matter."""
    from scipy import sparse

    kind, first = alike(ratings.item, ratings.value, ratings.items)
    shown = np.zeros(ratings.items, dtype=bool)
    shown[first] = True
    here = shown[ratings.item]
    shape = (len(first), ratings.categories)
    cells = (np.ones(np.count_nonzero(here)), (kind[ratings.item[here]], ratings.value[here]))
    counts = sparse.csr_array(cells, shape=shape)
    return Units(counts=counts, sizes=np.asarray(counts.sum(axis=1), dtype=float), kind=kind)


def alike(group: IntArray, member: IntArray, groups: int) -> tuple[IntArray, IntArray]:
    """Give two groups the same number exactly if they have the same multiset of members.

    Args:
        group: Each member's group, from 0 to ``groups - 1``.
        member: The identity of each member, from 0.

    Returns:
        Each group's number, -1 for a group without members; and for each number, one group that has it. Numbers depend
        only on the members, not on the order of the groups.
    """
    order = np.lexsort((member, group))
    members = np.asarray(member, dtype=np.int64)[order]
    sizes = np.bincount(group, minlength=groups)
    starts = np.cumsum(sizes) - sizes
    width = int(members.max(initial=0)) + 1
    number = np.full(groups, -1, dtype=np.int64)
    used = 0
    for place in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > place)
        before = np.maximum(number[longer], 0)
        _, codes = np.unique(before * width + members[starts[longer] + place], return_inverse=True)
        number[longer] = codes + used
        used += int(codes.max()) + 1
    there = np.flatnonzero(number >= 0)
    _, first, codes = np.unique(number[there], return_index=True, return_inverse=True)
    number[there] = codes
    return number, there[first]
