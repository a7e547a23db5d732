"""Reads items for tables: first the ids of all items, then pages of items by id. There is no OFFSET, and the id query
reads no long texts."""

from __future__ import annotations

import json
import sqlite3
import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from workbench.core.database.connection import Cancelled, cancellable
from workbench.core.database.events import FLAG_STANDS, IN_FORCE, OF_THIS_ROUND
from workbench.core.database.selection import (
    COLUMNS,
    FROM_ITEMS,
    GOLD,
    GOLD_FROM,
    SUBTYPE,
    VERDICT,
    VISIBLE,
    compile_selection,
    items_sql,
)
from workbench.core.database.values import as_record, integers
from workbench.core.errors import UsageError
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode
from workbench.data.records import BrowseQuery, BrowseRow, ItemDetail, ItemLabel, ItemProperties, ItemVerdict
from workbench.data.store import searching
from workbench.data.store.text_index import NO_INDEX, TextIndex

QUESTION_CHARACTERS = 160
_MAX_MATCHES = 1_000
"""Maximum number of rows and ids that are returned as matches of an id."""
_MIN_SUFFIX = 4
"""Fewest characters of a suffix that matches an id."""
_LAST = "\U0010ffff"


def ids(connection: sqlite3.Connection, query: BrowseQuery, index: TextIndex = NO_INDEX) -> array[int]:
    where, parameters = compile_selection(Selection(query.conditions))
    order, more = _order(query)
    if query.search:
        found, values = searching.all_matches_clause(connection, index, query.search)
        where, parameters = f"{where} AND {found}", [*parameters, *values]
    row: tuple[str | None] = connection.execute(
        f"SELECT group_concat(id) FROM (SELECT c.id FROM {items_sql(where, order)} WHERE {where} ORDER BY {order})",
        (*parameters, *more),
    ).fetchone()
    return integers(row[0])


def first_ids(
    connection: sqlite3.Connection,
    query: BrowseQuery,
    limit: int,
    *,
    after: int = 0,
    seconds: float = 0.1,
    index: TextIndex = NO_INDEX,
) -> list[int]:
    """Return the first row ids greater than ``after``, in the order of import, without waiting for the whole id query.

    Args:
        limit: Maximum number of ids.
        seconds: Time limit; if matches are rare, only those found in this time are returned.
        index: The full-text index, which limits the texts that a search must read.
    """
    until = time.monotonic() + seconds
    found: list[int] = []
    with suppress(Cancelled), cancellable(connection, lambda: time.monotonic() > until):
        for item in islice(_matching_ids(connection, query, index, after), limit):
            found.append(item)
    return found


def _matching_ids(connection: sqlite3.Connection, query: BrowseQuery, index: TextIndex, after: int) -> Iterator[int]:
    if query.search:
        where = compile_selection(Selection(query.conditions), walked=True)
        yield from searching.matching(connection, index, query.search, where, after)
    else:
        for (item,) in connection.execute(*first_ids_query(query, after)):
            yield item


def first_ids_query(query: BrowseQuery, after: int) -> tuple[str, list[object]]:
    """Return the SQL of ``first_ids`` without a search; completions are read in order of row id, so
    nothing is sorted.
    """
    where, parameters = compile_selection(Selection(query.conditions), walked=True)
    walked = items_sql(where).replace(" JOIN ", " CROSS JOIN ").replace("LEFT CROSS JOIN", "LEFT JOIN")
    return f"SELECT c.id FROM {walked} WHERE c.id > ? AND {where} ORDER BY c.id", [after, *parameters]


_WORST: Final = {
    "gold": GOLD,
    "subtype": SUBTYPE,
    **{name: f"nullif({COLUMNS[name]}, '')" for name in ("domain", "source", "model")},
}
"""Sort keys by column, where they are not the text: a missing value is NULL, and correct is greater than incorrect."""
_OUTCOMES: Final = (OutcomeCode.INCORRECT, OutcomeCode.ERROR, OutcomeCode.ABSTAIN, OutcomeCode.CORRECT)
_WORST_VERDICT: Final = (
    f"CASE {VERDICT} " + " ".join(f"WHEN {outcome} THEN {place}" for place, outcome in enumerate(_OUTCOMES)) + " END"
)


def _order(query: BrowseQuery) -> tuple[str, list[object]]:
    if query.sort is None:
        return f"c.id {'DESC' if query.descending else 'ASC'}", []
    judged, sign, verifier = query.sort.partition(":")
    value = _WORST_VERDICT if sign and judged == "verdict" else _WORST.get(query.sort) or COLUMNS[query.sort]
    # SQLite sorts NULL first and blobs last: with these, missing values come last in both directions.
    return f"{value} DESC, c.id" if query.descending else f"coalesce({value}, x''), c.id", [verifier] if sign else []


def tally(connection: sqlite3.Connection, selection: Selection, column: str) -> list[tuple[str, str, int]]:
    """Count the selected items by their value in a column, the most frequent value first.

    Returns:
        For each value its spelling in conditions, its displayed text, and the number of items that have it.
    """
    where, parameters = compile_selection(selection)
    if column.startswith("verdict:"):
        value, more = f"coalesce({VERDICT}, -1)", [column.removeprefix("verdict:")]
    else:
        value, more = COLUMNS[column], []
    rows = connection.execute(
        f"SELECT {value}, count(*) FROM {items_sql(where, value)} WHERE {where} GROUP BY 1 ORDER BY 2 DESC, 1",
        (*more, *parameters),
    ).fetchall()
    words = {-1: "none", **{int(one): one.word for one in OutcomeCode}}
    return [(found := words.get(value, value), found, n) for value, n in rows]


_PROPERTIES: Final = ItemProperties.__struct_fields__[1:]
_ROW: Final = ", ".join(COLUMNS[name] for name in _PROPERTIES)


def rows(
    connection: sqlite3.Connection, wanted: Sequence[int], runs: dict[int, str], search: str = ""
) -> list[BrowseRow]:
    """Return rows by id in the given order, without ids that no longer exist.

    Args:
        runs: Names of the verifiers with a verdict column, by the id of the run that is shown.
        search: A search text; its first match in each item is returned with its context.
    """
    marks = ", ".join("?" * len(wanted))
    found = {
        row[0]: row
        for row in connection.execute(
            f"SELECT c.id, substr(qt.text, 1, {QUESTION_CHARACTERS}), {_ROW} FROM {FROM_ITEMS} "
            f"JOIN question_text AS qt ON qt.id = q.id WHERE c.id IN ({marks})",
            tuple(wanted),
        )
    }
    words = _verdict_words(connection, wanted, runs)
    places = searching.match_contexts(connection, wanted, search) if search else {}
    return [
        BrowseRow(
            id=item,
            question=found[item][1],
            verdicts=words.get(item, {}),
            found=places.get(item, ""),
            **dict(zip(_PROPERTIES, found[item][2:], strict=True)),
        )
        for item in wanted
        if item in found
    ]


def _verdict_words(
    connection: sqlite3.Connection, wanted: Sequence[int], runs: dict[int, str]
) -> dict[int, dict[str, str]]:
    words: dict[int, dict[str, str]] = {}
    marks = ", ".join("?" * len(wanted))
    for run, name in runs.items():
        for item, outcome in connection.execute(
            f"SELECT completion_id, outcome FROM verdicts WHERE run_id = ? AND sample = 0 "
            f"AND completion_id IN ({marks})",
            (run, *wanted),
        ):
            words.setdefault(item, {})[name] = OutcomeCode(outcome).word
    return words


def newest_runs(connection: sqlite3.Connection, *, without: Sequence[str] = ()) -> dict[int, str]:
    """Return the verifiers' names, by the id of each verifier's newest complete run.

    Args:
        without: Kinds of verifiers to leave out.
    """
    return dict(
        connection.execute(
            "SELECT max(r.id), v.name FROM runs AS r JOIN verifiers AS v ON v.id = r.verifier_id WHERE r.completed_at "
            "IS NOT NULL AND v.kind NOT IN (SELECT value FROM json_each(?)) GROUP BY v.id ORDER BY v.id",
            (json.dumps(without),),
        ).fetchall()
    )


def runs_so_far(connection: sqlite3.Connection, *, without: Sequence[str] = ()) -> dict[str, tuple[int, int | None]]:
    """Return each verifier's newest complete run, or its newest active run if none is complete, by verifier name.

    Args:
        without: Kinds of verifiers to leave out.

    Returns:
        The run's id, and None; for a run that has never been complete, its id and its expected number of verdicts.
    """
    found: dict[str, tuple[int, int | None]] = {}
    for name, run, expected in connection.execute(
        "SELECT v.name, r.id, iif(r.completed_at IS NULL, r.items, NULL) FROM runs AS r JOIN verifiers AS v ON v.id = "
        "r.verifier_id WHERE v.kind NOT IN (SELECT value FROM json_each(?)) AND (r.completed_at IS NOT NULL OR "
        "r.state IN ('queued', 'running', 'paused')) ORDER BY v.id, r.completed_at IS NULL, r.id DESC",
        (json.dumps(without),),
    ):
        found.setdefault(name, (run, expected))
    return found


def detail(connection: sqlite3.Connection, completion: int) -> ItemDetail:
    """Read everything about one item.

    Raises:
        UsageError: The item does not exist.
    """
    row = connection.execute(
        f"SELECT c.id, {_ROW}, coalesce({GOLD_FROM}, ''), CASE c.imported_gold WHEN 1 THEN 'correct' WHEN 0 THEN "
        "'incorrect' ELSE 'none' END, coalesce(i.reason, iif(i.state = 'labelled' AND i.gold_from NOT NULL, 'waits for "
        "an answer type', '')), qt.text, qt.reference, ct.text "
        f"FROM {FROM_ITEMS} JOIN question_text AS qt ON qt.id = q.id JOIN completion_text AS ct ON ct.id = c.id "
        "WHERE c.id = ?",
        (completion,),
    ).fetchone()
    if row is None:
        raise UsageError(f"There is no item with row id {completion}.", "It may have been removed; look again.")
    labels, verdicts = tuple(_labels(connection, completion)), tuple(verdicts_of(connection, completion))
    return as_record(ItemDetail, row, labels=labels, verdicts=verdicts)


def with_key(connection: sqlite3.Connection, key: str) -> list[int]:
    rows = connection.execute(f"SELECT c.id FROM completions AS c WHERE c.key = ? AND {VISIBLE} ORDER BY c.id", (key,))
    return [row[0] for row in rows]


def find_meant_completions(connection: sqlite3.Connection, key: str) -> list[int]:
    """Return the row ids of the completions that an id may refer to: it is a completion's id, otherwise a question's
    id, otherwise the end of an id.

    If many ids end with it, only the first completions are returned.
    """
    if found := with_key(connection, key):
        return found
    whole, end = "key = ?1", "substr(key, -length(?1)) = ?1"
    of_question = (
        f"SELECT c.id FROM completions AS c WHERE {VISIBLE} AND "
        "c.question_id IN (SELECT id FROM questions WHERE {}) ORDER BY c.id LIMIT ?2"
    )
    own = f"SELECT c.id FROM completions AS c WHERE {VISIBLE} AND {end} LIMIT ?2"
    asked = [of_question.format(whole), *([own, of_question.format(end)] if len(key) >= _MIN_SUFFIX else [])]
    for query in asked:
        if found := [row[0] for row in connection.execute(query, (key, _MAX_MATCHES))]:
            return found
    return []


def similar_keys(connection: sqlite3.Connection, key: str) -> list[str]:
    for length in range(len(key), 0, -1):
        begin = key[:length]
        both = " UNION ".join(
            f"SELECT * FROM (SELECT key FROM {table} WHERE key >= ?1 AND key < ?2 LIMIT ?3)"
            for table in ("completions", "questions")
        )
        if found := [row[0] for row in connection.execute(both, (begin, begin + _LAST, _MAX_MATCHES))]:
            return found
    return []


def names(connection: sqlite3.Connection) -> dict[str, list[str]]:
    return {
        field: [row[0] for row in connection.execute(f"SELECT DISTINCT {column} FROM {table} ORDER BY 1")]
        for field, column, table in (
            ("dataset", "name", "datasets"),
            ("model", "name", "models"),
            ("source", "name", "sources"),
            ("domain", "coalesce(domain, '')", "sources"),
            ("set", "name", "sets"),
        )
    }


def _labels(connection: sqlite3.Connection, completion: int) -> list[ItemLabel]:
    found = connection.execute(
        "SELECT a.name, e.kind, e.task, coalesce(e.verdict, e.subtype, iif(e.flagged, 'flagged', '')), "
        "coalesce(e.exclusion_reason, ''), coalesce(e.note, ''), e.unsure, e.unblinded, e.created_at FROM label_events "
        "AS e JOIN annotators AS a ON a.id = e.annotator_id WHERE e.kind IN ('label', 'adjudication', 'flag', "
        "'answer', 'exclusion', 'reopen') AND ((e.task = 'correctness' AND e.subject = ?1) OR (e.task = 'type' AND "
        "e.subject = (SELECT question_id FROM completions WHERE id = ?1))) AND (e.kind IN ('flag', 'answer') OR "
        f"{OF_THIS_ROUND}) AND {IN_FORCE} AND (e.kind <> 'flag' OR e.id IN (SELECT f.id FROM label_events AS f WHERE "
        f"{FLAG_STANDS})) AND NOT (e.kind = 'exclusion' AND EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes "
        "= e.uuid AND x.kind IN ('exclusion', 'retraction'))) ORDER BY e.id",
        (completion,),
    )
    return [as_record(ItemLabel, row) for row in found]


def verdicts_of(connection: sqlite3.Connection, completion: int) -> list[ItemVerdict]:
    found = []
    for run, name in newest_runs(connection).items():
        row = connection.execute(
            "SELECT v.outcome, e.reference_start, e.reference_end, e.span_start, e.span_end, r.version, v.score, "
            "v.reason, e.rule, v.ms, e.reference_final, e.candidate_final, e.detail, count(c.position), "
            "count(a.origin) > 0 FROM verdicts AS v JOIN runs AS r ON r.id = v.run_id LEFT JOIN verdict_evidence AS e "
            "ON e.run_id = v.run_id AND e.completion_id = v.completion_id AND e.sample = v.sample LEFT JOIN "
            "verdict_calls AS c ON c.run_id = v.run_id AND c.completion_id = v.completion_id LEFT JOIN responses AS a "
            "ON a.id = c.response_id WHERE v.run_id = ? AND v.completion_id = ? AND v.sample = 0 GROUP BY v.sample",
            (run, completion),
        ).fetchone()
        if row is not None:
            verdict = as_record(
                ItemVerdict,
                row[5:],
                verifier=name,
                run=run,
                verdict=OutcomeCode(row[0]).word,
                reference_span=None if row[1] is None else row[1:3],
                candidate_span=None if row[3] is None else row[3:5],
            )
            found.append(verdict)
    return found
