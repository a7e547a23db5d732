"""Completions as verifiers see them: texts, and fields of a row or its code problem."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec import structs

from workbench.core.database.connection import Database
from workbench.core.database.selection import IS_CHECK, STATE, SUBTYPE, VISIBLE, items_sql
from workbench.core.verdict import Rival, VerifierInput

if TYPE_CHECKING:
    from workbench.verifiers.base import Identified
    from workbench.verifiers.duel.pairwise import Pairwise


def _extra_field_sql(name: str) -> str:
    own = (
        f"CASE json_type({extra}, '$.{name}') WHEN 'text' THEN json_extract({extra}, '$.{name}') END"
        for extra in ("ct.extra", "qt.extra", "p.extra")
    )
    return f"coalesce({', '.join(own)})"


_WORDS = ("example", "difficulty", "reward")
"""Fields of a row, or of its code problem, that verifiers see."""
_PUBLIC = "public"
"""The suite of a problem's public examples, if its rows lack such a field."""
_IS_CODE = "EXISTS (SELECT 1 FROM code_solutions AS s WHERE s.completion_id = c.id)"


def inputs(database: Database, items: list[int]) -> list[VerifierInput]:
    """Return completions with their texts, in the order of ``items``."""
    if not items:
        return []
    rows = (
        database.reader()
        .execute(
            f"SELECT c.id, qt.text, qt.reference, ct.text, {SUBTYPE}, {_IS_CODE}, coalesce(p.language, "
            f"{_extra_field_sql('language')}), coalesce(p.entry_point, {_extra_field_sql('function_name')}), "
            f"{', '.join(map(_extra_field_sql, _WORDS))}, "
            f"CASE WHEN p.question_id IS NOT NULL AND {_extra_field_sql('example')} IS NULL "
            "THEN q.id END FROM json_each(?) AS wanted CROSS JOIN completions AS c ON c.id = wanted.value CROSS JOIN "
            "completion_text AS ct ON ct.id = c.id CROSS JOIN questions AS q ON q.id = c.question_id CROSS JOIN "
            "question_text AS qt ON qt.id = q.id LEFT JOIN code_problems AS p ON p.question_id = q.id LEFT JOIN "
            "item_states AS i ON i.completion_id = c.id ORDER BY wanted.key",
            (msgspec.json.encode(items).decode(),),
        )
        .fetchall()
    )
    public = _public_examples(database, sorted({row[11] for row in rows if row[11] is not None}))
    return [
        VerifierInput(
            item=row[0],
            question=row[1],
            reference=row[2],
            completion=row[3],
            subtype=row[4],
            is_code=bool(row[5]),
            language=row[6],
            function_name=row[7],
            example=row[8] or public.get(row[11]),
            difficulty=row[9],
            reward=row[10],
        )
        for row in rows
    ]


def _public_examples(database: Database, questions: list[int]) -> dict[int, str]:
    found: dict[int, list[str]] = {}
    rows = database.reader().execute(
        "SELECT t.question_id, t.form, t.source, t.expected FROM json_each(?) AS wanted "
        "CROSS JOIN tests AS t ON t.question_id = wanted.value JOIN suites AS s ON s.id = t.suite_id "
        "WHERE s.name = ? ORDER BY t.question_id, t.position",
        (msgspec.json.encode(questions).decode(), _PUBLIC),
    )
    for question, form, source, expected in rows:
        text = f"Input:\n{source}\nOutput:\n{expected}" if form == "stdio" else source
        found.setdefault(question, []).append(text.rstrip("\n"))
    return {question: "\n\n".join(examples) for question, examples in found.items()}


# -- The other completions of an item's question, for a verifier that compares them.


def with_rivals(database: Database, verifier: Identified, items: Iterable[VerifierInput]) -> list[VerifierInput]:
    # Only this verifier compares completions.
    from workbench.verifiers.duel.pairwise import Pairwise

    if not isinstance(verifier, Pairwise):
        return list(items)
    return [structs.replace(item, rivals=_rivals(database, item.item, verifier.opponents)) for item in items]


def paired(
    database: Database, verifier: Pairwise, chunks: Iterable[list[VerifierInput]]
) -> Iterator[list[VerifierInput]]:
    """Yield all items of a run with their rivals, one at a time, so that the runner can do other work in between."""
    for chunk in chunks:
        for item in chunk:
            yield with_rivals(database, verifier, [item])


def _rivals(database: Database, item: int, count: int) -> tuple[Rival, ...]:
    reader = database.reader()
    circle = _sibling_completions(reader, item)
    if item not in circle:
        return ()
    here = circle.index(item)
    steps = [step for distance in range(1, count // 2 + 1) for step in (distance, -distance)]
    near = dict.fromkeys(circle[(here + step) % len(circle)] for step in steps)
    return tuple(Rival(item=one, completion=text) for one, text in _completion_texts(reader, [*near]) if one != item)


def _sibling_completions(connection: sqlite3.Connection, item: int) -> list[int]:
    """Return row ids of the completions of an item's question, without excluded ones and checks, in import order.

    The item itself may be among them.
    """
    where = f"{VISIBLE} AND {STATE} <> 'excluded' AND NOT {IS_CHECK}"
    rows = connection.execute(
        f"SELECT c.id FROM {items_sql(where)} WHERE {where} "
        "AND c.question_id = (SELECT question_id FROM completions WHERE id = ?) ORDER BY c.id",
        (item,),
    )
    return [one for (one,) in rows]


def _completion_texts(connection: sqlite3.Connection, items: Sequence[int]) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT t.id, t.text FROM json_each(?) AS wanted CROSS JOIN completion_text AS t ON t.id = wanted.value",
        (msgspec.json.encode(list(items)).decode(),),
    ).fetchall()
