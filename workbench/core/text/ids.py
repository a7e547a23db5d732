"""Abbreviates ids to their ends, which is what people compare."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

_ENOUGH: Final = 5
"""Minimum characters of an abbreviated id."""


def abbreviate_ids(ids: Collection[str]) -> dict[str, str]:
    """Abbreviate each id to ``…`` and its last characters: as many as distinguish all ids, at least 5.

    An id that is only slightly longer is not abbreviated.
    """
    known = set(ids)
    longest = max(map(len, known), default=0)
    length = next(
        (length for length in range(_ENOUGH, longest) if len({one[-length:] for one in known}) == len(known)), longest
    )
    return {one: one if len(one) <= length + 1 else f"…{one[-length:]}" for one in known}
