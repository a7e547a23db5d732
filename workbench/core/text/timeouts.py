"""Items that had no more time, in words."""

from __future__ import annotations

from collections.abc import Mapping


def timeout_words(counts: Mapping[str, int]) -> str:
    """How many there are and which time was over; "" where there are none.

    Args:
        counts: By ``cpu``, ``wall`` or ``unknown``.
    """
    whole = sum(counts.values())
    if not whole:
        return ""
    parts = ", ".join(f"{count:,} {cause}" for cause, count in counts.items())
    return f"timeouts: {whole:,} {'item' if whole == 1 else 'items'} had no more time ({parts})"
