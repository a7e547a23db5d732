"""The parts of the schema (tables, indexes, views, triggers), read from ``schema.sql`` for each version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from sqlite3 import Connection, complete_statement
from sys import maxsize
from typing import Final, NamedTuple

_SINCE: Final = "-- since "
_COLUMN: Final = "    , "
"""Prefix of the line of a column that was added later."""
_MADE: Final = re.compile(r"CREATE (?:UNIQUE )?(TABLE|INDEX|VIEW|TRIGGER) (\w+)")
_LARGE: Final = ("questions_subtype", "completions_key", "completions_question")

_Lines = Sequence[tuple[int, str]]
"""The version that added each line (0 if unmarked), and its text."""


class SchemaPart(NamedTuple):
    """A table, an index, a view or a trigger.

    Attributes:
        kind: The type in SQLite's schema table.
        sql: The statement that creates it.
        first: The statement without the columns that later versions added.
        later: The columns that later versions added, each as (version, definition).
    """

    kind: str
    name: str
    sql: str
    first: str
    later: tuple[tuple[int, str], ...]


@lru_cache
def text() -> str:
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


def parts(version: int = maxsize) -> tuple[SchemaPart, ...]:
    return _read_parts(text(), version)


def drop_large_indexes(connection: Connection) -> None:
    """Drop the indexes of the data tables: building them after inserting the first rows is faster."""
    for name in _LARGE:
        connection.execute(f"DROP INDEX {name}")


def build_large_indexes(connection: Connection) -> None:
    for part in parts():
        if part.name in _LARGE:
            connection.execute(part.sql)


@lru_cache(maxsize=8)
def _read_parts(schema: str, version: int) -> tuple[SchemaPart, ...]:
    return tuple(
        _make_part([line for line in lines if line[0] <= version])
        for since, lines in _statements(schema)
        if since <= version
    )


def _statements(schema: str) -> Iterator[tuple[int, _Lines]]:
    since, lines = 0, list[tuple[int, str]]()
    for line in schema.splitlines():
        if line.startswith("--") and not line.startswith(_SINCE):
            continue
        said, _, version = line.partition(_SINCE)
        came, said = int(version or 0), said.rstrip()
        if lines or said:
            lines.append((came, said))
        elif came:
            since = came
        if said.endswith(";") and complete_statement("\n".join(said for _, said in lines)):
            yield since, lines
            since, lines = 0, []


def _make_part(lines: _Lines) -> SchemaPart:
    whole, first = (
        "\n".join(said for came, said in lines if every or not _is_column(came, said)).removesuffix(";")
        for every in (True, False)
    )
    made = _MADE.match(whole)
    if made is None:
        raise ValueError(whole)
    later = tuple((came, said.removeprefix(_COLUMN)) for came, said in lines if _is_column(came, said))
    return SchemaPart(made[1].lower(), made[2], whole, first, later)


def _is_column(came: int, said: str) -> bool:
    return came > 0 and said.startswith(_COLUMN)
