"""Which tests are shown, and which stay (EvolveCoder 2.3, and the functions its authors have released).

A test is its column: a string with a character a solution, ``"1"`` for a pass. Thresholds are shares of the solutions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

from workbench.coding.records.evolution import EvolutionSettings, Snapshot


def columns(vectors: Sequence[str]) -> list[str]:
    """The columns of a pass matrix of which ``vectors`` are the rows."""
    return ["".join(column) for column in zip(*vectors, strict=True)]


def rate(column: str) -> float:
    """The share of the solutions that pass."""
    return column.count("1") / len(column)


def splits(column: str) -> bool:
    """At least one solution passes, and at least one fails."""
    return "1" in column and "0" in column


def shown_to_beat(tests: Sequence[str], settings: EvolutionSettings) -> list[int]:
    """Places of the tests that an adversarial step shows.

    Tests that fewer than a tenth pass are left out, as released; those that nearly all pass, as the paper has it, where
    a threshold says what that is and others are left.
    """
    likely = [place for place, column in enumerate(tests) if rate(column) >= settings.least]
    if settings.easiest is None:
        return likely
    return [place for place in likely if rate(tests[place]) < settings.easiest] or likely


def shown_to_split(tests: Sequence[str], settings: EvolutionSettings, draw: Random) -> list[int]:
    """Places of the tests that a discriminative step shows: of those passed by the same solutions one, drawn."""
    return sorted(draw.choice(group) for group in _alike(tests, settings.least))


def stays(round: int, vectors: Sequence[str], settings: EvolutionSettings, draw: Random) -> Snapshot:
    """What stays of a problem's tests after a round, and whether the problem does.

    Args:
        vectors: A pass vector a solution over all tests up to the round.
        draw: Draws which of too many alike tests stay.
    """
    tests = columns(vectors)
    groups = _alike(tests, settings.least)
    kept = sorted(
        place
        for group in groups
        for place in (group if len(group) <= settings.most_alike else draw.sample(group, settings.most_alike))
    )
    eligible = sum(map(len, groups))
    return Snapshot(
        round=round,
        kept=tuple(kept),
        below=len(tests) - eligible,
        alike=eligible - len(kept),
        left_out=_left_out(kept, vectors, settings),
    )


def shares_passed(vectors: Sequence[str], kept: Sequence[int]) -> list[float]:
    """The share of kept tests that each solution passes; there is at least one."""
    return [sum(vector[place] == "1" for place in kept) / len(kept) for vector in vectors]


def perfect(vectors: Sequence[str], kept: Sequence[int]) -> int:
    """How many solutions pass every kept test."""
    return sum(all(vector[place] == "1" for place in kept) for vector in vectors)


def _left_out(kept: Sequence[int], vectors: Sequence[str], settings: EvolutionSettings) -> str | None:
    if len(kept) < settings.fewest:
        return "few_tests"
    return "too_easy" if perfect(vectors, kept) / len(vectors) > settings.most_perfect else None


def _alike(tests: Sequence[str], least: float) -> list[list[int]]:
    """Places of the tests that enough solutions pass, grouped by who passes, in the order of their first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, column in enumerate(tests):
        if rate(column) >= least:
            groups[column].append(place)
    return list(groups.values())
