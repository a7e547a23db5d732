"""p-values of many tests at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.statistics.arrays import FloatArray, IntArray


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
