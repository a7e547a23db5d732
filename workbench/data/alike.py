"""Finds near-duplicates by the cosine of embeddings, decides which of them to keep, and draws reproducibly.

Of similar texts one is kept. Texts are processed in order, and a text similar to a kept one is dropped: no two kept
texts are similar, and each dropped text is similar to a kept one. (Keeping one text of each connected group would also
drop texts that are only linked to it by a chain.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from heapq import nsmallest
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray, IntArray


ROWS: Final = 1024
"""Number of texts whose similarities with all others are in memory at once."""


class Similarities:
    """Cosine similarities of texts with each other, computed from their embeddings when they are read.

    Args:
        numbers: One embedding for each text, not of length 0.

    Raises:
        ValueError: An embedding is 0 or not finite.
    """

    def __init__(self, numbers: FloatArray) -> None:
        import numpy as np

        lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            place = int(np.argmax(~(np.isfinite(lengths) & (lengths > 0)))) + 1
            raise ValueError(f"vector {place} has no direction")
        self._numbers = numbers / lengths

    def __len__(self) -> int:
        return len(self._numbers)

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        found: FloatArray = self._numbers[places] @ self._numbers[of].T
        return found


class Duplicate(Struct, frozen=True):
    """A dropped text: its position, the position of the kept text it is similar to (``of``), and their similarity."""

    place: int
    of: int
    similarity: float


Alike = dict[int, list[tuple[int, float]]]
"""The positions of similar texts and their similarities, by position of a text."""


def find_similar(similarities: Similarities, threshold: float) -> Alike:
    import numpy as np

    every = np.arange(len(similarities))
    found: Alike = {}
    for start in range(0, len(every), ROWS):
        block = similarities.rows(every[start : start + ROWS], every[start:])
        for row, column in zip(*np.nonzero(np.triu(block > threshold, 1)), strict=True):
            one, other, similarity = start + int(row), start + int(column), float(block[row, column])
            found.setdefault(one, []).append((other, similarity))
            found.setdefault(other, []).append((one, similarity))
    return found


def find_dropped(found: Alike, order: Iterable[int]) -> list[Duplicate]:
    """Return the texts to drop so that no two kept texts are similar, sorted by position.

    Args:
        found: Each text's position, with the positions of similar texts and the similarities.
        order: All positions; the earlier of two similar texts is kept.
    """
    gone: dict[int, Duplicate] = {}
    for place in order:
        if place not in gone:
            # Texts similar to a kept one have been dropped, so none of these is kept.
            for other, similarity in found.get(place, ()):
                gone.setdefault(other, Duplicate(other, place, similarity))
    return sorted(gone.values(), key=lambda one: one.place)


# -- Reproducible randomness: every draw has a separate seed, derived from its purpose.


T = TypeVar("T")


def random_generator(seed: int, *parts: str | int) -> Random:
    """Return a random number generator for one purpose.

    Args:
        seed: Seed of the evolution or benchmark.
        parts: What the random numbers are for: the problem's id, the round, the step.
    """
    return Random(int.from_bytes(_digest(seed, *parts), "big"))


def in_drawn_order(values: Iterable[T], seed: int, key: Callable[[T], tuple[str | int, ...]]) -> list[T]:
    """Shuffle values reproducibly: by ascending hash of the seed and each value's key.

    The first n values are a random sample. Adding values does not change the order of the others.

    Args:
        key: Returns a value's key, the same in every database (data set name and id, not row number).
    """
    return sorted(values, key=lambda value: _digest(seed, *key(value)))


def first_drawn(values: Iterable[T], count: int, seed: int, key: Callable[[T], tuple[str | int, ...]]) -> list[T]:
    """Return the first ``count`` values of `in_drawn_order` without holding all values in memory."""
    return nsmallest(count, values, key=lambda value: _digest(seed, *key(value)))


def drawn_places(names: Sequence[str], count: int, seed: int, *parts: str | int) -> list[int]:
    """Return the positions of the names that come first in `in_drawn_order` for the keys ``(*parts, name)``."""
    # An inlined `_digest`: a million names are ranked.
    contents = [name.encode("utf-8", "surrogatepass") for name in names]
    shared = b"".join(map(_prefixed_content, (seed, *parts)))
    begun = {size: _digest_of(shared + _size_prefix(size)) for size in set(map(len, contents))}
    ranks = []
    for content in contents:
        one = begun[len(content)].copy()
        one.update(content)
        ranks.append(one.digest())
    return [place for _, place in nsmallest(count, zip(ranks, range(len(ranks)), strict=True))]


def drawn_number(seed: int, *parts: str | int) -> int:
    return int.from_bytes(_digest(seed, *parts)[:3], "big")


def _digest(seed: int, *parts: str | int) -> bytes:
    return _digest_of(b"".join(map(_prefixed_content, (seed, *parts)))).digest()


def _digest_of(content: bytes) -> blake2b:
    return blake2b(content, digest_size=16)


def _prefixed_content(part: str | int) -> bytes:
    content = str(part).encode("utf-8", "surrogatepass")
    return _size_prefix(len(content)) + content


def _size_prefix(size: int) -> bytes:
    return size.to_bytes(8, "big")
