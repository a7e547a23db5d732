"""Items with final labels, and why others have none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from workbench.benchmarks.building.candidates import counted, together
from workbench.benchmarks.store import building
from workbench.core.label import ExcludedItem
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.sets import FinalGold, GoldFrom
from workbench.data.store import columns as stored
from workbench.labelling.excluded import excluded_items
from workbench.labelling.labelling_guidelines import versions
from workbench.measuring.columns import Columns

if TYPE_CHECKING:
    from workbench.statistics.arrays import IntArray

WAITING = ("unlabelled", "labelled", "conflict")
"""Why an item has no final label yet: nobody, or not all people have labelled it, or they differ."""


class Labels(Struct, frozen=True, kw_only=True, eq=False):
    """What counts as gold of some items.

    Attributes:
        said: 1 correct, 0 incorrect, -1 none (int8).
        of: Item -> its gold and where that comes from; only of those that have one.
        out: Reason -> items without gold.
    """

    said: IntArray
    of: dict[int, tuple[bool, GoldFrom]]
    out: dict[str, int]


def labels(project: Project, known: Columns, rows: IntArray, gold: FinalGold) -> Labels:
    """The gold of items; with ``people`` only of those that are settled.

    Args:
        rows: Where they stand in the columns.
    """
    import numpy as np

    reader, items = project.database.reader(), known.item[rows]
    states = stored.states(reader)
    touched = np.isin(items, np.concatenate([np.zeros(0, dtype=np.int64), *states.values()]))
    standing = building.standings(reader, items[touched].tolist())
    said = known.gold(gold)[rows]
    if gold == "people":
        said = np.where(np.isin(items, states.get("final", ())), said, np.int8(-1))
    has_gold = said >= 0
    both = zip(items[has_gold].tolist(), said[has_gold].tolist(), strict=True)
    # Of all those that nobody has touched one is asked.
    untouched = {_why(None, gold): int(np.count_nonzero(~has_gold & ~touched))}
    return Labels(
        said=said,
        of={item: (bool(word), _origin(standing.get(item), gold)) for item, word in both},
        out=together(
            untouched, counted(_why(standing.get(item), gold) for item in items[~has_gold & touched].tolist())
        ),
    )


def _origin(standing: building.TouchedItem | None, gold: FinalGold) -> GoldFrom:
    return standing.gold_from if gold == "people" and standing and standing.gold_from else "imported"


def _why(standing: building.TouchedItem | None, gold: FinalGold) -> str:
    if standing is not None and standing.state == "excluded":
        return standing.reason or "other"
    if gold == "imported":
        return "no_gold"
    return "unlabelled" if standing is None else standing.state


def left_out(project: Project, selection: Selection) -> tuple[ExcludedItem, ...]:
    """The chosen items that people have taken out, with who did and why."""
    out = Selection((*selection.conditions, Condition("state", "=", "excluded")), selection.limit)
    return tuple(excluded_items(project, out))


def guideline(project: Project, gold: FinalGold) -> str | None:
    """The version of the guidelines in force, where people's labels count."""
    return versions(project)[-1].version if gold == "people" else None
