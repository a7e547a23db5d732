"""Sums by place, and division that is undefined where there is nothing to divide by."""

from __future__ import annotations

import numpy as np

from workbench.statistics.arrays import BoolArray, FloatArray, IntArray


def divided(above: FloatArray, below: FloatArray, *, where: BoolArray | None = None) -> FloatArray:
    """``above / below``; NaN where ``below`` is not positive, or where ``where`` does not hold."""
    above, below = np.broadcast_arrays(above, below)
    quotient: FloatArray = np.full(above.shape, np.nan)
    np.divide(above, below, out=quotient, where=below > 0 if where is None else where)
    return quotient


def summed(place: IntArray, values: FloatArray, places: int) -> FloatArray:
    """The sum of the values at each place, from 0 to ``places - 1``."""
    sums: FloatArray = np.asarray(np.bincount(place, weights=values, minlength=places), dtype=np.float64)
    return sums
