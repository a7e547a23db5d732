"""The columns behind every metric: items' properties as integer codes, and each run's verdicts as an array over all
items."""

from __future__ import annotations

import operator
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from msgspec import Struct

from workbench.core.database import column_files, generation, migrations
from workbench.core.database.connection import Database
from workbench.core.database.generation import ChangeMark
from workbench.core.database.selection import check_names, value_of
from workbench.core.health import Finding
from workbench.core.progress import raise_if_cancelled, step
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
from workbench.core.text.figures import counted
from workbench.core.verdict import GoldChoice, OutcomeCode
from workbench.data.store import text_index
from workbench.data.store.columns import FIELDS, ORIGINS, Connection, states, stored_values
from workbench.data.store.reading import sampling_frame
from workbench.measuring import column_tables as tables
from workbench.measuring.column_reading import read_items, read_verdicts
from workbench.measuring.column_tables import REASON, SCORE, ColumnTable, Range
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.intervals import Clusters


# -- The columns of an open database, cached in memory and in files; only changed rows are read again.


WORTH = 20_000
"""Rows read from the database since the last write, from which a part is written to its file."""
_MAX_COLUMNS, _MAX_COLUMNS_BYTES = 24, 96 * 2**20
_MAX_FIGURES, _MAX_FIGURES_BYTES = 64, 32 * 2**20
VERDICTS_BYTES = 128 * 2**20
"""Most bytes for cached verdicts of all runs; other verdicts are read from their files again."""
Made = TypeVar("Made")


class Remembered:
    """A cache of results computed from immutable arrays, which drops the least recently used results.

    Args:
        most: Maximum number of cached results.
        most_bytes: Maximum total size of their arrays; the newest result is always kept.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._bytes = 0
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, tuple[tuple[object, ...], object, int]] = OrderedDict()

    @property
    def bytes(self) -> int:
        return self._bytes

    def get(self, name: Hashable, sources: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """Return the cached result of these sources, or compute it.

        Args:
            name: Identifies the kind of result.
            sources: The objects from which it is computed.
        """
        with self._lock:
            held = self._held.get(name)
            if held is not None and all(map(is_, held[0], sources)):
                self._held.move_to_end(name)
                return cast("Made", held[1])
        raise_if_cancelled()
        made = make()
        taken = bytes_of(made)
        with self._lock:
            older = self._held.pop(name, None)
            self._bytes += taken - (older[2] if older is not None else 0)
            self._held[name] = sources, made, taken
            while len(self._held) > 1 and (len(self._held) > self._most or self._bytes > self._most_bytes):
                self._bytes -= self._held.popitem(last=False)[1][2]
        return made


def bytes_of(value: object) -> int:
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    if isinstance(value, tuple | list):
        return sum(map(bytes_of, value))
    if isinstance(value, Struct):
        return sum(bytes_of(getattr(value, name)) for name in value.__struct_fields__)
    return 0


class RememberedPart(NamedTuple):
    """A part of the columns (the items, or one run's verdicts) as of one point in the database's history.

    Attributes:
        item: Row id of each row's item.
        mark: The point in the history.
        unsaved: Number of rows read from the database since the part was last written to a file.
    """

    table: ColumnTable
    item: IntArray
    mark: ChangeMark
    unsaved: int


class ColumnMemory:
    """The parts of one database: its items, and the verdicts of each requested run.

    It is thread-safe. Returned arrays never change: new data is stored in new arrays.

    Attributes:
        derived: Cache of further columns derived from the parts.
        figures: Cache of metrics computed from columns.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = column_files.folder(database.path)
        self._reading = threading.Lock()
        self._kept: dict[int | None, RememberedPart] = {}
        self.derived = Remembered(_MAX_COLUMNS, _MAX_COLUMNS_BYTES)
        self.figures = Remembered(_MAX_FIGURES, _MAX_FIGURES_BYTES)

    def items(self) -> RememberedPart:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, None, None)

    def verdicts(self, run: int, items: IntArray) -> ColumnTable:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, run, items).table

    def agrees(self, run: int | None) -> bool | None:
        """Return whether a part's file, after updating, equals the database; None if the file would not be used."""
        with self._reading, self._database.reading() as connection:
            items = None if run is None else self._up_to_date_part(connection, None, None).item
            kept = self._read_file(run, items)
            found = None if kept is None else generation.changes_since(connection, kept.mark)
            if kept is None or found is None:
                return None
            kept = _reread_ranges(connection, run, items, kept, [change.span for change in found if change.run == run])
            anew = self._read_whole(connection, run, items, kept.mark).table
        same = tables.put_in(kept.table, [(slice(0, kept.table.rows), anew)])
        return all(same.columns.get(name) is values for name, values in kept.table.columns.items())

    def _up_to_date_part(self, connection: Connection, run: int | None, items: IntArray | None) -> RememberedPart:
        now = generation.mark(connection)
        kept = self._kept.get(run) or self._read_file(run, items)
        found = None if kept is None else generation.changes_since(connection, kept.mark)
        if kept is None or found is None:
            kept = self._read_whole(connection, run, items, now)
        elif kept.mark != now or (items is not None and items is not kept.item):
            stale = [change.span for change in found if change.run == run]
            kept = _reread_ranges(connection, run, items, kept, stale)._replace(mark=now)
        if kept.unsaved >= WORTH:
            kept = self._write_file(run, kept)
        self._kept.pop(run, None)
        self._kept[run] = kept
        self._drop_old_verdicts()
        return kept

    def _read_whole(
        self, connection: Connection, run: int | None, items: IntArray | None, now: ChangeMark
    ) -> RememberedPart:
        with step("reading items" if run is None else f"reading verdicts of run {run}"):
            if run is None or items is None:
                table = read_items(self._database, connection)
                item: IntArray = table.columns["item"]
            else:
                table, item = read_verdicts(self._database, connection, run, items), items
        return RememberedPart(table, item, now, len(item))

    def _drop_old_verdicts(self) -> None:
        runs = [run for run in self._kept if run is not None]
        taken = {run: bytes_of(self._kept[run].table) for run in runs}
        while len(runs) > 1 and sum(taken[run] for run in runs) > VERDICTS_BYTES:
            del self._kept[runs.pop(0)]

    def _read_file(self, run: int | None, items: IntArray | None) -> RememberedPart | None:
        part = column_files.read(self._folder / column_files.name(run))
        if part is None or (part.head.run, part.head.schema) != (run, migrations.latest_version()):
            return None
        table = tables.of_part(part)
        item = table.columns["item"] if items is None else items
        if part.head.aligned != self._checksum(item, part.head.aligned if items is None else None):
            return None
        return RememberedPart(table, item, part.head.mark, 0)

    def _write_file(self, run: int | None, kept: RememberedPart) -> RememberedPart:
        part = tables.to_part(kept.table, run, kept.mark, migrations.latest_version(), self._checksum(kept.item))
        column_files.write(self._folder / column_files.name(run), part)
        return kept._replace(unsaved=0)

    def _checksum(self, item: IntArray, known: int | None = None) -> int:
        return self.derived.get("checksum", (item,), lambda: zlib.crc32(item.data) if known is None else known)


def _reread_ranges(
    connection: Connection, run: int | None, items: IntArray | None, kept: RememberedPart, stale: list[Range]
) -> RememberedPart:
    if run is None or items is None:
        parts = [
            (_row_slice(kept.item, span), tables.read_items(connection, *span)) for span in generation.ranges(stale)
        ]
        table = tables.put_in(kept.table, parts)
        return RememberedPart(table, table.columns["item"], kept.mark, kept.unsaved + _count_rows(parts))
    table = kept.table
    if items is not kept.item:
        table = tables.aligned(table, kept.item, items)
        stale = [*stale, *_ranges_of_new_items(kept.item, items)]
    parts = []
    for span in generation.ranges(stale):
        rows = _row_slice(items, span)
        parts.append((rows, tables.read_verdicts(connection, run, items[rows], *span)))
    return RememberedPart(tables.put_in(table, parts), items, kept.mark, kept.unsaved + _count_rows(parts))


def _count_rows(parts: Iterable[tuple[slice, ColumnTable]]) -> int:
    return sum(part.rows for _, part in parts)


def _row_slice(items: IntArray, span: Range) -> slice:
    import numpy as np

    return slice(int(np.searchsorted(items, span[0])), int(np.searchsorted(items, span[1], side="right")))


def _ranges_of_new_items(old: IntArray, new: IntArray) -> list[Range]:
    import numpy as np

    found = np.setdiff1d(new, old, assume_unique=True)
    return [(int(found[0]), int(found[-1]))] if len(found) else []


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


class Columns:
    """All visible items in order of row id, and the verdicts on them, at one point in time.

    A run's verdicts are those at their first use, unless they are dropped from the limited cache and read again. The
    arrays must not be changed.

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
        """Return the same items with other gold or names, such as those of a frozen benchmark.

        Args:
            columns: Some of the columns of `column_tables.read_items`, with one value for each item.
            names: Column of names -> the names of its codes.
        """
        for values in columns.values():
            values.setflags(write=False)
        table = ColumnTable(columns={**self._items.columns, **columns}, names={**self._items.names, **names})
        return Columns(self._database, self._memory, self._kept._replace(table=table))

    def gold(self, choice: GoldChoice) -> IntArray:
        """Return gold by item: 1 correct, 0 incorrect, -1 none (int8)."""
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
        waits = self.chosen(Selection((Condition("state", "=", "conflict"),)))
        assert waits is not None
        waits = waits & (origin == none)
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
        key = ("groups", parts, run if REASON in parts else None)
        return self._memory.derived.get(
            key,
            tuple(self._source_array(part, run) for part in parts),
            lambda: _cross_groups([self._groups_by_field(part, run) for part in parts]),
        )

    def clusters(self, by: str | None = None, run: int | None = None) -> Clusters:
        """Return the items clustered by group and question, for an accuracy table; see `groups`.

        Raises:
            UsageError: See `groups`.
        """
        from workbench.statistics.intervals import clusters

        if by is None:
            return self._memory.derived.get("clusters", (self.question,), lambda: clusters(self.question))
        found = self.groups(by, run)
        parts = split_grouping(by)
        return self._memory.derived.get(
            ("clusters", parts, run if REASON in parts else None),
            (self.question, *(self._source_array(part, run) for part in parts)),
            lambda: clusters(self.question, found.code, len(found.names)),
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

        asked = {*split_grouping(field), *(split_grouping(by) if by else ())}
        key = ("of clusters", field, by, run if REASON in asked else None)
        return self._memory.derived.get(key, (clusters, other), find)

    def outcome(self, run: int | None) -> IntArray:
        """Return a run's `OutcomeCode` by item, -1 without a verdict (int8). Without a run, it is "incorrect" for
        every item."""
        import numpy as np

        if run is None:
            return np.full(len(self.item), OutcomeCode.INCORRECT, dtype=np.int8)
        return self._verdict_table(run).columns["outcome"]

    def score(self, run: int | None) -> FloatArray | None:
        """Return a run's scores by item, NaN without a score (float64); None for a run without scores."""
        return None if run is None else self._verdict_table(run).columns.get(SCORE)

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

    def counted(self, name: Hashable, sources: tuple[object, ...], make: Callable[[], Made]) -> Made:
        """Return a cached result, or compute it if one of its source arrays has changed.

        Args:
            name: A unique name of the result.
            sources: The source arrays, all returned by these columns or by this method.
        """
        return self._memory.figures.get(name, sources, make)

    def _mask_of_condition(self, condition: Condition) -> BoolArray:
        import numpy as np

        compared, wanted = _OPERATORS[condition.operator], value_of(condition)
        wanted.encode()  # A value that is not text can't be looked up in the database either.
        if condition.field == "gold":
            return np.array([compared(word, wanted) for word in _GOLD_WORDS], dtype=np.bool_)[self.gold("final")]
        if condition.field == "state":
            kept = np.full(len(self.item), compared("unlabelled", wanted))
            for state, items in states(self._database.reader()).items():
                places = np.searchsorted(self.item, items)
                shown = places < len(self.item)
                shown[shown] = self.item[places[shown]] == items[shown]
                kept[places[shown]] = compared(state, wanted)
            return kept
        groups = self.groups(condition.field)
        return np.array([compared(name, wanted) for name in groups.names], dtype=np.bool_)[groups.code]

    def _verdict_table(self, run: int) -> ColumnTable:
        found = self._verdicts.get(run)
        if found is None:
            found = self._verdicts.setdefault(run, self._memory.verdicts(run, self.item))
            while len(self._verdicts) > 1 and sum(map(bytes_of, list(self._verdicts.values()))) > VERDICTS_BYTES:
                self._verdicts.pop(next(iter(self._verdicts)), None)
        return found

    def _source_array(self, field: str, run: int | None) -> object:
        if field == REASON:
            return self.item if run is None else self._verdict_table(run).columns[REASON]
        if field.startswith(COLUMN) or field in TOLD:
            return self.item
        return self.characters if field == "length" else self._items.columns[field]

    def _groups_by_field(self, field: str, run: int | None) -> Groups:
        import numpy as np

        if field == REASON:
            if run is None:
                return _groups_of_codes(np.zeros(len(self.item), dtype=np.int32), (NO_REASON,))
            return _groups_of_codes(self._verdict_table(run).columns[REASON], self._verdict_table(run).names[REASON])
        if field.startswith(COLUMN) or field in TOLD:
            return _groups_of_codes(*stored_values(self._database.reader(), field, self.item))
        if field == "length":
            place = np.searchsorted(LENGTH_BOUNDS, self.characters, side="right")
            return _groups_of_codes(np.where(self.characters < 0, len(LENGTHS), place), (*LENGTHS, UNKNOWN))
        return _groups_of_codes(self._items.columns[field], self._items.names[field])


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


def gold_counts(project: Project, selection: Selection, choice: GoldChoice) -> dict[str, int]:
    """Count the chosen items with gold by its source; see `Columns.gold_counts`.

    Raises:
        UsageError: The selection names something unknown.
    """
    found = columns(project)
    return found.gold_counts(choice, found.chosen(selection))


# -- The ``doctor`` check of the column files.


def column_finding(project: Project) -> Finding:
    """Check that each column file that would be used equals the database.

    A file that would be used but differs makes metrics wrong: another program changed the database.
    """
    folder = column_files.folder(project.path)
    files = sorted(path for path in folder.glob("*") if not path.name.startswith((".", text_index.NAME)))
    memory = ColumnMemory(project.database)
    states = {path.name: memory.agrees(column_files.run_of(path.name)) for path in files}
    wrong = [name for name, agrees in states.items() if agrees is False]
    if wrong:
        what = f"not what the database says: {', '.join(wrong)}. It was changed; {folder} may be deleted"
        return Finding(name="columns", ok=False, message=what, remedy="repair")
    return Finding(name="columns", ok=True, message=_files_text(files, list(states.values())))


def _files_text(files: list[Path], states: list[bool | None]) -> str:
    if not files:
        return "none kept"
    size = sum(path.stat().st_size for path in files)
    passed_over = states.count(None)
    left = f"; {passed_over} damaged or of another history, passed over" if passed_over else ""
    return f"ok, {counted(len(files), 'part')} in {size / 2**20:.1f} MiB{left}"
