"""Verdicts: stored in groups and never overwritten, counted, and read in the order of the items."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from workbench.core.database import changes
from workbench.core.database.connection import Database
from workbench.core.database.selection import FROM_ITEMS, SUBTYPE, compile_selection
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, OutcomeWord, Verdict, VerifierInput
from workbench.runs.store import verdict_calls

_WINDOW = 5_000
"""Items looked at in one read."""

_TEXTS = 64
"""Items whose texts are read at once: a few hundred kB, tens of MB where texts are very long."""

# The items are walked by id; the planner must not begin with another table and sort each window.
_IN_ORDER = FROM_ITEMS.replace("JOIN questions", "CROSS JOIN questions", 1)

_EXAMPLE = "CASE json_type(ct.extra, '$.example') WHEN 'text' THEN json_extract(ct.extra, '$.example') END"
"""A row's own field for public examples."""

_IS_CODE = "EXISTS (SELECT 1 FROM code_solutions AS s WHERE s.completion_id = c.id)"

_SUMS = ", ".join(f"coalesce(sum(v.outcome = {int(outcome)}), 0)" for outcome in Outcome)


class VerdictCounts(Struct, frozen=True, kw_only=True):
    """How many items there are, and the verdicts they have.

    Attributes:
        verdicts: Stored verdicts by word, all four always there.
    """

    items: int
    verdicts: dict[OutcomeWord, int]

    @property
    def stored(self) -> int:
        """Items with a verdict."""
        return sum(self.verdicts.values())


def put(connection: sqlite3.Connection, run: int, results: Sequence[tuple[int, Verdict]]) -> None:
    """Store verdicts by the item's row id, in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: An item has a verdict in this run.
    """
    put_samples(connection, run, [(item, 0, found) for item, found in results])


def put_samples(connection: sqlite3.Connection, run: int, results: Sequence[tuple[int, int, Verdict]]) -> None:
    """Store verdicts by the item's row id and sample: 0 is the item's verdict, the others are votes it was made of.

    Raises:
        sqlite3.IntegrityError: An item has such a verdict in this run.
    """
    connection.executemany(
        "INSERT INTO verdicts (run_id, completion_id, sample, outcome, score, reason, ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (run, item, sample, int(found.outcome), found.score, found.reason, found.ms)
            for item, sample, found in results
        ],
    )
    changes.note(connection, run, [item for item, _, _ in results])
    connection.executemany(
        "INSERT INTO verdict_evidence (run_id, completion_id, sample, rule, reference_final, candidate_final, "
        "reference_start, reference_end, span_start, span_end, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (run, item, sample, *evidence)
            for item, sample, found in results
            if (evidence := _evidence(found)) != _NO_EVIDENCE
        ],
    )


def take_back_errors(connection: sqlite3.Connection, run: int) -> int:
    """Remove a run's verdicts "error" with all that hangs on them, so that their items are judged again.

    Returns:
        How many there were.
    """
    rows = connection.execute(
        "SELECT completion_id, reason FROM verdicts WHERE run_id = ? AND sample = 0 AND outcome = ?",
        (run, int(Outcome.ERROR)),
    ).fetchall()
    verdict_calls.drop(connection, run, [item for item, reason in rows if reason in _OF_REPLIES])
    return _take_back(connection, run, [item for item, _ in rows])


def take_back_unread(connection: sqlite3.Connection, run: int) -> int:
    """The same for items whose replies hold no verdict; those replies are used for nothing any more.

    Returns:
        How many there were.
    """
    reasons = ", ".join("?" * len(_NO_VERDICT))
    rows = connection.execute(
        "SELECT completion_id FROM verdicts "
        f"WHERE run_id = ? AND sample = 0 AND reason IN ({reasons}) AND outcome >= ?",
        (run, *_NO_VERDICT, int(Outcome.ABSTAIN)),
    )
    items = [item for (item,) in rows]
    verdict_calls.drop(connection, run, items)
    return _take_back(connection, run, items)


def take_back_chosen(connection: sqlite3.Connection, run: int, selection: Selection) -> int:
    """The same for all of the selection's items.

    Returns:
        How many there were.
    """
    where, parameters = compile_selection(selection)
    limit = -1 if selection.limit is None else selection.limit
    rows = connection.execute(
        "SELECT completion_id FROM verdicts WHERE run_id = ? AND sample = 0 AND completion_id IN "
        f"(SELECT c.id FROM {_items(selection, FROM_ITEMS)} WHERE {where} ORDER BY c.id LIMIT ?)",
        (run, *parameters, limit),
    )
    return _take_back(connection, run, [item for (item,) in rows])


def take_back_timeouts(connection: sqlite3.Connection, run: int) -> int:
    """The same for items that had no more time: those `by_timeout` counts.

    Returns:
        How many there were.
    """
    return _take_back(connection, run, [item for item, _ in _out_of_time(connection, run)])


def by_timeout(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """A run's items that had no more time, by which it was: ``cpu``, ``wall``, or ``unknown`` where that isn't stored.

    A solution counts whose tests, one or more, had no more time, whatever else came of it.
    """
    found = Counter(cause for _, cause in _out_of_time(connection, run))
    return {cause: found[cause] for cause in ("cpu", "wall", "unknown") if found[cause]}


def _out_of_time(connection: sqlite3.Connection, run: int) -> list[tuple[int, str]]:
    """Items and which time was over."""
    return connection.execute(
        "SELECT v.completion_id, CASE e.rule WHEN 'timeout.cpu' THEN 'cpu' WHEN 'timeout.wall' THEN 'wall' "
        "ELSE 'unknown' END FROM verdicts AS v LEFT JOIN verdict_evidence AS e "
        "ON e.run_id = v.run_id AND e.completion_id = v.completion_id AND e.sample = 0 "
        "WHERE v.run_id = ?1 AND v.sample = 0 AND v.reason = 'timeout' UNION ALL "
        "SELECT completion_id, CASE max(instr(failures, '\"message\":\"timeout: wall,') > 0) WHEN 1 THEN 'wall' "
        "ELSE CASE max(instr(failures, '\"message\":\"timeout: cpu,') > 0) WHEN 1 THEN 'cpu' ELSE 'unknown' END END "
        "FROM test_results WHERE run_id = ?1 AND instr(outcomes, 't') > 0 GROUP BY completion_id",
        (run,),
    ).fetchall()


def _take_back(connection: sqlite3.Connection, run: int, items: list[int]) -> int:
    for table in ("test_results", "verdict_traces", "verdict_calls", "verdict_evidence", "verdicts"):
        connection.executemany(
            f"DELETE FROM {table} WHERE run_id = ? AND completion_id = ?", [(run, item) for item in items]
        )
    changes.note(connection, run, items)
    return len(items)


_OF_REPLIES = ("malformed", "content_filter")
"""Reasons of errors that follow from a reply which is stored."""

_NO_VERDICT = ("unparsed", "truncated", "refused", *_OF_REPLIES)
"""Reasons of verdicts that follow from replies without one."""

_NO_EVIDENCE = (None,) * 8


def _evidence(found: Verdict) -> tuple[object, ...]:
    return (
        found.rule,
        found.reference_final,
        found.candidate_final,
        *(found.reference_span or (None, None)),
        *(found.candidate_span or (None, None)),
        found.detail,
    )


def count(connection: sqlite3.Connection, run: int) -> int:
    """How many verdicts a run has: one pass over its keys."""
    row: tuple[int] = connection.execute(
        "SELECT count(*) FROM verdicts WHERE run_id = ? AND sample = 0", (run,)
    ).fetchone()
    return row[0]


def by_outcome(connection: sqlite3.Connection, run: int) -> dict[OutcomeWord, int]:
    """A run's verdicts by word."""
    row = connection.execute(f"SELECT {_SUMS} FROM verdicts AS v WHERE v.run_id = ? AND v.sample = 0", (run,))
    return _words(row.fetchone())


def by_reason(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """A run's verdicts by reason code, the most frequent first."""
    rows = connection.execute(
        "SELECT reason, count(*) FROM verdicts WHERE run_id = ? AND sample = 0 AND reason IS NOT NULL "
        "GROUP BY reason ORDER BY count(*) DESC, reason",
        (run,),
    )
    return dict(rows.fetchall())


def failures(connection: sqlite3.Connection, run: int, most: int) -> list[tuple[str, str | None, int]]:
    """(reason, words, count) of a run's verdicts "error", the most frequent first, and no more kinds than ``most``."""
    return connection.execute(
        "SELECT coalesce(v.reason, ''), e.detail, count(*) FROM verdicts AS v LEFT JOIN verdict_evidence AS e "
        "ON e.run_id = v.run_id AND e.completion_id = v.completion_id AND e.sample = v.sample "
        "WHERE v.run_id = ? AND v.sample = 0 AND v.outcome = ? GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?",
        (run, int(Outcome.ERROR), most),
    ).fetchall()


def of_selection(connection: sqlite3.Connection, run: int, selection: Selection) -> VerdictCounts:
    """The selection's items, and their verdicts in a run (none yet: 0).

    Raises:
        UsageError: A value can't be one of its field.
    """
    where, parameters = compile_selection(selection)
    limit = -1 if selection.limit is None else selection.limit
    row = connection.execute(
        f"SELECT count(*), {_SUMS} FROM "
        f"(SELECT c.id AS item FROM {_items(selection, FROM_ITEMS)} WHERE {where} ORDER BY c.id LIMIT ?) AS chosen "
        "LEFT JOIN verdicts AS v ON v.run_id = ? AND v.completion_id = chosen.item AND v.sample = 0",
        (*parameters, limit, run),
    ).fetchone()
    return VerdictCounts(items=row[0], verdicts=_words(row[1:]))


def spread(database: Database, selection: Selection, items: int, most: int) -> list[VerifierInput]:
    """A few of the selection's items, evenly spread over it.

    Args:
        items: How many the selection has.
        most: How many to give at most.
    """
    where, parameters = compile_selection(selection)
    rows = database.reader().execute(
        f"SELECT item FROM (SELECT c.id AS item, row_number() OVER (ORDER BY c.id) - 1 AS place "
        f"FROM {_items(selection, FROM_ITEMS)} WHERE {where} LIMIT ?) WHERE place % ? = 0 LIMIT ?",
        (*parameters, items, max(1, items // most), most),
    )
    return inputs(database, [item for (item,) in rows])


def pending(database: Database, run: int, selection: Selection) -> Iterator[list[VerifierInput]]:
    """The selection's items without a verdict in a run, in the order of import.

    Every list comes from short reads of its own, so memory stays the same and no read transaction is held
    at any number of items. A list is empty where a stretch of items is done; it lets the caller look up.
    """
    left = selection.limit
    after = 0
    while (left is None or left > 0) and (last := _window_end(database, after)) is not None:
        chosen = _chosen(database, run, selection, after, last)[:left]
        todo = [item for item, stored in chosen if not stored]
        for start in range(0, max(len(todo), 1), _TEXTS):
            yield inputs(database, todo[start : start + _TEXTS])
        left = None if left is None else left - len(chosen)
        after = last


def _items(selection: Selection, joined: str) -> str:
    """Where items come from: without conditions no other table is needed."""
    return joined if selection.conditions else "completions AS c"


def _words(sums: Sequence[int]) -> dict[OutcomeWord, int]:
    counted = {outcome.word: found for outcome, found in zip(Outcome, sums, strict=True)}
    words: tuple[OutcomeWord, ...] = ("correct", "incorrect", "abstain", "error")
    return {word: counted[word] for word in words}


def _window_end(database: Database, after: int) -> int | None:
    row: tuple[int | None] = (
        database.reader()
        .execute("SELECT max(id) FROM (SELECT id FROM completions WHERE id > ? ORDER BY id LIMIT ?)", (after, _WINDOW))
        .fetchone()
    )
    return row[0]


def _chosen(database: Database, run: int, selection: Selection, after: int, last: int) -> list[tuple[int, int]]:
    """Row ids of the selection's items in ``(after, last]``, each with whether its verdict is stored.

    The window stands first: SQLite walks up to the first of several upper bounds and only tests the others.
    """
    where, parameters = compile_selection(selection)
    return (
        database.reader()
        .execute(
            "SELECT c.id, EXISTS (SELECT 1 FROM verdicts AS v WHERE v.run_id = ? AND v.completion_id = c.id "
            f"AND v.sample = 0) FROM {_items(selection, _IN_ORDER)} "
            f"WHERE c.id > ? AND c.id <= ? AND {where} ORDER BY c.id",
            (run, after, last, *parameters),
        )
        .fetchall()
    )


def inputs(database: Database, items: list[int]) -> list[VerifierInput]:
    """Completions by row id, with their texts, in this order."""
    if not items:
        return []
    rows = database.reader().execute(
        f"SELECT c.id, qt.text, qt.reference, ct.text, {SUBTYPE}, {_EXAMPLE}, {_IS_CODE} "
        "FROM json_each(?) AS wanted CROSS JOIN completions AS c ON c.id = wanted.value "
        "CROSS JOIN completion_text AS ct ON ct.id = c.id CROSS JOIN questions AS q ON q.id = c.question_id "
        "CROSS JOIN question_text AS qt ON qt.id = q.id LEFT JOIN item_states AS i ON i.completion_id = c.id "
        "ORDER BY wanted.key",
        (msgspec.json.encode(items).decode(),),
    )
    return [
        VerifierInput(
            item=row[0],
            question=row[1],
            reference=row[2],
            completion=row[3],
            subtype=row[4],
            example=row[5],
            is_code=bool(row[6]),
        )
        for row in rows
    ]
