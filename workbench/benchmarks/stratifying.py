"""Stratified samples: so many of all, divided among strata in proportion to their sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from workbench.benchmarks.apportioning import apportion, largest_remainder
from workbench.core.sets import Stratum
from workbench.data.draws import first_drawn

T = TypeVar("T")


def sample(
    sizes: Mapping[str, int],
    count: int,
    members: Callable[[str], Iterable[T]],
    seed: int,
    key: Callable[[T], tuple[str | int, ...]],
) -> dict[str, list[T]]:
    """As many of each stratum as it is apportioned, the first in drawn order; all where there are no more.

    Args:
        sizes: Stratum -> how many members it has.
        count: How many of all strata together.
        members: Gives a stratum's members, one after the other.
        key: What a member is known by everywhere.
    """
    taken = apportion(sizes, count, sizes)
    return {name: first_drawn(members(name), taken[name], seed, key) for name in sorted(sizes)}


def strata(sizes: Mapping[str, int], count: int) -> tuple[Stratum, ...]:
    """What `sample` takes of each stratum."""
    quotas, taken = largest_remainder(sizes, count), apportion(sizes, count, sizes)
    return tuple(
        Stratum(name=name, population=sizes[name], quota=quotas[name], taken=taken[name]) for name in sorted(sizes)
    )
