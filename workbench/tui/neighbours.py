"""The list that an open item or problem stands in."""

from __future__ import annotations

from collections.abc import Sequence


def index_of(ids: Sequence[int], wanted: int) -> int | None:
    """Where an id stands; None where it doesn't."""
    try:
        return ids.index(wanted)
    except ValueError:
        return None
