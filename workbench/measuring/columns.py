"""The columns behind every metric: items' properties as integer codes, and each run's verdicts as an array over all
items."""

from __future__ import annotations

import operator
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.core.database.selection import check_names, value_of
from workbench.core.project import Project
from workbench.core.selection import (
    COLUMN,
    JOINED,
    LENGTH_BOUNDS,
    LENGTHS,
    TOLD,
    UNKNOWN,
    Condition,
    Selection,
    split_grouping,
)
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.data.store.columns import FIELDS, ORIGINS, REASON, SCORE, ColumnTable, states, stored_values
from workbench.data.store.reading import sampling_frame
from workbench.measuring.column_memory import VERDICTS_BYTES, ColumnMemory, Made, Remembered
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.intervals import Clusters

    Array = npt.NDArray[Any]

_MAX_RUNS = 1_000
_BY_CODE = (*FIELDS, "length", "gold", "state")
"""Fields whose conditions are evaluated on the columns; other conditions are evaluated by the database."""
_OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt}
_GOLD_WORDS = ("incorrect", "correct", "none")
"""Words by gold; the last one is for -1."""


class Groups(Struct, frozen=True, kw_only=True, eq=False):
    """Items grouped by one property, or by a combination of several.

    Attributes:
        code: Each item's group, as a position in ``names`` (int32).
        names: The groups' names; a group may have no item.
        parts: Each group's name for each of the combined properties; one name if there is one property.
    """

    code: IntArray
    names: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]

    def count(self, rows: IntArray | BoolArray) -> Counter[str]:
        """Count a selection's items in each group that has any, in the order of ``names``."""
        import numpy as np

        counts = np.bincount(self.code[rows], minlength=len(self.names)).tolist()
        return Counter({name: number for name, number in zip(self.names, counts, strict=True) if number})


class Columns:
    """All visible items in order of row id, and the verdicts on them, at one point in time.

    A run's verdicts are those at their first use, unless they are dropped from the limited cache and read again. The
    arrays must not be changed.

    Attributes:
        item: Row ids of the completions (int64).
        question: Row ids of their questions, the clusters of every interval (int64).
        characters: Lengths of the completions in characters, -1 where unknown (int32).
        memory: The cache from which further columns and tests are taken.
        counted: Returns a cached result, or computes it if one of its source arrays, all from these columns, has
            changed; see `Remembered.get`.
    """

    def __init__(self, database: Database, memory: ColumnMemory, items: ColumnTable) -> None:
        self._database, self.memory, self._items = database, memory, items
        self.counted = memory.figures.get
        self._verdicts = Remembered(_MAX_RUNS, VERDICTS_BYTES)
        self.item: IntArray = items.columns["item"]
        self.question: IntArray = items.columns["question"]
        self.characters: IntArray = items.columns["characters"]

    def replaced(self, columns: Mapping[str, IntArray], names: Mapping[str, tuple[str, ...]]) -> Columns:
        """Return the same items with other gold or names, such as those of a frozen benchmark.

        Args:
            columns: Some of the columns of `workbench.data.store.columns.read_items`, with one value for each item.
            names: Column of names -> the names of its codes.
        """
        table = ColumnTable(columns={**self._items.columns, **columns}, names={**self._items.names, **names})
        return Columns(self._database, self.memory, table)

    def gold(self, choice: GoldChoice) -> IntArray:
        """Return gold by item: 1 correct, 0 incorrect, -1 none (int8)."""
        import numpy as np

        found = self._items.columns
        if choice != "people":
            return found[choice]
        by_people = ORIGINS.index("agreed")
        return self.memory.derived.get(
            "people",
            (found["final"], found["origin"]),
            lambda: np.where(found["origin"] >= by_people, found["final"], np.int8(-1)),
        )

    @property
    def origin(self) -> IntArray:
        """Return the source of each item's final gold, as positions in `ORIGINS` (int8)."""
        return self._items.columns["origin"]

    def gold_counts(self, choice: GoldChoice, rows: BoolArray | None = None) -> dict[str, int]:
        """Count the items with the chosen gold by its source: adjudicated, agreed, imported, none.

        Items without gold that need an adjudicator count as ``conflict`` instead of ``none``; that key is absent if
        there are none.

        Args:
            rows: A mask of the items to count; None for all.
        """
        import numpy as np

        none, imported = ORIGINS.index("none"), ORIGINS.index("imported")
        origin = self.origin
        if choice != "final":
            there = imported if choice == "imported" else origin
            origin = np.where(self.gold(choice) >= 0, there, none)
        counts = np.bincount(origin if rows is None else origin[rows], minlength=len(ORIGINS)).tolist()
        found = dict(reversed(list(zip(ORIGINS, counts, strict=True))))
        waits = self._mask_of_items(states(self._database.reader()).get("conflict", [])) & (origin == none)
        if open_ := int(np.count_nonzero(waits if rows is None else waits[rows])):
            found |= {"conflict": open_, "none": found["none"] - open_}
        return found

    def groups(self, by: str, run: int | None = None) -> Groups:
        """Group items by a property, or by a combination of several such as ``"type,domain"``.

        Args:
            by: One or more of `GROUPS`, with commas between them; `JOINED` is between the parts of a combined group's
                name.
            run: The run whose reasons are used, if ``by`` includes the reason.

        Raises:
            UsageError: A part is not in `GROUPS`, or occurs twice.
        """
        parts = split_grouping(by)
        return self._derived(
            "groups", parts, run, lambda: _cross_groups([self._groups_by_field(part, run) for part in parts])
        )

    def _derived(self, name: Hashable, fields: tuple[str, ...], run: int | None, make: Callable[[], Made]) -> Made:
        sources = [self._source_array(field, run) for field in fields]
        key = (name, fields, run if REASON in fields else None)
        return self.memory.derived.get(key, (self.question, *sources), make)

    def clusters(self, by: str | None = None, run: int | None = None) -> Clusters:
        """Return the items clustered by group and question, for an accuracy table; see `groups`.

        Raises:
            UsageError: See `groups`.
        """
        from workbench.statistics.intervals import clusters

        if by is None:
            return self.memory.derived.get("clusters", (self.question,), lambda: clusters(self.question))
        found = self.groups(by, run)
        return self._derived(
            "clusters", split_grouping(by), run, lambda: clusters(self.question, found.code, len(found.names))
        )

    def of_clusters(self, field: str, by: str | None = None, run: int | None = None) -> IntArray:
        """Return each cluster's group by another property, which the items of a cluster normally share; see
        `clusters`."""
        import numpy as np

        clusters, other = self.clusters(by, run), self.groups(field, run)

        def find() -> IntArray:
            found = np.zeros(len(clusters.group), dtype=other.code.dtype)
            found[clusters.of_item] = other.code
            return found

        fields = (*split_grouping(field), *(split_grouping(by) if by else ()))
        return self._derived(("of clusters", by), fields, run, find)

    def outcome(self, run: int | None) -> IntArray:
        """Return a run's `OutcomeCode` by item, -1 without a verdict (int8). Without a run, it is "incorrect" for
        every item."""
        import numpy as np

        if run is None:
            return np.full(len(self.item), OutcomeCode.INCORRECT, dtype=np.int8)
        return self._verdict_table(run).columns["outcome"]

    def score(self, run: int | None) -> FloatArray | None:
        """Return a run's scores by item, NaN without a score (float64); None for a run without scores."""
        import numpy as np

        found = None if run is None else self._verdict_table(run).columns.get(SCORE)
        return None if found is None or np.isnan(found).all() else found

    def reasons(self, run: int | None) -> Groups:
        """Group items by the reason of a run's verdict; items without a verdict are also under `NO_REASON`."""
        return self.groups(REASON, run)

    def datasets(self, rows: BoolArray | slice) -> set[str]:
        import numpy as np

        found = self.groups("dataset")
        return {found.names[place] for place in np.flatnonzero(np.bincount(found.code[rows])).tolist()}

    def chosen(self, selection: Selection) -> BoolArray | None:
        """Return a mask of the selected items; None if all are selected.

        Raises:
            UsageError: The selection names something unknown.
        """
        import numpy as np

        if not selection.conditions and selection.limit is None:
            return None
        reader = self._database.reader()
        selection = check_names(reader, selection)
        kept = np.ones(len(self.item), dtype=np.bool_)
        others = tuple(condition for condition in selection.conditions if condition.field not in _BY_CODE)
        if others:
            kept = np.isin(self.item, sampling_frame(reader, Selection(others)).item)
        for condition in selection.conditions:
            if condition.field in _BY_CODE:
                kept &= self._mask_of_condition(condition)
        if selection.limit is not None:
            kept[np.flatnonzero(kept)[selection.limit :]] = False
        return kept

    def _mask_of_condition(self, condition: Condition) -> BoolArray:
        import numpy as np

        compared, wanted = _OPERATORS[condition.operator], value_of(condition)
        wanted.encode()  # A value that is not text can't be looked up in the database either.
        if condition.field == "gold":
            return np.array([compared(word, wanted) for word in _GOLD_WORDS], dtype=np.bool_)[self.gold("final")]
        if condition.field == "state":
            kept = np.full(len(self.item), compared("unlabelled", wanted))
            for state, items in states(self._database.reader()).items():
                kept[self._mask_of_items(items)] = compared(state, wanted)
            return kept
        groups = self.groups(condition.field)
        return np.array([compared(name, wanted) for name in groups.names], dtype=np.bool_)[groups.code]

    def _mask_of_items(self, items: Sequence[int] | IntArray) -> BoolArray:
        import numpy as np

        return np.isin(self.item, items)

    def _verdict_table(self, run: int) -> ColumnTable:
        return self._verdicts.get(run, (), lambda: self.memory.verdicts(run, self.item))

    def _source_array(self, field: str, run: int | None) -> object:
        if field == REASON:
            return self.item if run is None else self._verdict_table(run).columns[REASON]
        if field.startswith(COLUMN) or field in TOLD:
            return self.item
        return self.characters if field == "length" else self._items.columns[field]

    def _groups_by_field(self, field: str, run: int | None) -> Groups:
        import numpy as np

        if field == REASON and run is None:
            return _groups_of_codes(np.zeros(len(self.item), dtype=np.int32), (NO_REASON,))
        if field.startswith(COLUMN) or field in TOLD:
            return _groups_of_codes(*stored_values(self._database.reader(), field, self.item))
        if field == "length":
            place = np.searchsorted(LENGTH_BOUNDS, self.characters, side="right")
            return _groups_of_codes(np.where(self.characters < 0, len(LENGTHS), place), (*LENGTHS, UNKNOWN))
        table = self._verdict_table(run) if field == REASON and run is not None else self._items
        return _groups_of_codes(table.columns[field], table.names[field])


def _groups_of_codes(code: IntArray, names: Sequence[str]) -> Groups:
    import numpy as np

    return Groups(code=code.astype(np.int32, copy=False), names=tuple(names), parts=tuple((name,) for name in names))


def _cross_groups(groups: Sequence[Groups]) -> Groups:
    import numpy as np

    from workbench.statistics.intervals import compact

    crossed = groups[0]
    for other in groups[1:]:
        code, known = compact(crossed.code.astype(np.int64) * len(other.names) + other.code)
        parts = [(*crossed.parts[pair // len(other.names)], *other.parts[pair % len(other.names)]) for pair in known]
        names = tuple(JOINED.join(part) for part in parts)
        crossed = Groups(code=code.astype(np.int32), names=names, parts=tuple(parts))
    return crossed


_MEMORIES: WeakKeyDictionary[Project, ColumnMemory] = WeakKeyDictionary()
_OPENING = threading.Lock()


def columns(project: Project) -> Columns:
    with _OPENING:
        memory = _MEMORIES.setdefault(project, ColumnMemory(project.database))
    items = memory.items()
    return memory.derived.get("columns", (items,), lambda: Columns(project.database, memory, items))
