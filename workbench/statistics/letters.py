"""Which of several things tests can't tell apart, as groups and as letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_letters

import numpy as np

from workbench.statistics.arrays import BoolArray


def alike_groups(differ: BoolArray) -> list[tuple[int, ...]]:
    """The largest groups no two of which differ; a thing is in every group it fits into.

    They are the maximal cliques of the graph of pairs that don't differ, which is what inserting and absorbing gives.
    Sources: Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal of
    Computational and Graphical Statistics 13, 2004; Bron and Kerbosch, "Algorithm 457: finding all cliques of an
    undirected graph", Communications of the ACM 16, 1973.

    Args:
        differ: Whether two things differ, symmetric, things x things.

    Returns:
        Positions in ascending order; groups with the first things first.
    """
    things = set(range(len(differ)))
    fits = [things - {thing} - set(np.flatnonzero(differ[thing]).tolist()) for thing in sorted(things)]
    return sorted(tuple(sorted(group)) for group in _cliques(fits, set(), things, set())) if things else []


def letters(groups: Sequence[Sequence[int]], things: int) -> list[str]:
    """Each thing's letters, one for every group it is in; past the 52nd group a number in brackets."""
    names = [ascii_letters[place] if place < len(ascii_letters) else f"({place + 1})" for place in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if thing in group) for thing in range(things)
    ]


def _cliques(fits: Sequence[set[int]], chosen: set[int], open_: set[int], done: set[int]) -> Iterator[set[int]]:
    """Groups that hold the chosen, more of the open and none of the done; the pivot is Tomita's."""
    if not open_ and not done:
        yield chosen
        return
    pivot = max(open_ | done, key=lambda thing: len(fits[thing] & open_))
    for thing in sorted(open_ - fits[pivot]):
        yield from _cliques(fits, chosen | {thing}, open_ & fits[thing], done & fits[thing])
        open_, done = open_ - {thing}, done | {thing}
