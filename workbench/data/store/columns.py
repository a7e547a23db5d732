"""Reads the properties of items and the verdicts of a run as columns (arrays), for a range of row ids."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from workbench.core.database.selection import (
    COLUMNS,
    GOLD,
    GOLD_FROM,
    IMPORTED_GOLD,
    KEPT,
    VISIBLE,
    WORDS_TOLD,
    items_sql,
    require_column,
)
from workbench.core.database.values import vector
from workbench.core.errors import UsageError, opt
from workbench.core.installed import find_page
from workbench.core.progress import raise_if_cancelled
from workbench.core.selection import COLUMN
from workbench.core.verdict import OutcomeCode
from workbench.statistics.records.report import NO_REASON

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


Connection = sqlite3.Connection
Vector: TypeAlias = "npt.NDArray[np.int64]"
IntArray: TypeAlias = "npt.NDArray[np.integer[Any]]"
FIELDS = ("dataset", "source", "domain", "type", "subtype", "model")
"""Properties of items with names as values."""
ORIGINS = ("none", "imported", "agreed", "adjudicated")
"""Origins of an item's gold, by code."""
EVERY_ROW = (0, 2**63 - 1)
OF_QUESTION = FIELDS[:5]
"""Properties that an item inherits from its question, unless annotators changed them."""
_MAX_VALUE = 80
"""Most characters of a group's name."""
_MAX_VALUES = 10_000
_PIECE, _FIRST_PIECE, _GROWTH = 50_000, 1_000, 7
"""Number of row ids read at once, the number at first, and its growth. The first reads are small because new reasons
are read twice.
"""
_MAX_CODED_REASONS = 40
"""Most reasons that SQLite encodes itself."""
_OUTCOMES = len(OutcomeCode)
_UNKNOWN = 200
_THREE_DIGITS = 100
_FINAL = f"coalesce({GOLD}, -1)"
# Excluded items are in no table, whatever their file says.
_IMPORTED = f"CASE WHEN i.state = 'excluded' THEN -1 ELSE coalesce({IMPORTED_GOLD}, -1) END"
_ORIGIN = f"CASE {GOLD_FROM} WHEN 'imported' THEN 1 WHEN 'agreed' THEN 2 WHEN 'adjudicated' THEN 3 ELSE 0 END"
_TOUCHED = """(SELECT completion_id FROM item_states WHERE completion_id BETWEEN ?1 AND ?2
    UNION SELECT completion_id FROM check_items WHERE completion_id BETWEEN ?1 AND ?2)"""
_REASON = f"coalesce(nullif(reason, ''), '{NO_REASON}')"


class ItemNumbers(NamedTuple):
    """Numeric columns of the visible items, in order of row id; int64 arrays.

    Attributes:
        item: Row ids of the completions.
        question: Row ids of their questions.
        model: Row ids of the models that wrote them; 0 if unknown.
        characters: Lengths of the completions in characters; -1 if unknown.
        imported: Gold as imported: 1 correct, 0 incorrect, -1 none.
    """

    item: Vector
    question: Vector
    model: Vector
    characters: Vector
    imported: Vector


class ItemNames(NamedTuple):
    """The names of models and questions in `ItemNumbers`, and the values that annotators have changed.

    Attributes:
        models: Names of models by row id; "" for 0.
        questions: The values of the fields `OF_QUESTION`, by row id of the question.
        touched: A row for each check and each item that annotators worked on: row id, final gold, an index into
            `ORIGINS`, imported gold if it counts, type, subtype. All other items have the imported values.
    """

    models: dict[int, str]
    questions: dict[int, tuple[str, ...]]
    touched: list[tuple[int, int, int, int, str, str]]


class VerdictRows(Struct, frozen=True, kw_only=True, eq=False):
    """A run's verdicts in order of the items' row ids.

    Attributes:
        item: Row ids of the completions (int64).
        outcome: Values of `workbench.core.verdict.OutcomeCode`.
        reason: Indexes into ``reasons``.
        reasons: Reason codes in order of first occurrence, after `NO_REASON`.
        scored: Row ids of completions with a score.
        score: The scores of these completions.
    """

    item: Vector
    outcome: IntArray
    reason: IntArray
    reasons: tuple[str, ...]
    scored: array[int]
    score: array[float]


def item_ends(connection: Connection) -> tuple[int, int] | None:
    """Return the row ids of the first and the last item, visible or not; None if there are no items."""
    least, most = connection.execute(
        "SELECT (SELECT min(id) FROM completions), (SELECT max(id) FROM completions)"
    ).fetchone()
    return None if least is None else (least, most)


def item_numbers(connection: Connection, first: int, last: int) -> ItemNumbers:
    """Read the items with row ids from ``first`` to ``last``. SQLite joins each column to one text, which is fast; the
    row ids are read only if some are missing.
    """
    import numpy as np

    row: tuple[str | None, ...] = connection.execute(
        "SELECT group_concat(question_id), group_concat(length), group_concat(model_and_gold) FROM (SELECT "
        "c.question_id, coalesce(c.characters, -1) AS length, "
        f"{_GOLDS} * coalesce(c.model_id, 0) + coalesce(c.imported_gold, -1) + 1 AS model_and_gold {_OF_ITEMS})",
        (first, last),
    ).fetchone()
    question, characters, both = map(vector, row)
    model, gold = np.divmod(both, _GOLDS)
    return ItemNumbers(_joined_column(connection, first, last, len(question)), question, model, characters, gold - 1)


def item_names(connection: Connection, first: int, last: int, questions: list[int]) -> ItemNames:
    """Read the names of models and questions, and the values of the items that annotators have changed.

    Args:
        questions: Row ids of the items' questions.
    """
    return ItemNames(
        models={0: "", **dict(connection.execute("SELECT id, name FROM models"))},
        questions=_question_names(connection, questions),
        touched=_touched_items(connection, first, last),
    )


_GOLDS = 3
"""Number of gold values: none, incorrect, correct."""
_OF_ITEMS = f"FROM completions AS c WHERE {VISIBLE} AND c.id BETWEEN ? AND ? ORDER BY c.id"


def _joined_column(connection: Connection, first: int, last: int, number: int) -> Vector:
    import numpy as np

    within = f"FROM completions AS c WHERE {VISIBLE} AND c.id BETWEEN ?1 AND ?2"
    least, most = connection.execute(
        f"SELECT (SELECT min(c.id) {within}), (SELECT max(c.id) {within})", (first, last)
    ).fetchone()
    if least is not None and most - least + 1 == number:
        return np.arange(least, most + 1)
    (text,) = connection.execute(f"SELECT group_concat(id) FROM (SELECT c.id {_OF_ITEMS})", (first, last)).fetchone()
    return vector(text)


def _question_names(connection: Connection, wanted: list[int]) -> dict[int, tuple[str, ...]]:
    # Questions have no item state: their values are the imported ones.
    names = [COLUMNS[field].replace("i.subtype", "NULL") for field in OF_QUESTION]
    rows = connection.execute(
        f"SELECT q.id, {', '.join(names)} FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        "LEFT JOIN sources AS s ON s.id = q.source_id WHERE q.id IN (SELECT value FROM json_each(?))",
        (json.dumps(wanted),),
    )
    return {question: tuple(values) for question, *values in rows}


def _touched_items(connection: Connection, first: int, last: int) -> list[tuple[int, int, int, int, str, str]]:
    texts = (_FINAL, _ORIGIN, _IMPORTED, COLUMNS["type"], COLUMNS["subtype"])
    return connection.execute(
        f"SELECT c.id, {', '.join(texts)} FROM {items_sql(*texts)} WHERE {VISIBLE} AND c.id IN {_TOUCHED} "
        "ORDER BY c.id",
        (first, last),
    ).fetchall()


def stored_values(connection: Connection, field: str, items: npt.NDArray[np.integer[Any]]) -> tuple[Vector, list[str]]:
    """Return each item's value in one of the columns `COLUMN` or `TOLD`, as an index into the returned list of values,
    which begins with "".

    Args:
        items: Row ids, in order.

    Raises:
        UsageError: No item has this column, or it has too many different values to group by.
    """
    import numpy as np

    said, parameters = WORDS_TOLD.get(field), tuple[str, ...]()
    if said is None:
        require_column(connection, field)
        said, parameters = KEPT, (field.removeprefix(COLUMN),)
    rows = connection.execute(f"SELECT c.id, {said} FROM {items_sql(said)} WHERE {VISIBLE} ORDER BY c.id", parameters)
    places = {"": 0}
    found = np.zeros(len(items), dtype=np.int64)
    while block := rows.fetchmany(_PIECE):
        raise_if_cancelled()
        ids, values = zip(*block, strict=True)
        codes = [places.setdefault(value[:_MAX_VALUE], len(places)) for value in values]
        if len(places) > _MAX_VALUES:
            raise UsageError(
                f"{field} has more than {_MAX_VALUES:,} values: metrics can't be broken down by it.",
                f"To select items by it: {opt.where:column:NAME=VALUE}",
            )
        here = np.isin(ids, items)
        found[np.searchsorted(items, np.asarray(ids)[here])] = np.asarray(codes)[here]
    return found, list(places)


def states(connection: Connection) -> dict[str, Vector]:
    rows = connection.execute("SELECT state, group_concat(completion_id) FROM item_states GROUP BY state")
    return {state: vector(items) for state, items in rows}


def verdict_rows(connection: Connection, run: int, first: int, last: int) -> VerdictRows:
    import numpy as np

    nothing: IntArray = np.empty(0, dtype=np.int8)
    parts: list[tuple[Vector, IntArray, IntArray]] = [(vector(None), nothing, nothing)]
    places: dict[str, int] = {NO_REASON: 0}
    scored, piece = 0, _FIRST_PIECE
    while first <= last and (ends := _verdict_ends(connection, run, first, last)) is not None:
        raise_if_cancelled()
        span = ends[0], min(ends[0] + piece - 1, ends[1])
        found = _coded_verdicts(connection, run, span, places) or _stored_verdicts(connection, run, span, places)
        parts.append(found[:3])
        scored += found[3]
        first, piece = span[1] + 1, min(_GROWTH * piece, _PIECE)
    item, outcome, reason = map(np.concatenate, zip(*parts, strict=True))
    keys, scores = _scores(connection, run, int(item[0]), int(item[-1])) if scored else (array("q"), array("d"))
    return VerdictRows(item=item, outcome=outcome, reason=reason, reasons=tuple(places), scored=keys, score=scores)


_SomeVerdicts: TypeAlias = "tuple[Vector, IntArray, IntArray, int]"
"""Row ids of items, their outcomes, indexes of their reasons, and the number of scores."""
_OF_SPAN = "FROM verdicts WHERE run_id = ? AND sample = 0 AND completion_id BETWEEN ? AND ?"


def _verdict_ends(connection: Connection, run: int, first: int, last: int) -> tuple[int, int] | None:
    within = "FROM verdicts WHERE run_id = ?1 AND completion_id BETWEEN ?2 AND ?3"
    least, most = connection.execute(
        f"SELECT (SELECT min(completion_id) {within}), (SELECT max(completion_id) {within})", (run, first, last)
    ).fetchone()
    return None if least is None else (least, most)


def _coded_verdicts(
    connection: Connection, run: int, span: tuple[int, int], places: Mapping[str, int]
) -> _SomeVerdicts | None:
    import numpy as np

    if len(places) > _MAX_CODED_REASONS:
        return None
    known = "".join(f" WHEN ? THEN {place}" for place in places.values())
    place = f"CASE reason{known} WHEN '' THEN 0 ELSE {_UNKNOWN} END"
    code = f"outcome + {_THREE_DIGITS} + CASE WHEN reason IS NULL THEN 0 ELSE {_OUTCOMES} * {place} END"
    text, scored = connection.execute(
        "SELECT group_concat(code, ''), count(score) FROM "
        f"(SELECT {code} AS code, score {_OF_SPAN} ORDER BY completion_id)",
        (*places, run, *span),
    ).fetchone()
    hundreds, tens, ones = np.frombuffer((text or "").encode(), dtype=np.uint8).reshape(-1, 3).T
    codes = hundreds * np.int16(100) + tens * np.int16(10) + ones - np.int16(111 * ord("0") + _THREE_DIGITS)
    reason, outcome = np.divmod(codes, np.int16(_OUTCOMES))
    if (reason == _UNKNOWN).any():
        return None
    dense = len(outcome) == span[1] - span[0] + 1
    item = np.arange(span[0], span[1] + 1) if dense else _judged_items(connection, run, span)
    return item, outcome, reason, scored


def _judged_items(connection: Connection, run: int, span: tuple[int, int]) -> Vector:
    (text,) = connection.execute(
        f"SELECT group_concat(completion_id) FROM (SELECT completion_id {_OF_SPAN} ORDER BY completion_id)",
        (run, *span),
    ).fetchone()
    return vector(text)


def _stored_verdicts(connection: Connection, run: int, span: tuple[int, int], places: dict[str, int]) -> _SomeVerdicts:
    import numpy as np

    ids, outcomes, reasons, scored = connection.execute(
        "SELECT group_concat(completion_id), group_concat(outcome), json_group_array(reason), count(score) FROM "
        f"(SELECT completion_id, outcome, {_REASON} AS reason, score {_OF_SPAN} ORDER BY completion_id)",
        (run, *span),
    ).fetchone()
    words = msgspec.json.decode(reasons, type=list[str])
    for word in dict.fromkeys(words):
        places.setdefault(word, len(places))
    reason = np.array([places[word] for word in words], dtype=np.int32)
    return vector(ids), vector(outcomes).astype(np.int8), reason, scored


def _scores(connection: Connection, run: int, first: int, last: int) -> tuple[array[int], array[float]]:
    # Scores are read as rows: as joined text they would lose their last digits.
    rows = connection.execute(
        "SELECT completion_id, score FROM verdicts WHERE run_id = ? AND sample = 0 AND score IS NOT NULL "
        "AND completion_id BETWEEN ? AND ? ORDER BY completion_id",
        (run, first, last),
    )
    keys, values = array("q"), array("d")
    while block := rows.fetchmany(_PIECE):
        scored, scores = zip(*block, strict=True)
        keys.extend(scored)
        values.extend(scores)
    return keys, values


# -- Complete results of read-only queries, for data frames.


View = Literal[
    "items", "item_texts", "counted_runs", "run_verdicts", "judged", "current_labels", "current_reviews", "verdicts"
]
"""The schema's views; ``verdicts`` is ``judged`` with the verdicts on items without gold."""
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
"""Actions of a read-only connection that could affect other files or later readers."""
_LOOKS = frozenset({"table_info", "table_list", "table_xinfo"})
"""Read-only pragmas."""


class Result(NamedTuple):
    columns: list[str]
    rows: list[tuple[Any, ...]]


def view(connection: sqlite3.Connection, name: View, items: Sequence[int] | None = None) -> Result:
    rows = f"({_COUNTED})" if name == "verdicts" else name
    if items is None:
        return query(connection, f"SELECT * FROM {rows}")
    return query(
        connection, f"SELECT * FROM {rows} WHERE item IN (SELECT value FROM json_each(?))", (json.dumps(list(items)),)
    )


def query(connection: sqlite3.Connection, sql: str, parameters: Sequence[object] | Mapping[str, object] = ()) -> Result:
    """Return the result of a statement.

    The connection is read-only. SQLite's authorizer also denies attaching and writing other files, transactions, and
    the pragma that would make the connection writable.

    Raises:
        UsageError: The statement is invalid or would write, or its parameters don't match.
    """
    connection.set_authorizer(_authorize)
    try:
        cursor = connection.execute(sql, parameters)
        if cursor.description is None:
            raise UsageError("The statement gives no rows.", "Only reading is possible here.")
        return Result([column[0] for column in cursor.description], cursor.fetchall())
    except (sqlite3.OperationalError, sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:
        raise UsageError(f"SQLite: {error}.", f"The views and their columns are in {find_page('sql')}.") from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_AUTH:
            raise
        raise UsageError("The statement does not only read.", "Only reading is possible here.") from error
    finally:
        connection.set_authorizer(None)


def _authorize(action: int, name: str | None, *_: str | None) -> int:
    beyond = action in _BEYOND or (action == sqlite3.SQLITE_PRAGMA and name not in _LOOKS)
    return sqlite3.SQLITE_DENY if beyond else sqlite3.SQLITE_OK
