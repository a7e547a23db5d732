"""Which row an item of an import contradicts, and in which fields."""

from __future__ import annotations

import sqlite3
from pathlib import PurePath
from typing import NamedTuple

from workbench.core.item import ItemRecord

_QUESTION = (
    "SELECT qt.text, qt.reference, s.name, q.type, q.subtype FROM questions AS q "
    "JOIN question_text AS qt ON qt.id = q.id LEFT JOIN sources AS s ON s.id = q.source_id WHERE q.id = ?"
)
_OF_QUESTION = ("question", "reference", "source", "type", "subtype")
_COMPLETION = (
    "SELECT c.id, ct.text, c.imported_gold, m.name, ct.extra FROM completions AS c "
    "JOIN completion_text AS ct ON ct.id = c.id LEFT JOIN models AS m ON m.id = c.model_id "
    "WHERE c.question_id = ? AND c.key = ?"
)
_OF_COMPLETION = ("completion", "gold", "model", "further columns")
_IMPORTED = (
    "SELECT path, first_completion_id FROM imports WHERE first_completion_id <= ? ORDER BY first_completion_id DESC, "
    "id DESC LIMIT 1"
)


class Contradicted(NamedTuple):
    """A stored row.

    Attributes:
        fields: In what it differs.
        place: Where it came from, in words; "" where that is not known.
    """

    fields: tuple[str, ...]
    place: str


def contradicted(connection: sqlite3.Connection, question: int, item: ItemRecord) -> Contradicted:
    """The row of a question that an item contradicts.

    Args:
        question: Row id of the question of the item's key.
    """
    stored = connection.execute(_QUESTION, (question,)).fetchone() or (None,) * len(_OF_QUESTION)
    said = (item.question, item.reference, item.source, item.type, item.subtype)
    fields = _differing(_OF_QUESTION, stored, said)
    if fields:
        first = connection.execute("SELECT min(id) FROM completions WHERE question_id = ?", (question,)).fetchone()[0]
        return Contradicted(fields, _place(connection, first))
    row = connection.execute(_COMPLETION, (question, item.completion_key)).fetchone()
    if row is None:
        return Contradicted((), "")
    gold = None if row[2] is None else bool(row[2])
    told = (item.completion, item.gold, item.model, item.extra)
    return Contradicted(_differing(_OF_COMPLETION, (row[1], gold, *row[3:]), told), _place(connection, row[0]))


def _differing(names: tuple[str, ...], stored: tuple[object, ...], said: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(name for name, one, other in zip(names, stored, said, strict=True) if one != other)


def _place(connection: sqlite3.Connection, completion: int | None) -> str:
    """The file, and which of the rows taken from it."""
    row = None if completion is None else connection.execute(_IMPORTED, (completion,)).fetchone()
    if row is None or completion is None:
        return ""
    return f"row {completion - row[1] + 1:,} of those taken from {PurePath(row[0]).name[:80]}"
