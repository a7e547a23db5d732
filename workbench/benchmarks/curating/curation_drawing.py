"""So many questions a type: a draw that more questions change only as far as they must."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workbench.core.sets import Shortfall, Stratum
from workbench.data.draws import in_drawn_order


class Drawable(NamedTuple):
    """A question that may be drawn.

    Attributes:
        dataset, key: What it is known by everywhere.
        type: The letter it counts for.
    """

    question: int
    dataset: str
    key: str
    type: str
    source: str | None


class Drawn(NamedTuple):
    """What a draw comes to.

    Attributes:
        taken: In the order they were drawn.
    """

    taken: list[Drawable]
    strata: tuple[Stratum, ...]
    shortfall: tuple[Shortfall, ...]


def draw_questions(
    questions: Sequence[Drawable], quotas: Mapping[str, int], seed: int, cap_source: int | None = None
) -> Drawn:
    """Draw up to each type's quota; nothing is filled from another type.

    Args:
        quotas: Type -> how many are wanted.
        cap_source: Most questions of one source in the whole draw; None for no limit. Those without a source have
            none in common.
    """
    taken: list[Drawable] = []
    types: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    capped: Counter[str] = Counter()
    for one in in_drawn_order(questions, seed, lambda one: (one.dataset, one.key)):
        if types[one.type] >= quotas.get(one.type, 0):
            continue
        if cap_source is not None and one.source is not None and sources[one.source] >= cap_source:
            capped[one.type] += 1
            continue
        types[one.type] += 1
        sources.update(() if one.source is None else (one.source,))
        taken.append(one)
    there = Counter(one.type for one in questions)
    return Drawn(
        taken=taken,
        strata=tuple(
            Stratum(name=name, population=there[name], quota=wanted, taken=types[name])
            for name, wanted in quotas.items()
        ),
        shortfall=tuple(
            Shortfall(
                stratum=name,
                of="questions",
                wanted=wanted,
                available=there[name],
                taken=types[name],
                why=_why(there[name], wanted, capped[name], cap_source),
            )
            for name, wanted in quotas.items()
            if types[name] < wanted
        ),
    )


def _why(available: int, wanted: int, capped: int, cap: int | None) -> str:
    if available < wanted and not capped:
        return f"the pool has no more than {available:,} of this type"
    return f"{capped:,} are of sources that have given {cap:,} already"
