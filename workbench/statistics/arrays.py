"""The array types this room speaks of, verdicts brought into the order of the items, and figures out of arrays."""

from __future__ import annotations

from math import isnan
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


def align(wanted: IntArray, keys: npt.ArrayLike, values: npt.ArrayLike, missing: np.generic) -> npt.NDArray[Any]:
    """The value of each wanted key.

    Args:
        wanted: Keys in any order.
        keys: The keys of ``values``, ascending.
        values: One value a key.
        missing: What a wanted key without a value gets; its type is the result's.
    """
    known = np.asarray(keys, dtype=np.int64)
    if np.array_equal(known, wanted):
        return np.array(values, dtype=missing.dtype)
    found = np.full(len(wanted), missing)
    if len(known) and len(wanted):
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        there = known[place] == wanted
        found[there] = np.asarray(values, dtype=missing.dtype)[place[there]]
    return found


def defined(value: float) -> float | None:
    """A figure as it is reported; None for NaN."""
    return None if isnan(value) else float(value)
