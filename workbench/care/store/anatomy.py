"""Where a database is hurt: table by table and index by index, each by itself, so that one does not hide another."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final, NamedTuple

from workbench.care.store.pages import PageFile, Values
from workbench.care.store.salvage import Salvage
from workbench.care.store.shapes import DERIVED, IndexShape, RecordShape, Schema
from workbench.core.health import Finding, Remedy
from workbench.core.progress import stepping

Connection = sqlite3.Connection

_NAMED: Final = 3


class _TableContent(NamedTuple):
    """A table as its pages have it; ``entries`` is row id -> values, where they are wanted."""

    rows: int
    unread: int
    in_order: bool
    entries: dict[int, Values]


def integrity(connection: Connection) -> str:
    """What SQLite finds wrong with the whole file first; empty where all is well."""
    try:
        rows = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if rows == ["ok"] else "; ".join(" ".join(row.split()) for row in rows)


def hurt_parts(file: PageFile, version: int, connection: Connection | None) -> list[Finding]:
    """A finding for every table and index that is hurt, and for what no table has; nothing where no table is ours.

    Args:
        version: Of its tables.
        connection: To ask SQLite about one table at a time; None where it can't even tell what tables there are.
    """
    schema = Schema(version)
    salvage = Salvage(file, schema)
    found: list[Finding] = []
    if salvage.master_lost and not any(tree.pages for tree in salvage.trees.values()):
        return []
    if connection is None:
        found.append(_bad("pages", "SQLite can make nothing of the file; what follows was read page by page", "repair"))
    if salvage.master_lost:
        found.append(_bad("list of tables", "SQLite's own list of the tables is hurt", "repair"))
    for name, shape in stepping(schema.tables.items(), "checking", "tables", len(schema.tables)):
        said = _said(connection, name)
        if said or connection is None or salvage.trees[name].lost:
            found += _table(salvage, schema, shape, said)
    trouble = file.free()[1]
    if trouble:
        found.append(_bad("free pages", trouble, "repair"))
    return found


def _said(connection: Connection | None, table: str) -> str:
    """What SQLite finds wrong with a table and its indexes."""
    if connection is None:
        return ""
    try:
        rows = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check('{table}')")]
    except sqlite3.DatabaseError as error:
        return str(error)
    return "" if rows == ["ok"] else rows[0]


def _table(salvage: Salvage, schema: Schema, shape: RecordShape, said: str) -> Iterator[Finding]:
    tree = salvage.trees[shape.table]
    indexes = [index for index in schema.indexes.values() if index.table == shape.table]
    counted = _counted(salvage, shape, keep=bool(indexes))
    is_hurt = bool(tree.lost or tree.doubtful or counted.unread or not counted.in_order)
    whole = [index for index in indexes if not index.partial and salvage.is_whole(index)]
    missing = _missing(salvage, counted, whole[0]) if whole else None
    if not is_hurt:
        missing = 0
    elif not whole and not tree.lost and not tree.doubtful:
        missing = counted.unread
    if is_hurt:
        remedy: Remedy = "repair" if missing == 0 or shape.table in DERIVED else "rescue"
        yield _bad(f"table {shape.table}", f"hurt: {counted.rows:,} rows can be read, {_lost(missing)}", remedy)
    told = False
    for index in indexes:
        trouble, is_doubt = _index(salvage, shape, index, counted, said=said)
        if trouble and is_doubt and shape.table not in DERIVED:
            told = True
            yield _bad(f"table {shape.table}", trouble, "rescue")
        elif trouble:
            told = True
            yield _bad(f"index {index.name}", f"{trouble}; it can be made anew", "repair")
    if said and not is_hurt and not told:
        words = " ".join(said.split())
        yield _bad(f"table {shape.table}", f"{words}; all its {counted.rows:,} rows can be read", _remedy(shape, words))


def _remedy(shape: RecordShape, said: str) -> Remedy:
    # A value that breaks its column's rule is no longer what was stored.
    is_value = any(words in said for words in ("value in", "NULL value", "CHECK constraint"))
    return "rescue" if is_value and shape.table not in DERIVED else "repair"


def _lost(missing: int | None) -> str:
    if missing is None:
        return "nobody can tell how many are lost"
    return f"{missing:,} lost" if missing else "none is lost"


def _counted(salvage: Salvage, shape: RecordShape, *, keep: bool) -> _TableContent:
    rows = unread = 0
    in_order, last, entries = True, None, dict[int, Values]()
    for row in salvage.rows(shape.table):
        if row is None:
            unread += 1
            continue
        rows += 1
        if shape.by_rowid and row.rowid is not None:
            in_order &= last is None or row.rowid > last
            last = row.rowid
            if keep:
                entries[row.rowid] = row.values
    return _TableContent(len(entries) if keep else rows, unread, in_order, entries)


def _missing(salvage: Salvage, counted: _TableContent, index: IndexShape) -> int:
    return sum(rowid not in counted.entries for _, rowid in salvage.entries(index))


def _index(
    salvage: Salvage, shape: RecordShape, index: IndexShape, counted: _TableContent, *, said: str
) -> tuple[str, bool]:
    """What is wrong with an index, and whether a row could be what is wrong instead."""
    if not salvage.is_whole(index):
        return "hurt", False
    if index.partial:
        return ("hurt", False) if f"index {index.name}" in said else ("", False)
    names = shape.names(len(shape.columns))
    places = [names.index(name) for name in index.columns]
    differing: list[int] = []
    seen: set[int] = set()
    for values, rowid in salvage.entries(index):
        row = counted.entries.get(rowid)
        twice = rowid in seen
        seen.add(rowid)
        if row is not None and not twice:
            # What an older row lacks is its column's default.
            own = tuple(row[place] if place < len(row) else value for place, value in zip(places, values, strict=True))
            if own != values:
                differing.append(rowid)
    if differing:
        named = ", ".join(map(str, differing[:_NAMED])) + (" …" if len(differing) > _NAMED else "")
        return f"row {named}: it and its index {index.name} say different things, and either may be hurt", True
    lacking = counted.entries.keys() - seen
    return (f"{len(lacking):,} rows are not in it", False) if lacking else ("", False)


def _bad(name: str, message: str, remedy: Remedy) -> Finding:
    return Finding(name=name, ok=False, message=message, remedy=remedy)
