"""Work on many rows in several transactions, so that whoever labels meanwhile does not wait long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

ROWS = 500
"""Items, lines or events in one transaction."""


def some_at_a_time(values: Iterable[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    """The values in their order, at most so many together."""
    left = iter(values)
    while some := list(islice(left, most)):
        yield some
