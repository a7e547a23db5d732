"""Problems that say the same: near-duplicates by the cosine of their embeddings (EvolveCoder 2.1).

Of problems that are alike one stays. They are looked at in a random order, and one that is alike to a problem that
stays goes: no two that stay are alike, and each that goes is alike to one that stays. (Keeping one of every connected
group instead would also drop problems that are alike to none that stays, along a chain.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from workbench.benchmarks.evolution.draws import draw

if TYPE_CHECKING:
    from workbench.analysis.arrays import FloatArray, IntArray

NEIGHBOURS: Final = 10
"""Nearest neighbours whose mean cosine tells how crowded a problem's surroundings are (figure 2)."""

_ROWS: Final = 1024


class Similarities(Protocol):
    """Cosines of problems with each other."""

    def __len__(self) -> int:
        """How many problems there are."""
        ...

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        """The cosines of some problems with others, a row a place."""
        ...


class OfVectors:
    """Cosines of embeddings, computed when they are asked for.

    Args:
        vectors: An embedding a problem, of any length but 0.

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
        """The cosines of some problems with others."""
        found: FloatArray = self._unit[places] @ self._unit[of].T
        return found


class OfMatrix:
    """Cosines that somebody else has computed."""

    def __init__(self, matrix: FloatArray) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return len(self._matrix)

    def rows(self, places: IntArray, of: IntArray) -> FloatArray:
        """The cosines of some problems with others."""
        found: FloatArray = self._matrix[places][:, of]
        return found


class Duplicate(Struct, frozen=True):
    """A problem that goes: its place, the place of the one it is alike to, and their cosine."""

    place: int
    of: int
    similarity: float


Alike = dict[int, list[tuple[int, float]]]
"""For each problem that is alike to others: which, and how much."""


def alike(similarities: Similarities, threshold: float) -> Alike:
    """The problems whose cosine is greater than the threshold."""
    import numpy as np

    every = np.arange(len(similarities))
    found: Alike = {}
    for start in range(0, len(every), _ROWS):
        block = similarities.rows(every[start : start + _ROWS], every[start:])
        for row, column in zip(*np.nonzero(np.triu(block > threshold, 1)), strict=True):
            one, other, similarity = start + int(row), start + int(column), float(block[row, column])
            found.setdefault(one, []).append((other, similarity))
            found.setdefault(other, []).append((one, similarity))
    return found


def duplicates(found: Alike, problems: int, seed: int) -> list[Duplicate]:
    """The problems that go, in order.

    Args:
        found: Which are alike.
        problems: How many problems there are.
        seed: Of the order in which they are looked at.
    """
    order = list(range(problems))
    draw(seed, "duplicates").shuffle(order)
    gone: dict[int, Duplicate] = {}
    for place in order:
        if place not in gone:
            # None of these stays: whoever stays has sent those alike to it away before.
            for other, similarity in found.get(place, ()):
                gone.setdefault(other, Duplicate(other, place, similarity))
    return sorted(gone.values(), key=lambda one: one.place)


def neighbour_means(similarities: Similarities, places: Sequence[int]) -> list[float]:
    """Each problem's mean cosine to its ten nearest neighbours among the same places; none where there is but one."""
    import numpy as np

    of = np.array(places, dtype=np.int64)
    nearest = min(NEIGHBOURS, len(of) - 1)
    means: list[float] = []
    if nearest < 1:
        return means
    for start in range(0, len(of), _ROWS):
        block = similarities.rows(of[start : start + _ROWS], of).copy()
        block[np.arange(len(block)), start + np.arange(len(block))] = -np.inf
        top = np.partition(block, len(of) - nearest, axis=1)[:, -nearest:]
        means += top.mean(axis=1).tolist()
    return means


def overlaps(found: Alike, sources: Sequence[str]) -> dict[str, dict[str, float]]:
    """The share of each source's problems that are alike to one of another source (figure 1); 1 for itself."""
    sizes = Counter(sources)
    names = sorted(sizes)
    counts = {name: dict.fromkeys(names, 0) for name in names}
    for place, others in found.items():
        for name in {sources[other] for other, _ in others}:
            counts[sources[place]][name] += 1
    return {
        name: {other: 1.0 if other == name else count / sizes[name] for other, count in counts[name].items()}
        for name in names
    }
