"""Refused rows of imports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from workbench.model.item import QuarantinedRow, Refusal


def put(connection: sqlite3.Connection, import_id: int, refused: Iterable[Refusal]) -> None:
    """Keep refused rows of an import, in the caller's transaction."""
    connection.executemany(
        "INSERT INTO quarantine (import_id, line, code, field, message, raw) VALUES (?, ?, ?, ?, ?, ?)",
        [(import_id, row.line, row.code, row.field, row.message, row.raw) for row in refused],
    )


def reasons(connection: sqlite3.Connection, import_id: int) -> dict[str, int]:
    """How many rows of an import were refused, by code."""
    rows = connection.execute(
        "SELECT code, count(*) FROM quarantine WHERE import_id = ? GROUP BY code ORDER BY code", (import_id,)
    )
    return dict(rows.fetchall())


def first(connection: sqlite3.Connection, import_id: int, most: int) -> list[QuarantinedRow]:
    """The first refused rows of an import, by line."""
    rows = connection.execute(
        "SELECT line, field, code, message FROM quarantine WHERE import_id = ? ORDER BY line, id LIMIT ?",
        (import_id, most),
    )
    return [QuarantinedRow(line=line, field=field, code=code, message=message) for line, field, code, message in rows]


def lines(connection: sqlite3.Connection, import_id: int) -> frozenset[int]:
    """The lines of an import that were refused."""
    rows = connection.execute("SELECT DISTINCT line FROM quarantine WHERE import_id = ?", (import_id,))
    return frozenset(line for (line,) in rows)
