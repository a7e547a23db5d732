"""Whole results of a query, for frames; the connection can't write."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from workbench.errors import UsageError

View = Literal["items", "item_texts", "counted_runs", "run_verdicts", "judged", "current_labels", "current_reviews"]
"""The views of `schema_views`."""


class Result(NamedTuple):
    """Columns by name and the rows beneath them."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def view(connection: sqlite3.Connection, name: View, items: Sequence[int] | None = None) -> Result:
    """All rows of a view, or those of some items (by row id)."""
    if items is None:
        return query(connection, f"SELECT * FROM {name}")
    return query(
        connection, f"SELECT * FROM {name} WHERE item IN (SELECT value FROM json_each(?))", (json.dumps(list(items)),)
    )


def query(connection: sqlite3.Connection, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Result:
    """What a statement gives.

    Raises:
        UsageError: It is no statement that reads, or its parameters don't fit.
    """
    try:
        cursor = connection.execute(sql, parameters)
        if cursor.description is None:
            raise UsageError("The statement gives no rows.", "Only reading is possible here.")
        return Result([column[0] for column in cursor.description], cursor.fetchall())
    except (sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
        raise UsageError(f"SQLite: {error}.", "The views and their columns stand in docs/sql.md.") from error
