"""The parts of the schema (tables, indexes, views, triggers), read from ``schema.sql``, and what differs from them."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

_PART: Final = re.compile(
    r"^(CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER) (\w+).*?);$(?=\n(?:\n|CREATE|--|\Z)|\Z)", re.M | re.S
)
_LARGE: Final = ("questions_subtype", "completions_key", "completions_question")


class SchemaPart(NamedTuple):
    """A table, an index, a view or a trigger.

    Attributes:
        kind: The type in SQLite's schema table.
        sql: The statement that creates it.
    """

    kind: str
    name: str
    sql: str


def parts() -> tuple[SchemaPart, ...]:
    return _parts(text())


@lru_cache
def text() -> str:
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def _parts(schema: str) -> tuple[SchemaPart, ...]:
    return tuple(SchemaPart(kind.lower(), name, sql) for sql, kind, name in _PART.findall(schema))


def drop_large_indexes(connection: sqlite3.Connection) -> None:
    """Drop the indexes of the data tables: building them after inserting the first rows is faster."""
    for name in _LARGE:
        connection.execute(f"DROP INDEX {name}")


def build_large_indexes(connection: sqlite3.Connection) -> None:
    for part in parts():
        if part.name in _LARGE:
            connection.execute(part.sql)


# -- Differences between a database's schema and the program's. A trigger or view is ours by its text, a table by its
# columns, and an index by its name.


_NAMES: Final = "_sqlite_migrations"
"""A table that older workbenches made."""


class Difference(NamedTuple):
    """A difference between a schema and the program's.

    Attributes:
        what: Description: ``"trigger 'x' is not workbench's"``.
        sql: The SQL text of the object in the database, if it has one.
        harmless: Whether it affects at most the speed, not the data that is read and written.
    """

    kind: str
    name: str
    what: str
    sql: str | None = None
    harmless: bool = False


def differences(connection: sqlite3.Connection) -> list[Difference]:
    """Return the differences from the program's schema, the most serious first."""
    return sorted(_differences(connection, parts()), key=lambda difference: difference.harmless)


def _differences(connection: sqlite3.Connection, parts: tuple[SchemaPart, ...]) -> Iterator[Difference]:
    stored = connection.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master ORDER BY type, name")
    others = {(kind, name): (table, sql) for kind, name, table, sql in stored if not name.startswith("sqlite_")}
    for part in parts:
        called = f"{part.kind} {part.name}"
        _, sql = others.pop((part.kind, part.name), (None, None))
        if sql is None:
            slower = part.sql.startswith("CREATE INDEX")
            yield Difference(part.kind, part.name, f"{called} is missing", harmless=slower)
        elif not _is_ours(connection, part, sql):
            yield Difference(part.kind, part.name, f"{called} is not as workbench makes it", sql)
    ours = {part.name for part in parts}
    for (kind, name), (table, sql) in others.items():
        if kind != "trigger" and table == _NAMES:
            continue
        harmful = kind == "trigger" or (table in ours and sql.startswith("CREATE UNIQUE"))
        yield Difference(kind, name, f"{kind} {shown(name)} is not workbench's", sql, harmless=not harmful)


def _is_ours(connection: sqlite3.Connection, part: SchemaPart, sql: str) -> bool:
    # Migrations and versions of SQLite differ in white space.
    if part.kind == "index" or "".join(sql.split()) == "".join(part.sql.split()):
        return True
    if part.kind != "table":
        return False
    asked = f"PRAGMA table_xinfo({part.name})"
    with closing(sqlite3.connect(":memory:")) as made:
        made.execute(part.sql)
        return connection.execute(asked).fetchall() == made.execute(asked).fetchall()


def shown(name: str) -> str:
    """Return a name in a database for a message: unchanged if it is an ASCII identifier, else quoted and escaped."""
    return name if name.isascii() and name.isidentifier() else repr(name)


def quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
