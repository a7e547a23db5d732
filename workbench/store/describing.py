"""What a data card says that stands in no column of figures: files, refused rows, exclusions, odd texts."""

from __future__ import annotations

import json
import sqlite3
from hashlib import blake2b
from pathlib import PurePath

from workbench.model.card import ImportedFile
from workbench.store.selection import VISIBLE

LONG_REFERENCE = 2_000
"""Characters above which a reference is more than an answer."""


def imported_files(connection: sqlite3.Connection) -> list[ImportedFile]:
    """The files items came from, in the order they were read."""
    rows = connection.execute(
        "SELECT d.name, n.path, n.format, n.file_hash, n.rows_read, n.imported, n.unchanged, n.quarantined, n.mapping "
        "FROM imports AS n JOIN datasets AS d ON d.id = n.dataset_id WHERE n.state = 'complete' ORDER BY n.id"
    )
    return [
        ImportedFile(
            dataset=row[0],
            name=PurePath(row[1]).name,
            format=row[2],
            blake2b=row[3].hex() if row[3] else "",
            read=row[4],
            imported=row[5],
            unchanged=row[6],
            quarantined=row[7],
            swapped_types=_swapped(row[8]),
        )
        for row in rows
    ]


def _swapped(mapping: str) -> bool:
    try:
        found = json.loads(mapping)
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("swapped_types") is True


def quarantined(connection: sqlite3.Connection) -> dict[str, int]:
    """Refused rows by code."""
    return dict(connection.execute("SELECT code, count(*) FROM quarantine GROUP BY code ORDER BY code").fetchall())


def exclusions(connection: sqlite3.Connection) -> dict[str, int]:
    """Excluded items by reason, the most frequent first."""
    rows = connection.execute(
        "SELECT coalesce(reason, ''), count(*) FROM item_states WHERE state = 'excluded' "
        "GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    return dict(rows.fetchall())


_PIECE = 50_000

_AMONG = "(?1 IS NULL OR c.id IN (SELECT value FROM json_each(?1)))"


def long_references(connection: sqlite3.Connection, items: list[int] | None = None) -> int:
    """Questions of these items, or of all, whose reference is longer than `LONG_REFERENCE`."""
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM question_text AS t WHERE length(t.reference) > ?2 "
        "AND t.id < (SELECT question_id FROM horizon) "
        f"AND (?1 IS NULL OR t.id IN (SELECT c.question_id FROM completions AS c WHERE {_AMONG}))",
        (_json(items), LONG_REFERENCE),
    ).fetchone()
    return row[0]


def repeated_completions(connection: sqlite3.Connection, items: list[int] | None = None) -> int:
    """Of these items, or of all: completions whose text another one of the same question has too, beyond the first."""
    row: tuple[int | None] = connection.execute(
        f"SELECT sum(n - 1) FROM (SELECT count(*) AS n FROM completions AS c WHERE {VISIBLE} AND {_AMONG} "
        "GROUP BY c.question_id, c.hash HAVING n > 1)",
        (_json(items),),
    ).fetchone()
    return row[0] or 0


def _json(items: list[int] | None) -> str | None:
    return None if items is None else json.dumps(items)


def schema_version(connection: sqlite3.Connection) -> int:
    """The version of the database's tables."""
    row: tuple[int] = connection.execute("PRAGMA user_version").fetchone()
    return row[0]


def texts_digest(connection: sqlite3.Connection) -> bytes:
    """BLAKE2b-128 over the content hashes of all questions (with references) and completions, in order."""
    digest = blake2b(digest_size=16)
    last = connection.execute("SELECT max(id) FROM completions").fetchone()[0] or 0
    for first in range(1, last + 1, _PIECE):
        # Whole stretches as one text: row by row they would take four times as long.
        (text,) = connection.execute(
            "SELECT group_concat(hashes, '') FROM (SELECT hex(q.hash) || hex(c.hash) AS hashes FROM completions AS c "
            f"JOIN questions AS q ON q.id = c.question_id WHERE {VISIBLE} AND c.id BETWEEN ? AND ? ORDER BY c.id)",
            (first, first + _PIECE - 1),
        ).fetchone()
        digest.update(bytes.fromhex(text or ""))
    return digest.digest()
