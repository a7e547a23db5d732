"""Differences between a database's schema and the program's.

Building a schema takes some tens of milliseconds, so a digest of the newest one's text tells first whether there is
anything to compare.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

DIGESTS: Final = {
    16: "e668cacd214db48d71c31f306ab5949c",
}
"""Schema version -> `digest` of its text as it is made; a migrated one differs in white space, and is compared."""

NAMES: Final = "_sqlite_migrations"
"""The table of applied migrations; earlier versions created it with sqlite-utils, in its spelling."""

_TEXT: Final = "iif(typeof({0}) IN ('text', 'null'), {0}, quote({0}))"
# A placeholder for a non-text value in a text column, which never equals ours.
_READ: Final = (
    f"SELECT {', '.join(map(_TEXT.format, ('type', 'name', 'tbl_name')))}, rootpage, {_TEXT.format('sql')} "
    "FROM main.sqlite_master ORDER BY type, name, sql"
)
_TAKEN: Final = re.compile("sqlite_|pragma_|json_each$|json_tree$", re.IGNORECASE)
"""Names of SQLite's own tables, which a table of the same name would shadow."""
_STATISTICS: Final = ("sqlite_stat1", "sqlite_stat3", "sqlite_stat4", "sqlite_sequence")
_WRITTEN: Final = {
    "table": re.compile(r"CREATE TABLE\b"),
    "index": re.compile(r"CREATE (UNIQUE )?INDEX\b"),
    "view": re.compile(r"CREATE VIEW\b"),
    "trigger": re.compile(r"CREATE TRIGGER\b"),
}
"""The normalised beginning of SQLite's stored text of each kind."""
_OF_NAMES: Final = {
    "table": re.compile(rf"""CREATE TABLE ["\[`]?{NAMES}["\]`]?\s*\("""),
    "index": re.compile(rf"""CREATE (UNIQUE )?INDEX \S+\s+ON ["\[`]?{NAMES}["\]`]?\s*\("""),
}
_TOKEN: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|[^\w\s]""")
_NEEDLESS: Final = re.compile(r'^"([a-z_][a-z0-9_]*)"$')
_COLLATIONS: Final = {"BINARY", "NOCASE", "RTRIM"}


class Stored(NamedTuple):
    kind: str
    name: str
    table: str
    page: int | None
    sql: str | None


class Difference(NamedTuple):
    """A difference between a schema and the program's.

    Attributes:
        what: Description: ``"trigger 'x' on label_events is not workbench's"``.
        sql: Its text in the database, if it has one.
        harmless: Whether it has no effect on the data read and written, at most on speed.
    """

    kind: str
    name: str
    what: str
    sql: str | None = None
    harmless: bool = False


def digest(stored: Iterable[Stored]) -> str:
    """Return a hash of a schema's text, without the table of applied migrations."""
    text = repr([(row.kind, row.name, row.table, row.sql) for row in stored if not _of_names(row)])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def differences(connection: sqlite3.Connection, version: int, made: Callable[[], Sequence[Stored]]) -> list[Difference]:
    """Return the differences, the most serious first.

    Args:
        made: Returns the program's schema of that version.
    """
    stored = read(connection)
    encoding: str = connection.execute("PRAGMA main.encoding").fetchone()[0]
    found = [] if encoding == "UTF-8" else [Difference("encoding", encoding, f"texts are stored as {encoding}")]
    found += _misplaced(stored)
    if digest(stored) != DIGESTS.get(version):
        found += _compared(connection, stored, made())
    return sorted(found, key=lambda difference: difference.harmless)


def read(connection: sqlite3.Connection) -> tuple[Stored, ...]:
    return tuple(map(Stored._make, connection.execute(_READ)))


def _of_names(row: Stored) -> bool:
    if row.table != NAMES or row.sql is None:
        return row.table == NAMES and row.kind == "index"
    return (
        row.kind in _OF_NAMES
        and _OF_NAMES[row.kind].match(row.sql) is not None
        and (row.kind == "index" or row.name == NAMES)
    )


def _misplaced(stored: Iterable[Stored]) -> Iterator[Difference]:
    kept = [row for row in stored if row.kind in ("table", "index") and not _is_virtual(row)]
    shared = Counter(row.page for row in kept)
    for row in kept:
        if not isinstance(row.page, int) or row.page < 2 or shared[row.page] > 1:
            yield Difference(row.kind, row.name, f"{_called(row)} has no pages of its own", row.sql)


def _compared(connection: sqlite3.Connection, stored: Sequence[Stored], made: Sequence[Stored]) -> Iterator[Difference]:
    ours = {(row.kind, row.name): row for row in made}
    twice = Counter(row.name.lower() for row in stored)
    known = {row.name for row in made if row.kind == "table"}
    for row in stored:
        mine = ours.pop((row.kind, row.name), None)
        if twice[row.name.lower()] > 1:
            yield Difference(row.kind, row.name, f"{_called(row)} is there twice", row.sql)
        elif mine is not None:
            if not _same(row, mine):
                yield Difference(row.kind, row.name, f"{_called(row)} is not as workbench makes it", row.sql)
        elif not _of_names(row):
            yield from _extra(connection, row, known)
    for row in ours.values():
        slower = row.kind == "index" and not _is_unique(row)
        yield Difference(row.kind, row.name, f"{_called(row)} is missing", None, harmless=slower)


def _extra(connection: sqlite3.Connection, row: Stored, known: set[str]) -> Iterator[Difference]:
    written = _WRITTEN.get(row.kind)
    strange = f"{_called(row)} is not workbench's"
    if row.kind == "index" and row.sql is None:
        # It belongs to its table, which is compared itself.
        return
    if _is_virtual(row):
        yield Difference(row.kind, row.name, f"virtual {strange}", row.sql)
    elif written is None or row.sql is None or not written.match(row.sql):
        yield Difference(row.kind, row.name, f"{strange}, and its text is not valid for its kind", row.sql)
    elif row.name in _STATISTICS and row.kind == "table":
        yield Difference(row.kind, row.name, f"{_called(row)} holds SQLite's statistics", row.sql, harmless=True)
    elif row.kind == "trigger" or _TAKEN.match(row.name):
        yield Difference(row.kind, row.name, strange, row.sql)
    elif row.kind == "index":
        yield Difference(row.kind, row.name, strange, row.sql, harmless=_is_harmless(connection, row, known))
    else:
        # A virtual table's shadow tables belong to it.
        parsed = {
            (kind.replace("shadow", "table"), name)
            for _, name, kind, *_ in connection.execute("PRAGMA main.table_list").fetchall()
        }
        yield Difference(row.kind, row.name, strange, row.sql, harmless=(row.kind, row.name) in parsed)


def _is_harmless(connection: sqlite3.Connection, index: Stored, known: set[str]) -> bool:
    """Return whether an index is on a foreign table, or can't reject, drop or reorder anything.

    The latter indexes are only on columns, use SQLite's own collations, and cover every row.
    """
    parsed = connection.execute(
        'SELECT "unique", partial FROM pragma_index_list(?) WHERE name = ?', (index.table, index.name)
    ).fetchone()
    if parsed is None or index.table not in known:
        return parsed is not None
    columns = connection.execute("SELECT cid, coll FROM pragma_index_xinfo(?)", (index.name,)).fetchall()
    return parsed == (0, 0) and all(cid > -2 and coll in _COLLATIONS for cid, coll in columns)


def _is_unique(index: Stored) -> bool:
    return index.sql is None or index.sql.startswith("CREATE UNIQUE")


def _is_virtual(row: Stored) -> bool:
    return row.kind == "table" and (row.sql or "").startswith("CREATE VIRTUAL")


def _same(row: Stored, mine: Stored) -> bool:
    return row.table == mine.table and (row.sql == mine.sql or _tokens(row.sql) == _tokens(mine.sql))


def _tokens(sql: str | None) -> list[str]:
    """Return a text without differences of spelling: white space, and quotes round names that need none.

    Versions of SQLite differ in the spelling of statements that they generate. Comments are kept: the program's
    statements have none.
    """
    return [_NEEDLESS.sub(r"\1", token) for token in _TOKEN.findall(sql or "")]


def _called(row: Stored) -> str:
    where = f" on {shown(row.table)}" if row.kind in ("trigger", "index") else ""
    return f"{shown(row.kind)} {shown(row.name)}{where}"


def shown(name: str) -> str:
    """Return a name from a database: unchanged if it is plain, else quoted and escaped."""
    return name if name.isascii() and name.isidentifier() else repr(name)


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
