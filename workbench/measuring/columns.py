"""The columns behind every metric: items' properties as integer codes, and each run's verdicts as an array over all
items."""

from __future__ import annotations

import operator
import os
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from io import BytesIO
from operator import is_
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from workbench.core.database import generation, migrations
from workbench.core.database.connection import Database
from workbench.core.database.generation import ChangeMark
from workbench.core.database.selection import check_names, value_of
from workbench.core.files import cache_folder, read_own, require_own_folder, whole_file
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
from workbench.data.store import columns as stored
from workbench.data.store.columns import (
    EVERY_ROW,
    FIELDS,
    ORIGINS,
    REASON,
    SCORE,
    Connection,
    Table,
    states,
    stored_values,
)
from workbench.data.store.reading import sampling_frame
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import BoolArray, FloatArray, IntArray
    from workbench.statistics.intervals import Clusters

    Array = npt.NDArray[Any]

Range = tuple[int, int]
"""First and last row id."""


# -- The columns of an open database, cached in memory and in files; only changed rows are read again.


WORTH = 20_000
"""Rows read from the database since the last write, from which a part is written to its file."""
_MAX_COLUMNS, _MAX_COLUMNS_BYTES = 24, 96 * 2**20
_MAX_FIGURES, _MAX_FIGURES_BYTES = 64, 32 * 2**20
VERDICTS_BYTES = 128 * 2**20
"""Most bytes for cached verdicts of all runs; other verdicts are read from their files again."""
_MAX_FILE_BYTES = 1 << 30
_MIN_SHARE_ITEMS = 100_000
"""Fewest items of a share: opening a connection takes as long as reading several thousand items."""
_MAX_THREADS = 4
Made = TypeVar("Made")
Found = TypeVar("Found")


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


class _Part(NamedTuple):
    """A part of the columns (the items, or one run's verdicts) as of one point in the database's history.

    Attributes:
        aligned: Checksum of the row ids of the items.
        mark: The point in the history.
        unsaved: Number of rows read from the database since the part was last written to a file.
    """

    table: Table
    aligned: int
    mark: ChangeMark
    unsaved: int


class _About(Struct, frozen=True, kw_only=True):
    """What a part's file was made from; the names are the meanings of its columns' codes."""

    run: int | None
    aligned: int
    mark: ChangeMark
    names: dict[str, tuple[str, ...]]
    schema: int = msgspec.field(default_factory=migrations.latest_version)


class ColumnMemory:
    """The parts of one database: its items, and the verdicts of each requested run. Each is kept in memory and in a
    file, and only rows that have changed since are read again.

    The files are numpy's archives (``.npz``) and safe to delete at any time: if one is damaged or can't be written, the
    database is read again. It is thread-safe. Returned arrays never change: new data is stored in new arrays.

    Attributes:
        derived: Cache of further columns derived from the parts.
        figures: Cache of metrics computed from columns.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folder = cache_folder(database.path)
        self._reading = threading.Lock()
        self._kept: dict[int | None, _Part] = {}
        self.derived = Remembered(_MAX_COLUMNS, _MAX_COLUMNS_BYTES)
        self.figures = Remembered(_MAX_FIGURES, _MAX_FIGURES_BYTES)

    def items(self) -> Table:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, None, None).table

    def verdicts(self, run: int, item: IntArray) -> Table:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, run, item).table

    def agrees(self, run: int | None) -> bool | None:
        """Return whether a part's file, after updating, equals the database; None if the file would not be used."""
        with self._reading, self._database.reading() as connection:
            item = None if run is None else self._up_to_date_part(connection, None, None).table.columns["item"]
            known = self._updated(connection, run, item, self._load(run))
            if known is None:
                return None
            anew = self._read_whole(connection, run, item)
        same = put_in(known.table, [(slice(0, known.table.rows), anew)])
        return all(same.columns.get(name) is values for name, values in known.table.columns.items())

    def _up_to_date_part(self, connection: Connection, run: int | None, item: IntArray | None) -> _Part:
        part = self._updated(connection, run, item, self._kept.pop(run, None) or self._load(run))
        if part is None:
            table = self._read_whole(connection, run, item)
            aligned = self._checksum(table.columns["item"] if item is None else item)
            part = _Part(table, aligned, generation.mark(connection), table.rows)
        if part.unsaved >= WORTH:
            self._save(run, part)
            part = part._replace(unsaved=0)
        self._kept[run] = part
        runs = [run for run in self._kept if run is not None]
        taken = {run: bytes_of(self._kept[run].table) for run in runs}
        while len(runs) > 1 and sum(taken[run] for run in runs) > VERDICTS_BYTES:
            del self._kept[runs.pop(0)]
        return part

    def _updated(
        self, connection: Connection, run: int | None, item: IntArray | None, part: _Part | None
    ) -> _Part | None:
        """Return a part with the changed rows read again; None if it is from another history or of other items."""
        now = generation.mark(connection)
        changes = None if part is None else generation.changes_since(connection, part.mark)
        if part is None or changes is None or (item is not None and self._checksum(item) != part.aligned):
            return None
        if part.mark == now:
            return part
        here, read = part.table.columns["item"] if item is None else item, _reader(run, item)
        pieces = [
            (_rows_between(here, *span), read(connection, *span))
            for span in generation.ranges(change.span for change in changes if change.run == run)
        ]
        table = put_in(part.table, pieces)
        aligned = self._checksum(table.columns["item"]) if item is None else part.aligned
        return _Part(table, aligned, now, part.unsaved + sum(piece.rows for _, piece in pieces))

    def _read_whole(self, connection: Connection, run: int | None, item: IntArray | None) -> Table:
        import numpy as np

        with step("reading items" if run is None else f"reading verdicts of run {run}"):
            if run is None:
                numbers = self._read_shares(connection, stored.item_numbers)
                return stored.read_items(connection, *EVERY_ROW, tuple(map(np.concatenate, zip(*numbers, strict=True))))
            whole, *others = self._read_shares(connection, _reader(run, item))
            return put_in(whole, [(slice(whole.rows, whole.rows), table) for table in others])

    def _read_shares(self, connection: Connection, read: Callable[[Connection, int, int], Found]) -> list[Found]:
        """Read all rows in shares, each in a thread of its own. SQLite reads outside the GIL, but all threads must read
        the same state: if the database has changed meanwhile, this thread reads everything.
        """
        now, (first, last) = generation.mark(connection), stored.item_ends(connection)
        number = max(min(os.cpu_count() or 1, _MAX_THREADS, (last - first + 1) // _MIN_SHARE_ITEMS), 1)
        starts = [first + (last - first + 1) * share // number for share in range(1, number)]
        spans = list(zip([EVERY_ROW[0], *starts], [*(start - 1 for start in starts), EVERY_ROW[1]], strict=True))

        def read_elsewhere(span: Range) -> Found | None:
            try:
                with self._database.reading() as other:
                    return read(other, *span) if generation.mark(other) == now else None
            finally:
                self._database.release_reader()

        with ThreadPoolExecutor(number) as pool:
            reading = [pool.submit(copy_context().run, read_elsewhere, span) for span in spans[1:]]
            found = [read(connection, *spans[0]), *(one.result() for one in reading)]
        shares = [share for share in found if share is not None]
        return shares if len(shares) == number else [read(connection, *EVERY_ROW)]

    def _load(self, run: int | None) -> _Part | None:
        try:
            require_own_folder(self._folder)
            content = read_own(self._folder / _file_name(run), _MAX_FILE_BYTES)
        except OSError:
            return None
        return _decoded_part(run, content)

    def _save(self, run: int | None, part: _Part) -> None:
        import numpy as np

        about = _About(run=run, aligned=part.aligned, mark=part.mark, names=dict(part.table.names))
        archive: dict[str, Any] = {**part.table.columns, "about": np.frombuffer(msgspec.json.encode(about), np.uint8)}
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            require_own_folder(self._folder)
            with whole_file(self._folder / _file_name(run), durable=False) as file:
                np.savez(file, **archive)

    def _checksum(self, item: IntArray) -> int:
        return self.derived.get("checksum", (item,), lambda: zlib.crc32(item.data))


def _file_name(run: int | None) -> str:
    return "items.npz" if run is None else f"run-{run}.npz"


def _decoded_part(run: int | None, content: bytes) -> _Part | None:
    import numpy as np

    try:
        with np.load(BytesIO(content), allow_pickle=False) as archive:
            columns = dict(archive)
        about = msgspec.json.decode(columns.pop("about").tobytes(), type=_About)
    except Exception:
        # A damaged archive gives errors of any kind.
        return None
    if (about.run, about.schema) != (run, migrations.latest_version()):
        return None
    return _Part(Table(columns=columns, names=about.names), about.aligned, about.mark, 0)


def _reader(run: int | None, item: IntArray | None) -> Callable[[Connection, int, int], Table]:
    if run is None or item is None:
        return stored.read_items
    return lambda connection, first, last: stored.read_verdicts(
        connection, run, item[_rows_between(item, first, last)], first, last
    )


def _rows_between(item: IntArray, first: int, last: int) -> slice:
    import numpy as np

    return slice(int(np.searchsorted(item, first)), int(np.searchsorted(item, last, side="right")))


def put_in(table: Table, pieces: Sequence[tuple[slice, Table]]) -> Table:
    """Return the table with ranges of its rows replaced, given in order; an unchanged column keeps its array."""
    columns: dict[str, Array] = {}
    names = dict(table.names)
    for column in dict.fromkeys([*table.columns, *(name for _, piece in pieces for name in piece.columns)]):
        values = [(rows, _translate_codes(piece, column, names)) for rows, piece in pieces]
        columns[column] = _replace_rows(_column_or_nan(table, column), values)
        if column in names:
            columns[column] = stored.narrow(columns[column], len(names[column]))
    return Table(columns=columns, names=names)


def _translate_codes(piece: Table, column: str, known: dict[str, tuple[str, ...]]) -> Array:
    import numpy as np

    values = _column_or_nan(piece, column)
    if column not in known:
        return values
    places = {name: place for place, name in enumerate(known[column])}
    used = np.bincount(values, minlength=len(piece.names[column])) > 0
    code = [
        places.setdefault(name, len(places)) if there else 0
        for name, there in zip(piece.names[column], used, strict=True)
    ]
    known[column] = tuple(places)
    return np.array([*code, 0], dtype=np.int32)[values]


def _replace_rows(old: Array, pieces: Sequence[tuple[slice, Array]]) -> Array:
    import numpy as np

    if all(np.array_equal(old[rows], values, equal_nan=old.dtype.kind == "f") for rows, values in pieces):
        return old
    joined, at = [], 0
    for rows, values in pieces:
        joined += [old[at : rows.start], values]
        at = rows.stop
    return np.concatenate([*joined, old[at:]])


def _column_or_nan(table: Table, column: str) -> Array:
    import numpy as np

    found = table.columns.get(column)
    return np.full(table.rows, np.nan) if found is None else found


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

    def __init__(self, database: Database, memory: ColumnMemory, items: Table) -> None:
        self._database, self._memory, self._items = database, memory, items
        self._verdicts: dict[int, Table] = {}
        self.item: IntArray = items.columns["item"]
        self.question: IntArray = items.columns["question"]
        self.characters: IntArray = items.columns["characters"]

    def replaced(self, columns: Mapping[str, IntArray], names: Mapping[str, tuple[str, ...]]) -> Columns:
        """Return the same items with other gold or names, such as those of a frozen benchmark.

        Args:
            columns: Some of the columns of `workbench.data.store.columns.read_items`, with one value for each item.
            names: Column of names -> the names of its codes.
        """
        table = Table(columns={**self._items.columns, **columns}, names={**self._items.names, **names})
        return Columns(self._database, self._memory, table)

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

    def _verdict_table(self, run: int) -> Table:
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
    folder = cache_folder(project.path)
    files = sorted(folder.glob("*.npz"))
    memory = ColumnMemory(project.database)
    runs = {path.name: int(path.stem.removeprefix("run-")) for path in files if path.stem[4:].isdecimal()}
    states = {path.name: memory.agrees(runs.get(path.name)) for path in files}
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
