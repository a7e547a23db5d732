"""Who is meant for which item: combinations of people in turn, so that no pair keeps a kind of item to itself."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from math import comb
from random import Random

from msgspec import Struct

FEW = 10_000
"""Up to so many combinations are all listed before they are shuffled; of more, some are drawn."""


class SlotSubject(Struct, frozen=True, kw_only=True):
    """An item that slots are opened on.

    Attributes:
        stratum: Items of one kind; combinations go round in each on its own.
        missing: How many slots are opened.
        taken: People who are on the item already.
    """

    stratum: Hashable
    missing: int
    taken: frozenset[int] = frozenset()


def in_turn(people: Sequence[int], size: int, seed: str) -> Iterator[tuple[int, ...]]:
    """Combinations of ``size`` people, each once, in a seeded order in which everybody comes up equally often.

    A combination is followed by those that turning the circle of people makes of it, which use everybody alike.
    """
    random = Random(seed)
    circle = random.sample(list(people), len(people))
    seen = set[tuple[int, ...]]()
    for first in _shuffled(len(circle), size, random):
        for shift in range(len(circle)):
            turned = tuple(sorted((place + shift) % len(circle) for place in first))
            if turned not in seen:
                seen.add(turned)
                yield tuple(circle[place] for place in turned)


def _shuffled(people: int, size: int, random: Random) -> Iterator[tuple[int, ...]]:
    if comb(people, size) <= FEW:
        every = list(combinations(range(people), size))
        yield from random.sample(every, len(every))
    else:
        while True:
            yield tuple(random.sample(range(people), size))


def meant_for(
    subjects: Sequence[SlotSubject], people: Sequence[int], size: int, room: Mapping[int, int], seed: str
) -> list[tuple[int, ...]]:
    """The people that each subject's new slots are meant for; fewer than slots where nobody has room left.

    Within a stratum every combination comes up equally often (the difference is at most one), and the next stratum
    goes on where the last one ended, so that the same holds over all of them. Room that runs out bends this.

    Args:
        subjects: In the order in which they will be served, so that limited room is spread over the strata.
        people: Who may be drawn, at least ``size``.
        size: How many people an item has in the end.
        room: How many items a person may still be drawn for; people who are not in it have no limit.
        seed: The same seed draws the same.
    """
    turns = list(islice(in_turn(people, size, seed), len(subjects)))
    at = _starts(subjects)
    left = dict(room)
    drawn: list[tuple[int, ...]] = []
    turns = _with_room(turns, left)
    for subject in subjects:
        chosen: tuple[int, ...] = ()
        if turns:
            turn = turns[at[subject.stratum] % len(turns)]
            chosen = tuple(person for person in turn if person not in subject.taken)[: subject.missing]
        if len(chosen) < subject.missing:
            chosen = _whoever_has_room(people, subject, left)
        at[subject.stratum] += 1
        drawn.append(chosen)
        if _use(left, chosen):
            turns = _with_room(turns, left)
    return drawn


def _starts(subjects: Sequence[SlotSubject]) -> dict[Hashable, int]:
    sizes: dict[Hashable, int] = {}
    for subject in subjects:
        sizes[subject.stratum] = sizes.get(subject.stratum, 0) + 1
    starts, before = {}, 0
    for stratum, size in sizes.items():
        starts[stratum] = before
        before += size
    return starts


def _with_room(turns: list[tuple[int, ...]], left: Mapping[int, int]) -> list[tuple[int, ...]]:
    full = {person for person, room in left.items() if room <= 0}
    return [turn for turn in turns if not full.intersection(turn)]


def _whoever_has_room(people: Sequence[int], subject: SlotSubject, left: Mapping[int, int]) -> tuple[int, ...]:
    free = [person for person in people if person not in subject.taken and left.get(person, 1) > 0]
    return tuple(sorted(free, key=lambda person: -left.get(person, 0))[: subject.missing])


def _use(left: dict[int, int], chosen: Sequence[int]) -> bool:
    """Take one item off each person's room; whether somebody's is used up now."""
    for person in chosen:
        if person in left:
            left[person] -= 1
    return any(left.get(person, 1) <= 0 for person in chosen)
