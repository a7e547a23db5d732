"""Work on many rows in several transactions, so that whoever labels meanwhile does not wait long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import TypeVar

from workbench.model.progress import step

T = TypeVar("T")

ROWS = 500
"""Items, lines or events in one transaction."""


def some_at_a_time(values: Iterable[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    """The values in their order, at most so many together."""
    left = iter(values)
    with step("working through", len(values) if isinstance(values, Sized) else None) as advance:
        while some := list(islice(left, most)):
            yield some
            advance(len(some))
