"""Choose the five solutions that a model is shown (EvolveCoder 2.3, and the functions its authors released).

A solution is represented by its pass vector: a string with one character for each test, ``"1"`` for a pass. The
authors' functions reject fewer than five solutions and fail if they choose fewer than five. Here fewer are allowed, and
the caller sees their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

from workbench.coding.formats import read_vectors
from workbench.coding.records.evolution import Mode, Objective, Representatives
from workbench.core.item import Refusal
from workbench.core.options import grouped

SHOWN_SOLUTIONS: Final = 5
_BEST_SOLUTIONS: Final = 2
_MIDDLE: Final = (0.4, 0.9)
"""Range of pass rates of the three diverse solutions: at least the first, less than the second."""
_MIN_PASS_RATE: Final = 0.1
"""If too few are in that range, three random solutions with a higher pass rate than this are used."""


def choose_adversarial(vectors: Sequence[str], draw: Random, objective: Objective = "released") -> list[int]:
    """Return the two solutions with the highest pass rates, and the three others that disagree most with one another.

    Args:
        vectors: One pass vector for each solution, all of the same length.
        draw: Draws solutions if fewer than three are in the range of pass rates, as the released code does.
        objective: The criterion for the three solutions.

    Returns:
        Positions in ``vectors``, ascending; fewer than five if no more are eligible.
    """
    rates = [vector.count("1") / len(vector) if vector else 0.0 for vector in vectors]
    best = sorted(range(len(vectors)), key=lambda place: -rates[place])[:_BEST_SOLUTIONS]
    others = [place for place in range(len(vectors)) if place not in best]
    if objective != "released":
        return sorted([*best, *_most_diverse(vectors, others, by_sum=objective == "max-sum")])
    low, high = _MIDDLE
    middle = [place for place in others if low <= rates[place] < high]
    if len(middle) >= SHOWN_SOLUTIONS - _BEST_SOLUTIONS:
        return sorted([*best, *_most_diverse(vectors, middle, by_sum=False)])
    some = [place for place in others if rates[place] > _MIN_PASS_RATE]
    return sorted([*best, *draw.sample(some, min(SHOWN_SOLUTIONS - _BEST_SOLUTIONS, len(some)))])


def choose_discriminative(vectors: Sequence[str], draw: Random) -> list[int]:
    """Return the five solutions that the tests distinguish least.

    A group of solutions with the same vector is drawn with a probability that grows with its size. Five of its members
    are chosen at random; a smaller group is completed by the solutions nearest to it. If no two solutions have the same
    vector, the five with the least sum of distances are chosen.

    Args:
        vectors: One pass vector for each solution, all of the same length.
        draw: Draws the group, and among solutions at equal distance.

    Returns:
        Positions in ``vectors``, ascending; all if there are at most five.
    """
    by_vector = grouped((vector, place) for place, vector in enumerate(vectors))
    groups = [group for group in by_vector.values() if len(group) > 1]
    if not groups:
        return _least_distant(vectors)
    group = draw.choices(groups, weights=[len(group) for group in groups])[0]
    if len(group) >= SHOWN_SOLUTIONS:
        return sorted(draw.sample(group, SHOWN_SOLUTIONS))
    return sorted([*group, *_nearest_to_group(vectors, group, SHOWN_SOLUTIONS - len(group), draw)])


def distance(first: str, second: str) -> int:
    return sum(one != other for one, other in zip(first, second, strict=True))


def _most_diverse(vectors: Sequence[str], places: list[int], *, by_sum: bool) -> list[int]:
    import numpy as np

    if len(places) <= SHOWN_SOLUTIONS - _BEST_SOLUTIONS:
        return places
    bits = np.array([[character == "1" for character in vectors[place]] for place in places], dtype=np.int64)
    apart = bits @ (1 - bits).T + (1 - bits) @ bits.T
    scale = 3 * bits.shape[1] + 1
    found, most = (0, 0, 0), -1
    for first in range(len(places) - 2):
        rest = apart[first + 1 :, first + 1 :]
        to_rest = apart[first, first + 1 :]
        sums = to_rest[:, None] + to_rest[None, :] + rest
        worth = sums if by_sum else np.minimum(np.minimum(to_rest[:, None], to_rest[None, :]), rest) * scale + sums
        rows, columns = np.triu_indices(len(rest), 1)
        best = int(np.argmax(worth[rows, columns]))
        if worth[rows[best], columns[best]] > most:
            most = int(worth[rows[best], columns[best]])
            found = (first, first + 1 + int(rows[best]), first + 1 + int(columns[best]))
    return [places[place] for place in found]


def _least_distant(vectors: Sequence[str]) -> list[int]:
    totals = [sum(distance(vector, other) for other in vectors) for vector in vectors]
    return sorted(sorted(range(len(vectors)), key=lambda place: totals[place])[:SHOWN_SOLUTIONS])


def _nearest_to_group(vectors: Sequence[str], group: Sequence[int], wanted: int, draw: Random) -> list[int]:
    at: dict[int, list[int]] = defaultdict(list)
    for place, vector in enumerate(vectors):
        if place not in group:
            at[distance(vector, vectors[group[0]])].append(place)
    found: list[int] = []
    for _, places in sorted(at.items()):
        missing = wanted - len(found)
        found += places if len(places) <= missing else draw.sample(places, missing)
    return found


# -- The five solutions of a problem to show to a model, for pass vectors in a file.


def representatives(
    path: Path, mode: Mode, *, objective: Objective = "released", seed: int = 0
) -> Iterator[Representatives | Refusal]:
    """Yield the solutions chosen for each case of a file, in order, and a `Refusal` for each rejected line.

    Args:
        objective: The criterion of an adversarial step for three solutions in addition to the two best.
        seed: Seed of each case's draws; 0 gives the results of the released functions after ``random.seed(0)``.

    Raises:
        FormatError: The file can't be read.
    """
    for line, case in read_vectors(path):
        if isinstance(case, Refusal):
            yield case
            continue
        chance = Random(seed)
        chosen = (
            choose_adversarial(case.vectors, chance, objective)
            if mode == "adversarial"
            else choose_discriminative(case.vectors, chance)
        )
        yield Representatives(
            name=case.name or str(line),
            selected=tuple(chosen),
            mode=mode,
            objective=objective if mode == "adversarial" else None,
            seed=seed,
            solutions=len(case.vectors),
        )
