"""The items' properties and a run's verdicts as columns, whole or for a range of rows."""

from __future__ import annotations

import sqlite3
from array import array

from msgspec import Struct

from workbench.store.selection import COLUMNS, GOLD, IMPORTED_GOLD, IS_CHECK, VISIBLE, items_for

FIELDS = ("type", "subtype", "domain", "source", "model", "dataset")
"""Properties of items that are names."""

EVERY_ROW = (0, 2**63 - 1)

_GOLDS = (
    f"coalesce({GOLD}, -1)",
    "CASE WHEN i.gold_from IS NOT NULL AND i.state NOT IN ('conflict', 'excluded') "
    f"AND NOT {IS_CHECK} THEN i.gold ELSE -1 END",
    # An excluded item is in no table, whatever its file said.
    f"CASE WHEN i.state = 'excluded' THEN -1 ELSE coalesce({IMPORTED_GOLD}, -1) END",
)


class ItemRows(Struct, frozen=True, kw_only=True):
    """Visible items in order of row id.

    Attributes:
        item: Row ids of the completions.
        question: Row ids of their questions.
        characters: Lengths of the completions; -1 where it is not known.
        final: Gold: 1 correct, 0 incorrect, -1 none.
        people: The same, of people only.
        imported: The same, as imported.
        codes: For each of `FIELDS` positions in its names.
        names: For each of `FIELDS` the names.
    """

    item: array[int]
    question: array[int]
    characters: array[int]
    final: array[int]
    people: array[int]
    imported: array[int]
    codes: dict[str, array[int]]
    names: dict[str, list[str]]


def item_rows(connection: sqlite3.Connection, first: int, last: int) -> ItemRows:
    """Read the items with row ids from ``first`` to ``last``."""
    texts = ["c.id", "c.question_id", "coalesce(c.characters, -1)", *_GOLDS, *(COLUMNS[field] for field in FIELDS)]
    rows = connection.execute(
        f"SELECT {', '.join(texts)} FROM {items_for(*texts)} WHERE {VISIBLE} AND c.id BETWEEN ? AND ? ORDER BY c.id",
        (first, last),
    )
    numbers = [array(code) for code in "qqibbb"]
    codes = {field: array("i") for field in FIELDS}
    positions: dict[str, dict[str, int]] = {field: {} for field in FIELDS}
    while block := rows.fetchmany(20_000):
        columns = list(zip(*block, strict=True))
        for found, values in zip(numbers, columns, strict=False):
            found.extend(values)
        for field, values in zip(FIELDS, columns[len(numbers) :], strict=True):
            known = positions[field]
            codes[field].extend([known.setdefault(name, len(known)) for name in values])
    item, question, characters, final, people, imported = numbers
    return ItemRows(
        item=item,
        question=question,
        characters=characters,
        final=final,
        people=people,
        imported=imported,
        codes=codes,
        names={field: list(known) for field, known in positions.items()},
    )
