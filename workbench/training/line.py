"""What waits to be judged: so many characters at most, and so many items where that is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from workbench.core.errors import UsageError
from workbench.core.verdict import VerifierInput

MOST_CHARACTERS = 256 << 20
"""Characters at most of the items that wait."""


T = TypeVar("T")


class Busy(Exception):
    """There is no room for more items that wait, or no time."""


class WaitingItems:
    """Items that wait.

    Args:
        most: So many at most, and of one request; None for as many as there is room for their texts.

    Attributes:
        count: How many wait now.
    """

    def __init__(self, most: int | None = None) -> None:
        self.count = 0
        self._most = most
        self._characters = 0

    def require_fit(self, items: Sequence[VerifierInput]) -> None:
        """Refuse a request that there will never be room for.

        Raises:
            UsageError: It has more items, or longer texts, than ever wait at a time.
        """
        if self._most is not None and len(items) > self._most:
            raise UsageError(f"{len(items):,} items are too many for one request.", f"At most: {self._most:,}.")
        if (characters := sum(map(length, items))) > MOST_CHARACTERS:
            raise UsageError(f"{characters:,} characters are too many.", f"At most: {MOST_CHARACTERS:,}.")

    @contextmanager
    def room(self, items: Sequence[VerifierInput]) -> Iterator[None]:
        """Have items wait for as long as the block takes.

        Raises:
            Busy: There is no room for all of them; none waits.
        """
        characters = sum(map(length, items))
        full = self._most is not None and self.count + len(items) > self._most
        if items and (full or self._characters + characters > MOST_CHARACTERS):
            raise Busy
        self.count += len(items)
        self._characters += characters
        try:
            yield
        finally:
            self.count -= len(items)
            self._characters -= characters


def length(item: VerifierInput) -> int:
    """Characters of an item."""
    return len(item.question) + len(item.reference) + len(item.completion)


async def all_of(waited: Sequence[Awaitable[T]]) -> list[T]:
    """All results, once nothing is under way any more; the first failure otherwise."""
    results = await asyncio.gather(*waited, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
