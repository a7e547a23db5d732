"""Refused rows of imports."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from workbench.core.item import QuarantinedRow, Refusal


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


_ID = "json_extract(CAST(k.raw AS TEXT), '$.\"' || json_extract(n.mapping, '$.columns.{0}') || '\"')"
_MENDED = f"""
    SELECT k.id FROM quarantine AS k JOIN imports AS n ON n.id = k.import_id
    JOIN imports AS now ON now.id = ? AND now.dataset_id = n.dataset_id AND now.id > n.id
    WHERE (n.path = now.path AND n.format = now.format AND (now.unchanged > 0 OR n.imported = 0)
           AND k.line <= now.rows_read + 1
           AND NOT EXISTS (SELECT 1 FROM quarantine AS q WHERE q.import_id = now.id AND q.line = k.line))
       OR CASE WHEN json_valid(CAST(k.raw AS TEXT)) THEN EXISTS (
            SELECT 1 FROM completions AS c JOIN questions AS o ON o.id = c.question_id
            WHERE c.key = {_ID.format("completion_id")} AND o.key = {_ID.format("question_id")}
            AND o.dataset_id = n.dataset_id AND c.id >= now.first_completion_id) END"""


def release(connection: sqlite3.Connection, import_id: int) -> int:
    """Let rows of earlier imports go that a complete import has taken since; returns how many.

    They are known by their ids; without them, by their line in the same file, mended and imported again.
    """
    return connection.execute(f"DELETE FROM quarantine WHERE id IN ({_MENDED})", (import_id,)).rowcount
