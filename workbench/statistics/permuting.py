"""The exact paired permutation test, counted from the few angles of a Fourier transform that add anything."""

from __future__ import annotations

from math import log, pi

import numpy as np

from workbench.statistics.arrays import FloatArray, IntArray

_SMALLEST_P = 1e-12
"""Below this the sums of a Fourier transform are rounding."""

_NOTHING = log(1e-19)
"""Angles whose product is less than this, taken together, move no value by 1e-16."""

_CELLS = 1_024
"""Into so many stretches of angles the circle is cut at first, and each that is kept into `_PARTS`, down to angles."""

_PARTS = 4


def permutation(sums: IntArray) -> float:
    """The exact two-sided paired permutation test that swaps A and B in all items of a question at once.

    P(|sum ± S_g| >= |sum S_g|) over all choices of signs. The sum's characteristic function is the product of
    cos(S_g t), and its inverse Fourier transform, summed over the values that count, is the product times Dirichlet's
    kernel, summed over the angles t. Angles where the product is nothing are left out: with thousands of questions
    that is nearly everywhere. With one item a question it is McNemar's test. Values below 1e-12 are given as that.
    Source: Fisher, "The Design of Experiments", 1935, section 21, with questions as the units.

    Args:
        sums: S_g, the items of a question only A judges rightly less those only B does.
    """
    sizes, counts = np.unique(np.abs(sums[sums != 0]).astype(np.int64), return_counts=True)
    observed, largest = abs(int(sums.sum())), int((sizes * counts).sum())
    if observed == 0:
        return 1.0
    points = 1 << (2 * largest).bit_length()
    angle = angles(sizes, counts, points)
    transform = np.where((angle == 0) | (angle == points // 2), 1.0, 2.0)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        transform *= np.cos(_turned(size * angle, points)) ** count
    chance = 2 * float(transform @ _kernel(angle, observed, largest, points)) / points
    return float(np.clip(chance, _SMALLEST_P, 1))


def angles(sizes: IntArray, counts: IntArray, points: int) -> IntArray:
    """The angles j · 2π / points, 0 <= j <= points / 2, whose product of cos(size · angle) ** count is not nothing.

    Stretches of angles are left out as soon as no angle of theirs could add anything, and cut into parts else.

    Args:
        sizes: Whole numbers, greater than 0.
        counts: How often each is a factor.
        points: A power of 2.
    """
    last = points // 2
    width = max(1, last // _CELLS)
    first = np.arange(0, last + 1, width)
    while True:
        first = first[_greatest(first, width, sizes, counts, points) >= _NOTHING]
        if width == 1:
            return first
        parts = min(_PARTS, width)
        width //= parts
        first = (first[:, None] + np.arange(parts) * width).ravel()
        first = first[first <= last]


def _greatest(first: IntArray, width: int, sizes: IntArray, counts: IntArray, points: int) -> FloatArray:
    """The logarithm of a bound of the product in each stretch of angles; the product itself for single ones."""
    found = np.zeros(len(first))
    middle, reach = first + (width - 1) / 2, (width - 1) / 2
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        # In half turns: |cos| is 1 at whole numbers, and as far from the nearest one as the whole stretch is at least.
        turned = size * middle * (2 / points)
        away = np.maximum(np.abs(turned - np.rint(turned)) - size * reach * (2 / points), 0.0)
        found += count * np.log(np.cos(pi * away))
    return found


def _kernel(angle: IntArray, first: int, last: int, points: int) -> FloatArray:
    """The sum of cos(k t) over k from ``first`` to ``last``."""
    found = np.full(len(angle), float(last - first + 1))
    turning = angle > 0
    half = angle[turning]
    # Twice the points make half the angle; whole numbers keep it exact.
    ends = [np.sin(_turned((2 * k + 1) * half, 2 * points)) for k in (last, first - 1)]
    found[turning] = (ends[0] - ends[1]) / (2 * np.sin(half * (pi / points)))
    return found


def _turned(place: IntArray, points: int) -> FloatArray:
    """The angle that so many parts of a full turn make."""
    return np.asarray(place % points * (2 * pi / points), dtype=np.float64)
