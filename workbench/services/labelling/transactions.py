"""Work on many rows in several transactions, so that whoever labels meanwhile does not wait long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

ROWS = 500
"""Items, lines or events in one transaction."""


def some_at_a_time(values: Sequence[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    """The values in their order, at most so many together."""
    return (values[start : start + most] for start in range(0, len(values), most))
