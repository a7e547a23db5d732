"""Reads the properties of items and the verdicts of a run as columns (arrays), for a range of row ids."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

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

    Array = npt.NDArray[Any]

Connection = sqlite3.Connection
Vector: TypeAlias = "npt.NDArray[np.int64]"
IntArray: TypeAlias = "npt.NDArray[np.integer[Any]]"
FIELDS = ("dataset", "source", "domain", "type", "subtype", "model")
"""Properties of items with names as values."""
ORIGINS = ("none", "imported", "agreed", "adjudicated")
"""Origins of an item's gold, by code."""
SCORE, REASON = "score", "reason"
EVERY_ROW = (0, 2**63 - 1)
_OF_QUESTION = FIELDS[:5]
"""Properties that an item inherits from its question, unless annotators changed them."""
_MAX_VALUE = 80
"""Most characters of a group's name."""
_MAX_VALUES = 10_000
_PIECE, _FIRST_PIECE, _GROWTH = 50_000, 1_000, 7
"""Number of items read at once, the number at first, and its growth. The first reads are small because rows with new
reasons are read twice.
"""
_MAX_CODED_REASONS = 40
"""Most reasons that SQLite encodes itself."""
_GOLDS, _OUTCOMES = 3, len(OutcomeCode)
"""Number of gold values (none, incorrect, correct) and of outcomes."""
_FINAL = f"coalesce({GOLD}, -1)"
# Excluded items are in no table, whatever their file says.
_IMPORTED = f"CASE WHEN i.state = 'excluded' THEN -1 ELSE coalesce({IMPORTED_GOLD}, -1) END"
_ORIGIN = f"CASE {GOLD_FROM} WHEN 'imported' THEN 1 WHEN 'agreed' THEN 2 WHEN 'adjudicated' THEN 3 ELSE 0 END"
_TOUCHED = """(SELECT completion_id FROM item_states WHERE completion_id BETWEEN ?1 AND ?2
    UNION SELECT completion_id FROM check_items WHERE completion_id BETWEEN ?1 AND ?2)"""
_OF_ITEMS = f"FROM completions AS c WHERE {VISIBLE} AND c.id BETWEEN ?1 AND ?2"
_OF_VERDICTS = "FROM verdicts WHERE run_id = ?3 AND sample = 0 AND completion_id BETWEEN ?1 AND ?2"


class ColumnTable(Struct, frozen=True, kw_only=True, eq=False):
    """Columns with one value for each item, in order of row id; the arrays of a table are never modified.

    Attributes:
        columns: Name -> values. A column of names holds positions in ``names``.
        names: Column of names -> its names in order of position; a name may have no item.
    """

    columns: Mapping[str, Array]
    names: Mapping[str, tuple[str, ...]]

    def __post_init__(self) -> None:
        for values in self.columns.values():
            values.setflags(write=False)

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def _item_numbers(connection: Connection, first: int, last: int) -> tuple[Vector, ...]:
    """Read the visible items with row ids from ``first`` to ``last``: these, and the row ids of their questions and
    models (0 if unknown), lengths in characters (-1 if unknown) and imported gold.
    """
    import numpy as np

    # SQLite joins each column to one text, which is fast.
    texts: tuple[str | None, ...] = connection.execute(
        "SELECT group_concat(question_id), group_concat(length), group_concat(model_and_gold) FROM (SELECT "
        "c.question_id, coalesce(c.characters, -1) AS length, "
        f"{_GOLDS} * coalesce(c.model_id, 0) + coalesce(c.imported_gold, -1) + 1 AS model_and_gold {_OF_ITEMS} "
        "ORDER BY c.id)",
        (first, last),
    ).fetchone()
    question, characters, both = map(vector, texts)
    model, gold = np.divmod(both, _GOLDS)
    item = _row_ids(connection, "c.id", _OF_ITEMS, (first, last), len(question))
    return item, question, model, characters, gold - 1


def read_items(connection: Connection, first: int, last: int) -> ColumnTable:
    """Read the visible items with row ids from ``first`` to ``last``.

    Columns: ``item``, ``question`` (int64), ``characters`` (int32, -1 if unknown), ``final`` and ``imported`` (gold: 1
        correct, 0 incorrect, -1 none), ``origin`` (of the gold; `ORIGINS`) and one for each of `FIELDS`.
    """
    import numpy as np

    from workbench.statistics.intervals import compact

    item, question, model, characters, gold = _item_numbers(connection, first, last)
    imported = gold.astype(np.int8)
    columns: dict[str, Array] = {
        "item": item,
        "question": question,
        "characters": characters.astype(np.int32),
        "final": imported.copy(),
        "imported": imported,
        "origin": (imported >= 0).astype(np.int8),
    }
    models = {0: "", **dict(connection.execute("SELECT id, name FROM models ORDER BY id"))}
    named = {"model": _encode_names(np.searchsorted(list(models), model), list(models.values()))}
    place, questions = compact(question)
    for field, names in zip(_OF_QUESTION, _question_names(connection, questions.tolist()), strict=True):
        named[field] = _encode_names(place, names)
    touched = _touched_items(connection, first, last)
    place = np.searchsorted(item, [row[0] for row in touched])
    for position, column in enumerate(("final", "origin", "imported"), 1):
        columns[column][place] = [row[position] for row in touched]
    for position, column in enumerate(("type", "subtype"), 4):
        code, places = named[column]
        code[place] = [places.setdefault(str(row[position]), len(places)) for row in touched]
    columns |= {column: narrow(code, len(places)) for column, (code, places) in named.items()}
    return ColumnTable(columns=columns, names={column: tuple(places) for column, (_, places) in named.items()})


def _row_ids(connection: Connection, key: str, rows: str, parameters: tuple[int, ...], number: int) -> Vector:
    """Return the row ids of as many rows; they are read only if some are missing."""
    import numpy as np

    least, most = connection.execute(
        f"SELECT (SELECT min({key}) {rows}), (SELECT max({key}) {rows})", parameters
    ).fetchone()
    if least is not None and most - least + 1 == number:
        return np.arange(least, most + 1)
    sql = f"SELECT group_concat(id) FROM (SELECT {key} AS id {rows} ORDER BY {key})"
    return vector(connection.execute(sql, parameters).fetchone()[0])


def _encode_names(place: IntArray, names: Sequence[str]) -> tuple[IntArray, dict[str, int]]:
    import numpy as np

    known: dict[str, int] = {}
    code = np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int32)
    return code[place], known


def narrow(code: IntArray, names: int) -> IntArray:
    import numpy as np

    return code.astype(np.min_scalar_type(max(names - 1, 0)), copy=False)


def _question_names(connection: Connection, wanted: list[int]) -> list[tuple[str, ...]]:
    # Questions have no item state: their values are the imported ones.
    names = [COLUMNS[field].replace("i.subtype", "NULL") for field in _OF_QUESTION]
    rows = connection.execute(
        f"SELECT {', '.join(names)} FROM questions AS q JOIN datasets AS d ON d.id = q.dataset_id "
        "LEFT JOIN sources AS s ON s.id = q.source_id WHERE q.id IN (SELECT value FROM json_each(?)) ORDER BY q.id",
        (json.dumps(wanted),),
    ).fetchall()
    return list(zip(*rows, strict=True)) or [()] * len(names)


def _touched_items(connection: Connection, first: int, last: int) -> list[tuple[int, int, int, int, str, str]]:
    """Return a row for each check and each item that annotators worked on: row id, final gold, an index into `ORIGINS`,
    imported gold if it counts, type, subtype. All other items have the imported values.
    """
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


def read_verdicts(connection: Connection, run: int, items: IntArray) -> ColumnTable:
    """Read a run's verdicts on these items, given by row ids in order.

    Columns: ``outcome`` (`OutcomeCode`, -1 without a verdict), ``reason`` (position 0 without a verdict) and, if the
        run has scores, ``score`` (float64, NaN without a score).
    """
    import numpy as np

    from workbench.statistics.confusion import align

    names = {NO_REASON: 0}
    keys, codes = [vector(None)], [vector(None)]
    scored, at, piece = 0, 0, _FIRST_PIECE
    while len(some := items[at : at + piece]):
        raise_if_cancelled()
        span = int(some[0]), int(some[-1])
        code, scores = _coded_verdicts(connection, run, span, names)
        keys.append(_row_ids(connection, "completion_id", _OF_VERDICTS, (*span, run), len(code)))
        codes.append(code)
        scored += scores
        at, piece = at + piece, min(_GROWTH * piece, _PIECE)
    key = np.concatenate(keys)
    reason, outcome = np.divmod(np.concatenate(codes), _OUTCOMES)
    columns: dict[str, Array] = {
        "outcome": align(items, key, outcome, missing=np.int8(-1)),
        REASON: narrow(align(items, key, reason, missing=np.int64(0)), len(names)),
    }
    if scored:
        # Scores are read as rows: as joined text they would lose their last digits.
        sql = f"SELECT completion_id, score {_OF_VERDICTS} AND score IS NOT NULL ORDER BY completion_id"
        kind = np.dtype([("item", np.int64), ("score", np.float64)])
        rows = np.fromiter(connection.execute(sql, (int(items[0]), int(items[-1]), run)), dtype=kind)
        columns[SCORE] = align(items, rows["item"], rows["score"], missing=np.float64(np.nan))
    return ColumnTable(columns=columns, names={REASON: tuple(names)})


def _coded_verdicts(
    connection: Connection, run: int, span: tuple[int, int], names: dict[str, int]
) -> tuple[Vector, int]:
    """Return for each verdict its outcome plus `_OUTCOMES` times its reason's position, and the number of scores. New
    reasons are added to ``names``.
    """
    import numpy as np

    scored = 0
    if len(names) <= _MAX_CODED_REASONS:
        known = "".join(f" WHEN ?{place + 4} THEN {place}" for place in names.values())
        code = f"CASE WHEN reason IS NULL THEN outcome ELSE outcome + {_OUTCOMES} * CASE reason{known} WHEN '' THEN 0 "
        text, scored = connection.execute(
            f"SELECT group_concat(code), count(score) FROM (SELECT {code} ELSE -{_OUTCOMES} END END AS code, score "
            f"{_OF_VERDICTS} ORDER BY completion_id)",
            (*span, run, *names),
        ).fetchone()
        codes = vector(text)
        if (codes >= 0).all():
            return codes, scored
    rows = connection.execute(
        f"SELECT outcome, reason, score IS NOT NULL {_OF_VERDICTS} ORDER BY completion_id", (*span, run)
    ).fetchall()
    found = [outcome + _OUTCOMES * names.setdefault(reason or NO_REASON, len(names)) for outcome, reason, _ in rows]
    return np.array(found, dtype=np.int64), sum(row[2] for row in rows)


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
