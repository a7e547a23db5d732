"""Finds the items whose texts contain a search text, which is not a pattern; ASCII letters match in either case."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, islice
from typing import Final

from workbench.core.database.selection import VISIBLE_QUESTION, items_sql
from workbench.core.text.excerpt import snippet
from workbench.data.store.text_index import NO_INDEX, TextIndex

_MAX_PATTERN: Final = 10_000
"""Most characters of a pattern; SQLite accepts up to 50,000 bytes."""
_BATCH_SIZES: Final = (64, 8_192)
"""Number of candidates whose texts are read together: at first, and at most."""
_FREQUENT_RATIO: Final = 20
"""Matches count as frequent if fewer than this many questions exist per matching question."""
_RARE_RATIO: Final = 8
"""Matches count as rare if more than this many items exist per matching item."""
_QUESTION: Final = "questions AS q JOIN question_text AS qt ON qt.id = q.id"

Clause = tuple[str, list[object]]
"""A condition's SQL text and its parameters."""


def contains_clause(columns: Sequence[str], search: str) -> Clause:
    try:
        search.encode()
    except UnicodeEncodeError:
        return "0", []  # A lone surrogate, which only a broken terminal sends.
    if len(search) > _MAX_PATTERN or "\0" in search:
        sql, value = "instr(lower({}), lower(?)) > 0", search
    else:
        escaped = search.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        sql, value = "{} LIKE ? ESCAPE '\\'", f"%{escaped}%"
    return f"({' OR '.join(map(sql.format, columns))})", [value] * len(columns)


def matching(
    connection: sqlite3.Connection, index: TextIndex, search: str, where: Clause, after: int = 0
) -> Iterator[int]:
    """Yield the row ids, greater than ``after``, of items that contain the text and meet the conditions, in the order
    of import.

    Args:
        index: The full-text index; of the rows that it covers only candidates are read.
        where: The conditions.
    """
    own = _and_clauses(contains_clause(("c.key", "ct.text"), search), where)
    found = merge(
        _confirmed_items(connection, index.candidates("completions", search, after), own, index.completions),
        _matching_items(connection, ("c.id > ?", [max(after, index.completions)]), own),
        _items_of_questions(connection, _matching_questions(connection, index, search), where, after),
    )
    last = 0
    for item in found:
        if item != last:
            yield item
        last = item


def match_contexts(connection: sqlite3.Connection, items: Sequence[int], search: str) -> dict[int, str]:
    """Return the first match in each item that contains the text, with its field and context, by row id: ``"reference:
    … as …"``.
    """
    rows = connection.execute(
        "SELECT c.id, ct.text, qt.reference, qt.text, c.key, q.key FROM completions AS c "
        "JOIN questions AS q ON q.id = c.question_id JOIN question_text AS qt ON qt.id = q.id "
        "JOIN completion_text AS ct ON ct.id = c.id WHERE c.id IN (SELECT value FROM json_each(?))",
        (_json_list(items),),
    )
    return {item: next(_first_matches(texts, search), "") for item, *texts in rows}


def _first_matches(texts: Iterable[str], search: str) -> Iterator[str]:
    for place, text in zip(("completion", "reference", "question", "id", "question's id"), texts, strict=True):
        if (around := snippet(text, search)) is not None:
            yield f"{place}: {around}"


def all_matches_clause(connection: sqlite3.Connection, index: TextIndex, search: str) -> Clause:
    candidates = list(islice(index.candidates("completions", search), index.completions // _RARE_RATIO + 1))
    text, parameters = contains_clause(("c.key", "ct.text"), search)
    if not index.completions or len(candidates) > index.completions // _RARE_RATIO:
        questions = _json_list(_matching_questions(connection, NO_INDEX, search))
        return f"(c.question_id IN (SELECT value FROM json_each(?)) OR {text})", [questions, *parameters]
    own = f"SELECT c.id FROM completions AS c JOIN completion_text AS ct ON ct.id = c.id WHERE {text} AND c.id"
    of_questions = "SELECT id FROM completions WHERE question_id IN (SELECT value FROM json_each(?))"
    return (
        f"c.id IN ({own} IN (SELECT value FROM json_each(?)) UNION ALL {own} > ? UNION ALL {of_questions})",
        [
            *(*parameters, _json_list(candidates)),
            *(*parameters, index.completions),
            _json_list(_matching_questions(connection, index, search)),
        ],
    )


def _and_clauses(one: Clause, other: Clause) -> Clause:
    return f"{one[0]} AND {other[0]}", [*one[1], *other[1]]


def _confirmed_items(
    connection: sqlite3.Connection, candidates: Iterator[int], where: Clause, through: int
) -> Iterator[int]:
    size, most = _BATCH_SIZES
    while some := list(islice(candidates, size)):
        listed = _json_list(item for item in some if item <= through)
        yield from _matching_items(connection, ("c.id IN (SELECT value FROM json_each(?))", [listed]), where)
        size = min(2 * size, most)


def _items_of_questions(
    connection: sqlite3.Connection, questions: Iterator[int], where: Clause, after: int
) -> Iterator[int]:
    if listed := array("q", questions):
        (last,) = connection.execute("SELECT max(id) FROM questions").fetchone()
        by_item, by_question = ("", "+") if len(listed) * _FREQUENT_RATIO > last else ("+", "")
        which = f"{by_question}c.question_id IN (SELECT value FROM json_each(?)) AND {by_item}c.id > ?"
        text, parameters = _and_clauses((which, [_json_list(listed), after]), where)
        sql = f"SELECT c.id FROM {items_sql(text)} WHERE {text} ORDER BY {by_item}c.id"
        for (item,) in connection.execute(sql, parameters):
            yield item


def _matching_items(connection: sqlite3.Connection, which: Clause, where: Clause) -> Iterator[int]:
    text, parameters = _and_clauses(which, where)
    # Rows are read in order of row id, so that nothing is sorted; joined rows are looked up.
    walked = items_sql(text).replace(" JOIN ", " CROSS JOIN ").replace("LEFT CROSS JOIN", "LEFT JOIN")
    for (item,) in connection.execute(f"SELECT c.id FROM {walked} WHERE {text} ORDER BY c.id", parameters):
        yield item


def _matching_questions(connection: sqlite3.Connection, index: TextIndex, search: str) -> Iterator[int]:
    text, parameters = contains_clause(("q.key", "qt.text", "qt.reference"), search)
    text = f"{text} AND {VISIBLE_QUESTION}"
    candidates = _json_list(item for item in index.candidates("questions", search) if item <= index.questions)
    confirmed = f"SELECT q.id FROM {_QUESTION} WHERE q.id IN (SELECT value FROM json_each(?)) AND {text}"
    others = f"SELECT q.id FROM {_QUESTION} WHERE q.id > ? AND {text}"
    rows = chain(
        connection.execute(confirmed, (candidates, *parameters)),
        connection.execute(others, (index.questions, *parameters)),
    )
    return (question for (question,) in rows)


def _json_list(ids: Iterable[int]) -> str:
    return json.dumps(list(ids))
