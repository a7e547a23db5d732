"""Abbreviated ids: their ends, which people compare."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_ENOUGH: Final = 5
"""Fewest characters of an abbreviated id, if these are distinct."""


def ends(ids: Collection[str]) -> dict[str, str]:
    """Abbreviate each id to its end, after ``…``: as many characters for all as distinguish them, at least 5.

    An id that is only slightly longer is not abbreviated.
    """
    known = set(ids)
    longest = max(map(len, known), default=0)
    length = next(
        (length for length in range(_ENOUGH, longest) if len({one[-length:] for one in known}) == len(known)), longest
    )
    return {one: one if len(one) <= length + 1 else f"…{one[-length:]}" for one in known}
