"""Whole results of a query, for frames; nothing but reading is possible while it runs."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from workbench.core.errors import UsageError

View = Literal[
    "items", "item_texts", "counted_runs", "run_verdicts", "judged", "current_labels", "current_reviews", "verdicts"
]
"""The views of `schema_views`; ``verdicts`` is ``judged`` with the verdicts on items without gold."""

_COUNTED = """
    SELECT n.verifier, i.*,
           CASE x.outcome WHEN 0 THEN 'incorrect' WHEN 1 THEN 'correct' WHEN 2 THEN 'abstain' ELSE 'error' END
               AS verdict,
           x.score, x.reason,
           CASE WHEN x.outcome < 2 THEN x.outcome = i.gold ELSE i.gold = 0 END AS right_forced,
           CASE WHEN x.outcome < 2 THEN x.outcome = i.gold WHEN i.gold IS NOT NULL THEN 0 END AS right_strict,
           CASE WHEN x.outcome < 2 THEN x.outcome = i.gold END AS right_decided
    FROM counted_runs AS n
    JOIN verdicts AS x ON x.run_id = n.run AND x.sample = 0
    JOIN items AS i ON i.item = x.completion_id"""

_BEYOND = frozenset(
    {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
)
"""What a connection that can't write to its tables may do to other files, or to those who read after."""

_LOOKS = frozenset({"table_info", "table_list", "table_xinfo"})
"""Pragmas that tell something and change nothing."""


class Result(NamedTuple):
    """Columns by name and the rows beneath them."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


def view(connection: sqlite3.Connection, name: View, items: Sequence[int] | None = None) -> Result:
    """All rows of a view, or those of some items (by row id)."""
    rows = f"({_COUNTED})" if name == "verdicts" else name
    if items is None:
        return query(connection, f"SELECT * FROM {rows}")
    return query(
        connection, f"SELECT * FROM {rows} WHERE item IN (SELECT value FROM json_each(?))", (json.dumps(list(items)),)
    )


def query(connection: sqlite3.Connection, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Result:
    """What a statement gives.

    The connection can't write to its tables; SQLite's authorizer denies what goes beyond: to attach or write other
    files, transactions, and the pragma that would make it writable.

    Raises:
        UsageError: It is no statement that reads, or its parameters don't fit.
    """
    connection.set_authorizer(_authorize)
    try:
        cursor = connection.execute(sql, parameters)
        if cursor.description is None:
            raise UsageError("The statement gives no rows.", "Only reading is possible here.")
        return Result([column[0] for column in cursor.description], cursor.fetchall())
    except (sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
        raise UsageError(f"SQLite: {error}.", "The views and their columns stand in docs/sql.md.") from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_AUTH:
            raise
        raise UsageError("The statement does more than read.", "Only reading is possible here.") from error
    finally:
        connection.set_authorizer(None)


def _authorize(action: int, name: str | None, *_: str | None) -> int:
    beyond = action in _BEYOND or (action == sqlite3.SQLITE_PRAGMA and name not in _LOOKS)
    return sqlite3.SQLITE_DENY if beyond else sqlite3.SQLITE_OK
