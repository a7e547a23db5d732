"""The columns every figure is counted from: items' properties as integers, and one dense vector a run."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import Struct

from workbench.core.breakdown import JOINED, LENGTH_BOUNDS, LENGTHS, UNKNOWN, crossing
from workbench.core.database.connection import Database
from workbench.core.database.selection import check_names, value_of
from workbench.core.project import Project
from workbench.core.selection import Condition, Selection
from workbench.core.verdict import GoldChoice, Outcome
from workbench.data.store.columns import FIELDS, ORIGINS, states
from workbench.data.store.drawing import frame
from workbench.measuring.column_memory import VERDICTS_BYTES, ColumnMemory, Made, RememberedPart, bytes_of
from workbench.measuring.column_tables import REASON, SCORE, ColumnTable
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray, FloatArray, IntArray
    from workbench.statistics.intervals import Clusters

_BY_CODE = (*FIELDS, "length", "gold", "state")
"""Fields of conditions that are decided by the columns, and the few states there are; the database decides others."""

_OPERATORS = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt}

_GOLD_WORDS = ("incorrect", "correct", "none")
"""By gold; the last is that of -1."""


class Groups(Struct, frozen=True, kw_only=True, eq=False):
    """Items by one property.

    Attributes:
        code: Each item's position in ``names`` (int32).
        names: What the positions stand for; some may have no item.
        parts: The same for a crossing, the name of each part.
    """

    code: IntArray
    names: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]


class Columns:
    """All visible items, in order of row id, and what verifiers said of them, at one point in time.

    A run's verdicts are as they stood when they were first asked for, unless those of so many runs were that memory is
    bounded by reading them again. Nobody may change an array.

    Attributes:
        item: Row ids of the completions (int64).
        question: Row ids of their questions, the clusters of every interval (int64).
        characters: Lengths of the completions in characters, -1 where unknown (int32).
    """

    def __init__(self, database: Database, memory: ColumnMemory, items: RememberedPart) -> None:
        self._database, self._memory, self._kept, self._items = database, memory, items, items.table
        self._verdicts: dict[int, ColumnTable] = {}
        self.item: IntArray = items.item
        self.question: IntArray = items.table.columns["question"]
        self.characters: IntArray = items.table.columns["characters"]

    def replaced(self, columns: Mapping[str, IntArray], names: Mapping[str, tuple[str, ...]]) -> Columns:
        """The same items with other gold or other names, such as those that stood when a set was frozen.

        Args:
            columns: Columns of `column_tables.read_items`, one value an item.
            names: What the codes of those with names stand for.
        """
        for values in columns.values():
            values.setflags(write=False)
        table = ColumnTable(columns={**self._items.columns, **columns}, names={**self._items.names, **names})
        return Columns(self._database, self._memory, self._kept._replace(table=table))

    def gold(self, choice: GoldChoice) -> IntArray:
        """1 correct, 0 incorrect, -1 none (int8)."""
        import numpy as np

        found = self._items.columns
        if choice != "people":
            return found[choice]
        by_people = ORIGINS.index("agreed")
        return self._memory.derived.get(
            "people",
            (found["final"], found["origin"]),
            lambda: np.where(found["origin"] >= by_people, found["final"], np.int8(-1)),
        )

    @property
    def origin(self) -> IntArray:
        """Where each item's final gold comes from: places in `ORIGINS` (int8)."""
        return self._items.columns["origin"]

    def gold_counts(self, choice: GoldChoice, rows: BoolArray | None = None) -> dict[str, int]:
        """How many items have the gold that was chosen, and from where: adjudicated, agreed, imported, none.

        Args:
            rows: Which items are meant; None for all.
        """
        import numpy as np

        none, imported = ORIGINS.index("none"), ORIGINS.index("imported")
        origin = self.origin
        if choice != "final":
            there = imported if choice == "imported" else origin
            origin = np.where(self.gold(choice) >= 0, there, none)
        counts = np.bincount(origin if rows is None else origin[rows], minlength=len(ORIGINS)).tolist()
        return dict(reversed(list(zip(ORIGINS, counts, strict=True))))

    def groups(self, by: str, run: int | None = None) -> Groups:
        """Items by a property, or by a crossing of several such as ``"type,domain"``.

        Args:
            by: One or more of `GROUPS`; the names of a crossing are those of its parts with `JOINED` between them.
            run: Whose reasons are meant.

        Raises:
            UsageError: A part is none of `GROUPS`, or stands there twice.
        """
        parts = crossing(by)
        key = ("groups", parts, run if REASON in parts else None)
        return self._memory.derived.get(
            key,
            tuple(self._source(part, run) for part in parts),
            lambda: _crossed([self._single(part, run) for part in parts]),
        )

    def clusters(self, by: str | None = None, run: int | None = None) -> Clusters:
        """The items' groups and questions, as an accuracy table needs them; see `groups`.

        Raises:
            UsageError: As `groups`.
        """
        from workbench.statistics.intervals import clusters

        if by is None:
            return self._memory.derived.get("clusters", (self.question,), lambda: clusters(self.question))
        found = self.groups(by, run)
        parts = crossing(by)
        return self._memory.derived.get(
            ("clusters", parts, run if REASON in parts else None),
            (self.question, *(self._source(part, run) for part in parts)),
            lambda: clusters(self.question, found.code, len(found.names)),
        )

    def of_clusters(self, field: str, by: str | None = None, run: int | None = None) -> IntArray:
        """The group of each of the `clusters` by another property: that of its items, which share it as a rule."""
        import numpy as np

        clusters, other = self.clusters(by, run), self.groups(field, run)

        def find() -> IntArray:
            found = np.zeros(len(clusters.group), dtype=other.code.dtype)
            found[clusters.of_item] = other.code
            return found

        asked = {*crossing(field), *(crossing(by) if by else ())}
        key = ("of clusters", field, by, run if REASON in asked else None)
        return self._memory.derived.get(key, (clusters, other), find)

    def outcome(self, run: int | None) -> IntArray:
        """A run's `Outcome` of each item, -1 where it has none (int8); "incorrect" throughout for no run."""
        import numpy as np

        if run is None:
            return np.full(len(self.item), Outcome.INCORRECT, dtype=np.int8)
        return self._of(run).columns["outcome"]

    def score(self, run: int | None) -> FloatArray | None:
        """A run's scores, NaN where it gave none (float64); None for a run without any."""
        return None if run is None else self._of(run).columns.get(SCORE)

    def reasons(self, run: int | None) -> Groups:
        """Items by the reason of a run's verdict; those without a verdict under `NO_REASON` too."""
        return self.groups(REASON, run)

    def datasets(self, rows: BoolArray | slice) -> set[str]:
        """The data sets that rows are of."""
        import numpy as np

        found = self.groups("dataset")
        return {found.names[place] for place in np.flatnonzero(np.bincount(found.code[rows])).tolist()}

    def chosen(self, selection: Selection) -> BoolArray | None:
        """Which items a selection names; None for all of them.

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
            kept = np.isin(self.item, frame(reader, Selection(others)).item)
        for condition in selection.conditions:
            if condition.field in _BY_CODE:
                kept &= self._meets(condition)
        if selection.limit is not None:
            kept[np.flatnonzero(kept)[selection.limit :]] = False
        return kept

    def counted(self, name: Hashable, sources: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """A figure, counted anew only when an array it is counted from is another than the last time.

        Args:
            name: What the figure is, in words that no other figure has.
            sources: The arrays, all of them handed out by these columns or by this method.
        """
        return self._memory.figures.get(name, sources, make)

    def _meets(self, condition: Condition) -> BoolArray:
        """Which items meet a condition, decided once for each name."""
        import numpy as np

        compared, wanted = _OPERATORS[condition.operator], value_of(condition)
        wanted.encode()  # What is no text can't be asked of the database either.
        if condition.field == "gold":
            return np.array([compared(word, wanted) for word in _GOLD_WORDS], dtype=np.bool_)[self.gold("final")]
        if condition.field == "state":
            kept = np.full(len(self.item), compared("unlabelled", wanted))
            for state, items in states(self._database.reader()).items():
                kept[np.isin(self.item, items)] = compared(state, wanted)
            return kept
        groups = self.groups(condition.field)
        return np.array([compared(name, wanted) for name in groups.names], dtype=np.bool_)[groups.code]

    def _of(self, run: int) -> ColumnTable:
        found = self._verdicts.get(run)
        if found is None:
            found = self._verdicts.setdefault(run, self._memory.verdicts(run, self.item))
            while len(self._verdicts) > 1 and sum(map(bytes_of, list(self._verdicts.values()))) > VERDICTS_BYTES:
                self._verdicts.pop(next(iter(self._verdicts)), None)
        return found

    def _source(self, field: str, run: int | None) -> object:
        """What the groups of a property are made from."""
        if field == REASON:
            return self.item if run is None else self._of(run).columns[REASON]
        return self.characters if field == "length" else self._items.columns[field]

    def _single(self, field: str, run: int | None) -> Groups:
        import numpy as np

        if field == REASON:
            if run is None:
                return _named(np.zeros(len(self.item), dtype=np.int32), (NO_REASON,))
            return _named(self._of(run).columns[REASON], self._of(run).names[REASON])
        if field == "length":
            place = np.searchsorted(LENGTH_BOUNDS, self.characters, side="right")
            return _named(np.where(self.characters < 0, len(LENGTHS), place), (*LENGTHS, UNKNOWN))
        return _named(self._items.columns[field], self._items.names[field])


def _named(code: IntArray, names: Sequence[str]) -> Groups:
    import numpy as np

    return Groups(code=code.astype(np.int32, copy=False), names=tuple(names), parts=tuple((name,) for name in names))


def _crossed(groups: Sequence[Groups]) -> Groups:
    """Items by all of several properties; only combinations that occur have a name."""
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
    """The columns as the database stands now."""
    with _OPENING:
        memory = _MEMORIES.setdefault(project, ColumnMemory(project.database))
    items = memory.items()
    return memory.derived.get("columns", (items,), lambda: Columns(project.database, memory, items))


def gold_counts(project: Project, selection: Selection, choice: GoldChoice) -> dict[str, int]:
    """How many of the chosen items have the gold asked for, and from where: adjudicated, agreed, imported, none.

    Raises:
        UsageError: The selection names something unknown.
    """
    found = columns(project)
    return found.gold_counts(choice, found.chosen(selection))
