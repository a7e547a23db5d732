"""Work on many rows in several transactions, so that whoever labels meanwhile does not wait long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from workbench.core.errors import StoreError
from workbench.core.progress import step

T = TypeVar("T")

ROWS = 500
"""Items, lines or events in one transaction."""


class Parts:
    """How much of such work is stored already, said where the rest can't be.

    Args:
        what: What is counted, in the plural.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._done = 0

    @contextmanager
    def storing(self, count: int) -> Iterator[None]:
        """Around one transaction.

        Raises:
            StoreError: It failed; the message says also what those before it have stored.
        """
        try:
            yield
        except StoreError as error:
            if self._done:
                error.message += f" What the first {self._done:,} {self._what} say is stored; the rest is not."
                error.hint = f"{error.hint} The same command goes on with the rest.".strip()
            raise
        self._done += count


def some_at_a_time(values: Iterable[T], most: int = ROWS) -> Iterator[Sequence[T]]:
    """The values in their order, at most so many together."""
    left = iter(values)
    with step("working through", len(values) if isinstance(values, Sized) else None) as advance:
        while some := list(islice(left, most)):
            yield some
            advance(len(some))
