"""Texts that are alike: which pairs are, by the cosine of their embeddings, and which of them stay.

Of texts that are alike one stays. They are looked at in an order, and one that is alike to a text that stays goes: no
two that stay are alike, and each that goes is alike to one that stays. (Keeping one of every connected group instead
would also drop texts that are alike to none that stays, along a chain.)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from workbench.statistics.arrays import FloatArray, IntArray

ROWS: Final = 1024
"""Texts whose cosines with all others are held at a time."""


class Similarities(Protocol):
    """Cosines of texts with each other."""

    def __len__(self) -> int:
        """How many texts there are."""
        ...

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        """The cosines of some texts with others, a row a place."""
        ...


class OfVectors:
    """Cosines of embeddings, computed when they are asked for.

    Args:
        vectors: An embedding a text, of any length but 0.

    Raises:
        ValueError: One has no direction: it is 0, or not finite.
    """

    def __init__(self, vectors: FloatArray) -> None:
        import numpy as np

        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
            raise ValueError(f"vector {int(np.argmax(~(np.isfinite(lengths) & (lengths > 0)))) + 1} has no direction")
        self._unit = vectors / lengths

    def __len__(self) -> int:
        return len(self._unit)

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        """The cosines of some texts with others."""
        found: FloatArray = self._unit[places] @ self._unit[of].T
        return found


class OfMatrix:
    """Cosines that somebody else has computed."""

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return len(self._matrix)

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        """The cosines of some texts with others."""
        found: FloatArray = self._matrix[places][:, of]
        return found


class Duplicate(Struct, frozen=True):
    """A text that goes: its place, the place of the one it is alike to, and how much."""

    place: int
    of: int
    similarity: float


Alike = dict[int, list[tuple[int, float]]]
"""For each text that is alike to others: which, and how much."""


def alike(similarities: Similarities, threshold: float) -> Alike:
    """The texts whose cosine is greater than the threshold."""
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


def thinned(found: Alike, order: Iterable[int]) -> list[Duplicate]:
    """The texts that go, by place.

    Args:
        found: Which are alike.
        order: All places, in the order in which they have a right to stay.
    """
    gone: dict[int, Duplicate] = {}
    for place in order:
        if place not in gone:
            # None of these stays: whoever stays has sent those alike to it away before.
            for other, similarity in found.get(place, ()):
                gone.setdefault(other, Duplicate(other, place, similarity))
    return sorted(gone.values(), key=lambda one: one.place)
