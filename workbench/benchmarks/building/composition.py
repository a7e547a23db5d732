"""What a set is made of, counted: types, domains, sources, models, and models that give nothing to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from workbench.core.breakdown import NAMELESS
from workbench.core.sets import ItemMember
from workbench.core.taxonomy import UNTYPED
from workbench.measuring.columns import Columns

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray


class Composition(TypedDict):
    """Parts of a `SetReport`."""

    questions: int
    tuples: int
    types: dict[str, int]
    domains: dict[str, int]
    sources: dict[str, int]
    models: dict[str, int]
    missing_models: tuple[str, ...]
    correct: int | None
    always_incorrect: float | None


def composition(known: Columns, members: Sequence[ItemMember]) -> Composition:
    """What the items of a set are; types as they stood when it was frozen."""
    rows = places(known, [one.item for one in members])
    gold = [one.gold for one in members if one.gold is not None]
    return Composition(
        questions=len(set(known.question[rows].tolist())),
        tuples=len(members),
        types=dict(sorted(Counter(one.subtype[0] if one.subtype else UNTYPED for one in members).items())),
        domains=_counts(known, "domain", rows),
        sources=_counts(known, "source", rows),
        models=_counts(known, "model", rows),
        missing_models=_missing_models(known, rows),
        correct=sum(gold) if gold else None,
        always_incorrect=1 - sum(gold) / len(gold) if gold else None,
    )


def places(known: Columns, items: Sequence[int]) -> IntArray:
    """Where items stand in the columns."""
    import numpy as np

    found: IntArray = np.searchsorted(known.item, np.asarray(items, dtype=np.int64))
    return found


def _counts(known: Columns, field: str, rows: IntArray) -> dict[str, int]:
    import numpy as np

    groups = known.groups(field)
    counts = np.bincount(groups.code[rows], minlength=len(groups.names)).tolist()
    found = {name or NAMELESS: count for name, count in zip(groups.names, counts, strict=True) if count}
    return dict(sorted(found.items()))


def _missing_models(known: Columns, rows: IntArray) -> tuple[str, ...]:
    """Models with items in the same data sets, but none among these."""
    import numpy as np

    datasets, models = known.groups("dataset"), known.groups("model")
    same = np.isin(datasets.code, np.unique(datasets.code[rows]))
    missing = np.setdiff1d(models.code[same], models.code[rows]).tolist()
    return tuple(sorted(models.names[code] for code in missing if models.names[code]))
