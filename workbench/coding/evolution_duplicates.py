"""Problems that say the same: near-duplicates by the cosine of their embeddings (EvolveCoder 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from workbench.data.alike import ROWS, Alike, Duplicate, Similarities, thinned
from workbench.data.draws import draw

NEIGHBOURS: Final = 10
"""Nearest neighbours whose mean cosine tells how crowded a problem's surroundings are (figure 2)."""


def duplicates(found: Alike, problems: int, seed: int) -> list[Duplicate]:
    """The problems that go, in order.

    Args:
        found: Which are alike.
        problems: How many problems there are.
        seed: Of the order in which they are looked at.
    """
    order = list(range(problems))
    draw(seed, "duplicates").shuffle(order)
    return thinned(found, order)


def neighbour_means(similarities: Similarities, places: Sequence[int]) -> list[float]:
    """Each problem's mean cosine to its ten nearest neighbours among the same places; none where there is but one."""
    import numpy as np

    of = np.array(places, dtype=np.int64)
    nearest = min(NEIGHBOURS, len(of) - 1)
    means: list[float] = []
    if nearest < 1:
        return means
    for start in range(0, len(of), ROWS):
        block = similarities.rows(of[start : start + ROWS], of).copy()
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
