"""Which pages of a hurt database belong to which table, and the rows on them.

A table's tree is followed from its root as far as it leads. Pages that no tree reaches any more (the page above them
is hurt, or the list of tables) are known by their records: to the one table whose shape and rules they fit, and to none
where it could be two.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from typing import Final, NamedTuple

from workbench.care.store.pages import (
    INTERIOR_INDEX,
    INTERIOR_TABLE,
    LEAF_INDEX,
    LEAF_TABLE,
    PageCell,
    PageFile,
    Undecodable,
    Values,
)
from workbench.core.database import migrations, schema
from workbench.core.progress import stepping

# -- What the records of each table and index look like, so that a page can be told by what is on it.


Connection = sqlite3.Connection
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (int, float),
    "TEXT": (str,),
    "BLOB": (bytes,),
    "": (int, float, str, bytes),
}


DERIVED: Final = frozenset(
    {"task_states", "item_states", "changes", "generation", "runner", "verdict_cache", "sqlite_sequence"}
)
"""Tables that follow from the rest, are about the file itself, or are found again: nothing is lost with them."""


class RecordColumn(NamedTuple):
    """One column of a record; ``kinds`` are the types its values have."""

    name: str
    kinds: tuple[type, ...]
    may_lack: bool


class RecordShape(NamedTuple):
    """A table's records.

    Attributes:
        columns: In the order in which a record has them: without row ids, those of the key come first.
        fewest: Columns that even the oldest record has: others were added to the table later.
        by_rowid: Whether its rows have row ids.
        alias: Which column is the row id under a name, and NULL in the record; None where there is no such.
    """

    table: str
    columns: tuple[RecordColumn, ...]
    fewest: int
    by_rowid: bool
    alias: int | None

    def fits(self, values: Values) -> bool:
        """Whether values can be a record of the table, by their number and types."""
        if not self.fewest <= len(values) <= len(self.columns):
            return False
        for place, (value, column) in enumerate(zip(values, self.columns, strict=False)):
            if value is None:
                if not column.may_lack and place != self.alias:
                    return False
            elif place == self.alias or not isinstance(value, column.kinds):
                return False
        return True

    def row(self, rowid: int | None, values: Values) -> Values:
        """The values as SQL has them."""
        if self.alias is None:
            return values
        return (*values[: self.alias], rowid, *values[self.alias + 1 :])

    def names(self, count: int) -> list[str]:
        """The first columns by name."""
        return [column.name for column in self.columns[:count]]


class IndexShape(NamedTuple):
    """An index on a table with row ids; its records are the columns and then the row id.

    Attributes:
        partial: Whether it holds some rows only.
    """

    name: str
    table: str
    columns: tuple[str, ...]
    partial: bool


MASTER: Final = RecordShape(
    "sqlite_master",
    (
        RecordColumn("type", (str,), may_lack=False),
        RecordColumn("name", (str,), may_lack=False),
        RecordColumn("tbl_name", (str,), may_lack=False),
        RecordColumn("rootpage", (int,), may_lack=False),
        RecordColumn("sql", (str,), may_lack=True),
    ),
    fewest=5,
    by_rowid=True,
    alias=None,
)
"""SQLite's own list of tables."""


class Schema:
    """The tables and indexes of one version of the schema.

    Attributes:
        tables: By name, SQLite's own and the list of migrations among them.
        indexes: By name, those that SQLite makes by itself among them.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self._template = migrations.template(version)
        with closing(self._template.in_memory()) as connection:
            names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            later = {part.name: len(part.later) for part in schema.parts(version)}
            self.tables = {name: _shape(connection, name, later.get(name, 0)) for name in names}
            self.indexes = {
                index.name: index
                for name in names
                if self.tables[name].by_rowid
                for index in _indexes(connection, name)
            }

    def scratch(self) -> Connection:
        """An empty database with these tables and no triggers, in memory, to try rows on."""
        connection = self._template.in_memory()
        without_triggers(connection)
        return connection


def without_triggers(connection: Connection) -> list[str]:
    """Drop all triggers; returns the statements that make them again."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in found:
        connection.execute(f'DROP TRIGGER "{name}"')
    return [statement for _, statement in found]


def _shape(connection: Connection, table: str, added: int) -> RecordShape:
    options = connection.execute("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,))
    by_rowid = not options.fetchone()[0]
    found = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    if not by_rowid:
        found.sort(key=lambda row: (row[5] == 0, row[5] or row[0]))
    keys = [row for row in found if row[5]]
    is_alias = by_rowid and len(keys) == 1 and keys[0][2].upper() == "INTEGER"
    columns = tuple(RecordColumn(row[1], _KINDS.get(row[2].upper(), _KINDS[""]), not row[3]) for row in found)
    alias = found.index(keys[0]) if is_alias else None
    return RecordShape(table, columns, len(columns) - added, by_rowid, alias)


def _indexes(connection: Connection, table: str) -> list[IndexShape]:
    found = []
    for _, name, _, _, partial in connection.execute(f'PRAGMA index_list("{table}")').fetchall():
        columns = tuple(row[2] for row in connection.execute(f'PRAGMA index_info("{name}")'))
        found.append(IndexShape(name, table, columns, bool(partial)))
    return found


PEOPLES: Final = ("annotators", "label_events", "reviews", "curation", "test_exclusions")
"""What people said: nothing of it is ever deleted, so that a cell that nothing points to is still theirs."""
_DEEPEST: Final = 20
_TRIED: Final = 4


class SalvagedRow(NamedTuple):
    """A row, with the first of its table's columns that its record has."""

    rowid: int | None
    values: Values


class TableTree:
    """What was found of one table.

    Attributes:
        shape: Its records.
        pages: Pages with rows, in order, with the kind each is read as.
        lost: Pages that should be its own and are not to be read.
        found: How many of the pages no tree led to.
        doubtful: Pages on which something is wrong, seen when their rows were read.
        is_rooted: Whether its root is known.
    """

    def __init__(self, shape: RecordShape) -> None:
        self.shape = shape
        self.pages: dict[int, int] = {}
        self.lost = 0
        self.found = 0
        self.doubtful: set[int] = set()
        self.is_rooted = True


class Salvage:
    """The tables of a file as far as they can be read.

    Args:
        file: The pages.
        schema: What is looked for.
        only: These tables alone, without looking for pages that no tree leads to.

    Attributes:
        master_lost: Pages of SQLite's own list of tables that could not be read.
    """

    def __init__(self, file: PageFile, schema: Schema, only: Collection[str] = ()) -> None:
        self._file, self._schema = file, schema
        # Pages of a tree, whatever is on them.
        self._inside: set[int] = set()
        self._roots = self._master()
        self.trees = {name: self._tree(schema.tables[name]) for name in only or schema.tables}
        self._index_pages: dict[str, list[tuple[int, int]]] = {}
        self._hurt_indexes: set[str] = set()
        self._read_indexes: set[str] = set()
        if not only:
            for name in schema.indexes:
                self._index_pages[name] = self._of_index(name)
            self._place_strays()

    @property
    def names(self) -> set[str]:
        """All tables that the file's own list names."""
        return {name for (kind, name) in self._roots if kind == "table"}

    def rows(self, table: str) -> Iterator[SalvagedRow | None]:
        """A table's rows, page by page; None for a cell that can't be read."""
        tree = self.trees[table]
        for number, kind in tree.pages.items():
            if not self._file.accounted(number, self._file.page(number), kind):
                tree.doubtful.add(number)
            yield from self._rows_on(tree.shape, number, kind)

    def entries(self, index: IndexShape) -> Iterator[tuple[Values, int]]:
        """What can be read of an index: values, and the row id they stand for."""
        for values in self._index_records(index):
            if values is not None and isinstance(values[-1], int):
                yield values[:-1], values[-1]

    def is_whole(self, index: IndexShape) -> bool:
        """Whether every page of an index could be read, and every record on them is one of its own."""
        if index.name not in self._read_indexes:
            self._read_indexes.add(index.name)
            if any(values is None for values in self._index_records(index)):
                self._hurt_indexes.add(index.name)
        return index.name not in self._hurt_indexes

    def _index_records(self, index: IndexShape) -> Iterator[Values | None]:
        """An index's records; None for one that can't be read or can't be its own."""
        wanted = self._kinds_of(index)
        for number, kind in self._index_pages[index.name]:
            data = self._file.page(number)
            for cell in self._file.cells(number, data, kind):
                values = self._decoded(data, cell, kind)
                yield values if values is not None and _are(values, wanted) else None

    def _kinds_of(self, index: IndexShape) -> list[tuple[type, ...]]:
        """The types that values of an index's records have, the row id last."""
        kinds = {column.name: column.kinds for column in self._schema.tables[index.table].columns}
        return [*(kinds[name] for name in index.columns), (int,)]

    def _master(self) -> dict[tuple[str, str], int]:
        """(type, name) -> root page, of all that the list of tables still tells."""
        tree = TableTree(MASTER)
        self._follow(tree, 1, 0)
        numbers = list(tree.pages)
        self.master_lost = tree.lost
        if tree.lost:
            # Its leaves tell by their five columns what they are.
            for number in range(2, self._file.count + 1):
                data = self._file.page(number)
                if number not in self._inside and self._file.kind(number, data) == LEAF_TABLE:
                    rows = list(self._rows_on(MASTER, number, LEAF_TABLE))
                    if any(row is not None and row.values[0] in ("table", "index", "trigger", "view") for row in rows):
                        numbers.append(number)
                        self._inside.add(number)
        found: dict[tuple[str, str], int] = {}
        for number in numbers:
            for row in self._rows_on(MASTER, number, LEAF_TABLE):
                if row is not None:
                    kind, name, _, root, _ = row.values
                    found.setdefault((str(kind), str(name)), int(root or 0))
        return found

    def _tree(self, shape: RecordShape) -> TableTree:
        tree = TableTree(shape)
        root = self._roots.get(("table", shape.table), 0)
        tree.is_rooted = 1 < root <= self._file.count
        if tree.is_rooted:
            self._follow(tree, root, 0)
        else:
            tree.lost += 1
        return tree

    def _follow(self, tree: TableTree, number: int, depth: int) -> None:
        """Take a page and all below it into a tree, where they are its own."""
        data = self._file.page(number)
        is_own = number not in self._inside and depth <= _DEEPEST
        kind = self._kind(tree.shape, number, data, depth) if is_own else 0
        if not kind:
            tree.lost += 1
            return
        self._inside.add(number)
        if kind != INTERIOR_TABLE:
            tree.pages[number] = kind
        if kind in (INTERIOR_TABLE, INTERIOR_INDEX):
            tree.lost += not self._file.accounted(number, data, kind)
            for child in self._file.below(number, data):
                if child:
                    self._follow(tree, child, depth + 1)
                else:
                    tree.lost += 1

    def _kind(self, shape: RecordShape, number: int, data: bytes, depth: int) -> int:
        """What a page of a table's tree is to be read as, whatever it says itself; 0 where it is none of it."""
        leaf, interior = (LEAF_TABLE, INTERIOR_TABLE) if shape.by_rowid else (LEAF_INDEX, INTERIOR_INDEX)
        said = self._file.kind(number, data)
        if len(data) < self._file.size:
            return 0
        # Below a root no page is ever empty.
        is_empty = depth == 0 and said == leaf and self._is_empty(number, data)
        is_leaf = self._fits(shape, number, leaf) or is_empty
        if is_leaf and (said == leaf or self._file.accounted(number, data, leaf)):
            return leaf
        if said == interior or self._file.accounted(number, data, interior):
            return interior
        return leaf if is_leaf else 0

    def _is_empty(self, number: int, data: bytes) -> bool:
        """Whether a page says that nothing is on it, as the root of an empty table does."""
        at = 100 if number == 1 else 0
        return data[at + 3 : at + 5] == b"\0\0"

    def _of_index(self, name: str) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        waiting = [self._roots.get(("index", name), 0)]
        while waiting:
            number = waiting.pop()
            data = self._file.page(number)
            kind = self._file.kind(number, data) if number > 1 else 0
            if number in self._inside or kind not in (LEAF_INDEX, INTERIOR_INDEX):
                self._hurt_indexes.add(name)
                continue
            if not self._file.accounted(number, data, kind):
                self._hurt_indexes.add(name)
            self._inside.add(number)
            found.append((number, kind))
            if kind == INTERIOR_INDEX:
                waiting += self._file.below(number, data)
        return found

    def _place_strays(self) -> None:
        """Give pages that no tree leads to, to the tables that lack some."""
        lacking = [tree for tree in self.trees.values() if tree.lost]
        if not lacking:
            return
        free = self._file.free()[0]
        with closing(self._schema.scratch()) as scratch:
            for number in stepping(range(2, self._file.count + 1), "looking for lost pages", "pages"):
                if number in self._inside or number in free:
                    continue
                kind = self._file.kind(number, self._file.page(number))
                if kind not in (LEAF_TABLE, LEAF_INDEX, INTERIOR_INDEX):
                    continue
                by_rowid = kind == LEAF_TABLE
                fitting = [
                    tree
                    for tree in lacking
                    if tree.shape.by_rowid == by_rowid and self._is_of(tree.shape, number, kind, scratch)
                ]
                if len(fitting) == 1 and (by_rowid or not self._is_of_an_index(number, kind)):
                    fitting[0].pages[number] = kind
                    fitting[0].found += 1
                    self._inside.add(number)

    def _is_of(self, shape: RecordShape, number: int, kind: int, scratch: sqlite3.Connection) -> bool:
        """Whether most of what is on a page can be rows of a table, also by its rules."""
        rows = list(self._rows_on(shape, number, kind, scanning=False))
        good = [row for row in rows if row is not None]
        if not good or 2 * len(good) <= len(rows):
            return False
        for row in good[:_TRIED]:
            names = ", ".join(f'"{name}"' for name in shape.names(len(row.values)))
            marks = ", ".join("?" * len(row.values))
            scratch.execute("SAVEPOINT tried")
            try:
                scratch.execute(f'INSERT INTO "{shape.table}" ({names}) VALUES ({marks})', row.values)
            except (sqlite3.DatabaseError, OverflowError):
                return False
            finally:
                scratch.execute("ROLLBACK TO tried")
                scratch.execute("RELEASE tried")
        return True

    def _is_of_an_index(self, number: int, kind: int) -> bool:
        """Whether a page could as well be one of an index that lacks some."""
        data = self._file.page(number)
        records = [self._decoded(data, cell, kind) for cell in self._file.cells(number, data, kind)]
        for index in self._schema.indexes.values():
            wanted = self._kinds_of(index)
            if all(values is not None and _are(values, wanted) for values in records[:_TRIED]):
                return True
        return False

    def _fits(self, shape: RecordShape, number: int, kind: int) -> bool:
        return any(row is not None for row in self._rows_on(shape, number, kind))

    def _rows_on(
        self, shape: RecordShape, number: int, kind: int, *, scanning: bool = True
    ) -> Iterator[SalvagedRow | None]:
        data = self._file.page(number)
        taken: list[tuple[int, int]] = []
        unread = 0
        for cell in self._file.cells(number, data, kind):
            row = self._row(shape, data, cell, kind)
            if row is None or cell is None:
                unread += 1
            else:
                taken.append((cell.local, cell.end))
                yield row
        if scanning and shape.table in PEOPLES and (unread or not self._file.accounted(number, data, kind)):
            for row in self._scanned(shape, number, data, taken):
                unread -= unread > 0
                yield row
        for _ in range(unread):
            yield None

    def _scanned(
        self, shape: RecordShape, number: int, data: bytes, taken: list[tuple[int, int]]
    ) -> Iterator[SalvagedRow]:
        """Rows that nothing on their page points to."""
        at = 8
        while at < len(data):
            inside = next((end for begin, end in taken if begin <= at < end), None)
            if inside is not None:
                at = inside
                continue
            cell = self._file.cell(data, at, LEAF_TABLE)
            row = self._row(shape, data, cell, LEAF_TABLE) if cell is not None else None
            if row is None or cell is None or any(at < begin < cell.end for begin, _ in taken):
                at += 1
            else:
                yield row
                at = cell.end

    def _row(self, shape: RecordShape, data: bytes, cell: PageCell | None, kind: int) -> SalvagedRow | None:
        values = self._decoded(data, cell, kind)
        if cell is None or values is None or not shape.fits(values):
            return None
        return SalvagedRow(cell.rowid, shape.row(cell.rowid, values))

    def _decoded(self, data: bytes, cell: PageCell | None, kind: int) -> Values | None:
        if cell is None:
            return None
        try:
            return self._file.record(data, cell, kind)[0]
        except Undecodable:
            return None


def _are(values: Values, kinds: list[tuple[type, ...]]) -> bool:
    """Whether a record's values are of these types; any may be NULL."""
    return len(values) == len(kinds) and all(
        value is None or isinstance(value, kind) for value, kind in zip(values, kinds, strict=True)
    )
