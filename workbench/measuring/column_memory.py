"""Columns kept in memory and in files next to the database; only changed rows are read again."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from operator import is_
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec import Struct, structs

from workbench.core.database import changes, migrations
from workbench.core.database.changes import ChangeMark
from workbench.core.database.connection import Database
from workbench.core.files import cache_folder, cached_file, read_cached
from workbench.core.health import Finding
from workbench.core.progress import raise_if_cancelled, step
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.data.store import columns as stored
from workbench.data.store.columns import EVERY_ROW, ColumnTable, Connection

if TYPE_CHECKING:
    import numpy.typing as npt

    from workbench.statistics.confusion import IntArray
    from workbench.statistics.permutations import CellTest, Pieces

    Array = npt.NDArray[Any]


WORTH = 20_000
"""Rows read from the database since the last write, from which a part is written to its file."""
_MAX_COLUMNS, _MAX_COLUMNS_BYTES = 24, 96 * 2**20
_MAX_FIGURES, _MAX_FIGURES_BYTES = 64, 32 * 2**20
VERDICTS_BYTES = 128 * 2**20
"""Most bytes for cached verdicts of all runs; other verdicts are read from their files again."""
_MAX_FILE_BYTES = 1 << 30
_MAX_TESTS = 500
"""Most tables of one verifier whose tests are kept in a file."""
Made = TypeVar("Made")


class Remembered:
    """A cache of results computed from immutable arrays, which drops the least recently used results.

    Args:
        most: Maximum number of cached results.
        most_bytes: Maximum total size of their arrays; the newest result is always kept.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._lock = threading.Lock()
        self._held: OrderedDict[Hashable, tuple[tuple[object, ...], object, int]] = OrderedDict()
        self.bytes = 0

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
        with self._lock:
            held = self._held.pop(name, None)
            if held is not None:
                self.bytes -= held[2]
                if all(map(is_, held[0], sources)):
                    # Another thread has made it meanwhile.
                    made = cast("Made", held[1])
            taken = bytes_of(made)
            self._held[name] = sources, made, taken
            self.bytes += taken
            while len(self._held) > 1 and (len(self._held) > self._most or self.bytes > self._most_bytes):
                self.bytes -= self._held.popitem(last=False)[1][2]
        return made


def bytes_of(value: object) -> int:
    size = getattr(value, "nbytes", None)
    if isinstance(size, int):
        return size
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    if isinstance(value, tuple):  # A list holds rows of a table, which are small.
        return sum(map(bytes_of, value))
    if isinstance(value, Struct):
        return bytes_of(structs.astuple(value))
    return 0


class ColumnPart(NamedTuple):
    """A part of the columns (the items, or one run's verdicts) as of one point in the database's history.

    Attributes:
        aligned: Checksum of the row ids of the items.
        mark: The point in the history.
        unsaved: Number of rows read from the database since the part was last written to a file.
    """

    table: ColumnTable
    aligned: int
    mark: ChangeMark
    unsaved: int


class PartSource(Struct, frozen=True, kw_only=True):
    """The data from which a part's file was made; the names are the meanings of its columns' codes."""

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
        self._kept: dict[int | None, ColumnPart] = {}
        self.derived = Remembered(_MAX_COLUMNS, _MAX_COLUMNS_BYTES)
        self.figures = Remembered(_MAX_FIGURES, _MAX_FIGURES_BYTES)

    def items(self) -> ColumnTable:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, None, None).table

    def verdicts(self, run: int, item: IntArray) -> ColumnTable:
        with self._reading, self._database.reading() as connection:
            return self._up_to_date_part(connection, run, item).table

    def agrees(self, run: int | None) -> bool | None:
        """Return whether a part's file, after updating, equals the database; None if the file would not be used."""
        with self._reading, self._database.reading() as connection:
            item = None if run is None else self._up_to_date_part(connection, None, None).table.columns["item"]
            known = self._updated(connection, run, item, self._load(run))
            if known is None:
                return None
            anew = _read_whole(connection, run, item)
        same = put_in(known.table, [(slice(0, known.table.rows), anew)])
        return all(same.columns.get(name) is values for name, values in known.table.columns.items())

    def _up_to_date_part(self, connection: Connection, run: int | None, item: IntArray | None) -> ColumnPart:
        part = self._updated(connection, run, item, self._kept.pop(run, None) or self._load(run))
        if part is None:
            table = _read_whole(connection, run, item)
            aligned = self._checksum(table.columns["item"] if item is None else item)
            part = ColumnPart(table, aligned, changes.mark(connection), table.rows)
        if part.unsaved >= WORTH:
            self._save(run, part)
            part = part._replace(unsaved=0)
        self._kept[run] = part
        runs = [run for run in self._kept if run is not None]
        while len(runs) > 1 and sum(bytes_of(self._kept[run].table) for run in runs) > VERDICTS_BYTES:
            del self._kept[runs.pop(0)]
        return part

    def _updated(
        self, connection: Connection, run: int | None, item: IntArray | None, part: ColumnPart | None
    ) -> ColumnPart | None:
        """Return a part with the changed rows read again; None if it is from another history or of other items."""
        now = changes.mark(connection)
        since = None if part is None else changes.changes_since(connection, part.mark)
        if part is None or since is None or (item is not None and self._checksum(item) != part.aligned):
            return None
        if part.mark == now:
            return part
        here, read = part.table.columns["item"] if item is None else item, _reader(run, item)
        pieces = [
            (_rows_between(here, *span), read(connection, *span))
            for span in changes.ranges(change.span for change in since if change.run == run)
        ]
        table = put_in(part.table, pieces)
        aligned = self._checksum(table.columns["item"]) if item is None else part.aligned
        return ColumnPart(table, aligned, now, part.unsaved + sum(piece.rows for _, piece in pieces))

    def _load(self, run: int | None) -> ColumnPart | None:
        import numpy as np

        try:
            content = BytesIO(read_cached(self._folder / _file_name(run), _MAX_FILE_BYTES))
            with np.load(content, allow_pickle=False) as archive:
                columns = dict(archive)
            about = msgspec.json.decode(columns.pop("about").tobytes(), type=PartSource)
        except Exception:
            # A damaged archive gives errors of any kind.
            return None
        if (about.run, about.schema) != (run, migrations.latest_version()):
            return None
        return ColumnPart(ColumnTable(columns=columns, names=about.names), about.aligned, about.mark, 0)

    def _save(self, run: int | None, part: ColumnPart) -> None:
        import numpy as np

        about = PartSource(run=run, aligned=part.aligned, mark=part.mark, names=dict(part.table.names))
        archive: dict[str, Any] = {**part.table.columns, "about": np.frombuffer(msgspec.json.encode(about), np.uint8)}
        with suppress(OSError), cached_file(self._folder / _file_name(run)) as file:
            np.savez(file, **archive)

    def tests(self, pieces: Pieces, seed: int) -> dict[int, CellTest]:
        """Return the permutation tests of groups, which are kept in a file if the folder of such files exists."""
        from workbench.statistics.permutations import CellTest, cell_tests, tests_key

        path, key = self._folder / "tests.json", tests_key(pieces, seed)
        known: dict[str, dict[int, CellTest]] = {}
        with suppress(OSError, msgspec.MsgspecError):
            known = msgspec.json.decode(read_cached(path, _MAX_FILE_BYTES), type=dict[str, dict[int, CellTest]])
        if key not in known:
            known[key] = cell_tests(pieces, seed)
            if self._folder.is_dir():
                with suppress(OSError), cached_file(path) as file:
                    file.write(msgspec.json.encode(dict(list(known.items())[-_MAX_TESTS:])))
        return known[key]

    def _checksum(self, item: IntArray) -> int:
        return self.derived.get("checksum", (item,), lambda: zlib.crc32(item.data))


def _file_name(run: int | None) -> str:
    return "items.npz" if run is None else f"run-{run}.npz"


def _reader(run: int | None, item: IntArray | None) -> Callable[[Connection, int, int], ColumnTable]:
    if run is None or item is None:
        return stored.read_items
    return lambda connection, *span: stored.read_verdicts(connection, run, item[_rows_between(item, *span)])


def _read_whole(connection: Connection, run: int | None, item: IntArray | None) -> ColumnTable:
    with step("reading items" if run is None else f"reading verdicts of run {run}"):
        return _reader(run, item)(connection, *EVERY_ROW)


def _rows_between(item: IntArray, first: int, last: int) -> slice:
    import numpy as np

    return slice(int(np.searchsorted(item, first)), int(np.searchsorted(item, last, side="right")))


def put_in(table: ColumnTable, pieces: Sequence[tuple[slice, ColumnTable]]) -> ColumnTable:
    """Return the table with ranges of its rows replaced, given in order; an unchanged column keeps its array."""
    columns: dict[str, Array] = {}
    names = dict(table.names)
    for column in dict.fromkeys([*table.columns, *(name for _, piece in pieces for name in piece.columns)]):
        values = [(rows, _translate_codes(piece, column, names)) for rows, piece in pieces]
        columns[column] = _replace_rows(_column_or_nan(table, column), values)
        if column in names:
            columns[column] = stored.narrow(columns[column], len(names[column]))
    return ColumnTable(columns=columns, names=names)


def _translate_codes(piece: ColumnTable, column: str, known: dict[str, tuple[str, ...]]) -> Array:
    import numpy as np

    values = _column_or_nan(piece, column)
    if column not in known:
        return values
    places = {name: place for place, name in enumerate(known[column])}
    code = [places.setdefault(name, len(places)) for name in piece.names[column]]
    known[column] = tuple(places)
    return np.array(code, dtype=np.int32)[values]


def _replace_rows(old: Array, pieces: Sequence[tuple[slice, Array]]) -> Array:
    import numpy as np

    if all(np.array_equal(old[rows], values, equal_nan=old.dtype.kind == "f") for rows, values in pieces):
        return old
    joined, at = [], 0
    for rows, values in pieces:
        joined += [old[at : rows.start], values]
        at = rows.stop
    return np.concatenate([*joined, old[at:]])


def _column_or_nan(table: ColumnTable, column: str) -> Array:
    import numpy as np

    found = table.columns.get(column)
    return np.full(table.rows, np.nan) if found is None else found


# -- The ``doctor`` check of the column files.


def column_finding(project: Project) -> Finding:
    """Check that each column file that would be used equals the database.

    A file that would be used but differs makes metrics wrong: another program changed the database.
    """
    files = sorted(cache_folder(project.path).glob("*.npz"))
    if not files:
        return Finding(name="columns", ok=True, message="none kept")
    memory = ColumnMemory(project.database)
    states = [memory.agrees(int(path.stem[4:]) if path.stem[4:].isdecimal() else None) for path in files]
    if wrong := [path.name for path, agrees in zip(files, states, strict=True) if agrees is False]:
        what = f"not what the database says: {', '.join(wrong)}. It was changed; {files[0].parent} may be deleted"
        return Finding(name="columns", ok=False, message=what, remedy="repair")
    size, passed_over = sum(path.stat().st_size for path in files) / 2**20, states.count(None)
    left = f"; {passed_over} damaged or of another history, passed over" if passed_over else ""
    return Finding(name="columns", ok=True, message=f"ok, {counted(len(files), 'part')} in {size:.1f} MiB{left}")
