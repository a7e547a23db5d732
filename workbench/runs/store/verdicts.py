"""Verdicts: stored in groups and never overwritten, counted, and read in the order of the items."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from workbench.core.code import Execution, Failure, Level
from workbench.core.database import changes
from workbench.core.database.connection import Database
from workbench.core.database.selection import (
    FROM_ITEMS,
    compile_selection,
    selected_sql,
)
from workbench.core.database.values import decode_stored
from workbench.core.run import VerdictEvidence, VerdictLine
from workbench.core.selection import Selection
from workbench.core.verdict import OutcomeCode, OutcomeWord, Verdict, VerifierInput
from workbench.runs.store import calls
from workbench.runs.store.verifier_inputs import inputs

_WINDOW = 5_000
"""Items examined in one read."""
_TEXTS_PER_READ = 64
"""Items whose texts are read at a time: a few hundred kB, tens of MB if texts are very long."""

# The items are walked by id; the planner must not begin with another table and sort each window.
_IN_ORDER = FROM_ITEMS.replace("JOIN questions", "CROSS JOIN questions", 1)
_SUMS = ", ".join(f"coalesce(sum(v.outcome = {int(outcome)}), 0)" for outcome in OutcomeCode)


class VerdictCounts(Struct, frozen=True, kw_only=True):
    """The number of items of a selection, and of their verdicts in a run.

    Attributes:
        items: Number of items.
        verdicts: Numbers of verdicts by outcome; all four keys are always present.
    """

    items: int
    verdicts: dict[OutcomeWord, int]

    @property
    def stored(self) -> int:
        return sum(self.verdicts.values())


def put(connection: sqlite3.Connection, run: int, results: Sequence[tuple[int, Verdict]]) -> None:
    """Store verdicts, each with its item's row id, in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: An item already has a verdict in this run.
    """
    put_samples(connection, run, [(item, 0, found) for item, found in results])


def put_samples(connection: sqlite3.Connection, run: int, results: Sequence[tuple[int, int, Verdict]]) -> None:
    """Store verdicts, each with its item's row id and its sample: 0 is the item's verdict, others are its votes.

    Raises:
        sqlite3.IntegrityError: An item already has a verdict with this sample in this run.
    """
    connection.executemany(
        "INSERT INTO verdicts (run_id, completion_id, sample, outcome, score, reason, ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (run, item, sample, found.outcome.code, found.score, found.reason, found.ms)
            for item, sample, found in results
        ],
    )
    changes.note_verdicts(connection, run, [item for item, _, _ in results])
    connection.executemany(
        "INSERT INTO verdict_evidence (run_id, completion_id, sample, rule, reference_final, candidate_final, "
        "reference_start, reference_end, span_start, span_end, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (run, item, sample, *evidence)
            for item, sample, found in results
            if (evidence := _evidence_columns(found)) != _NO_EVIDENCE
        ],
    )


def delete_errors(connection: sqlite3.Connection, run: int) -> int:
    """Delete a run's verdicts "error" with everything that depends on them, so that their items are judged again.

    Returns:
        Number of deleted verdicts.
    """
    rows = connection.execute(
        "SELECT completion_id, reason FROM verdicts WHERE run_id = ? AND sample = 0 AND outcome = ?",
        (run, int(OutcomeCode.ERROR)),
    ).fetchall()
    calls.drop(connection, run, [item for item, reason in rows if reason in _OF_REPLIES])
    return _delete_verdicts(connection, run, [item for item, _ in rows])


def delete_unread(connection: sqlite3.Connection, run: int) -> int:
    """Delete a run's verdicts on items whose replies contain no verdict, and exclude those replies from further use.

    Returns:
        Number of deleted verdicts.
    """
    reasons = ", ".join("?" * len(_NO_VERDICT))
    rows = connection.execute(
        "SELECT completion_id FROM verdicts "
        f"WHERE run_id = ? AND sample = 0 AND reason IN ({reasons}) AND outcome >= ?",
        (run, *_NO_VERDICT, int(OutcomeCode.ABSTAIN)),
    )
    items = [item for (item,) in rows]
    calls.drop(connection, run, items)
    return _delete_verdicts(connection, run, items)


def delete_selected(connection: sqlite3.Connection, run: int, selection: Selection) -> int:
    """Delete a run's verdicts on all of the selection's items.

    Returns:
        Number of deleted verdicts.
    """
    chosen, parameters = selected_sql(selection)
    rows = connection.execute(
        f"SELECT completion_id FROM verdicts WHERE run_id = ? AND sample = 0 AND completion_id IN ({chosen})",
        (run, *parameters),
    )
    return _delete_verdicts(connection, run, [item for (item,) in rows])


def delete_timeouts(connection: sqlite3.Connection, run: int) -> int:
    """Delete a run's verdicts on items that exceeded a time limit; `by_timeout` counts them.

    Returns:
        Number of deleted verdicts.
    """
    return _delete_verdicts(connection, run, [item for item, _ in _timed_out_items(connection, run)])


def by_timeout(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """Count a run's items that exceeded a time limit, by limit: ``cpu``, ``wall``, or ``unknown`` if that isn't stored.

    A solution counts if at least one of its tests timed out.
    """
    found = Counter(cause for _, cause in _timed_out_items(connection, run))
    return {cause: found[cause] for cause in ("cpu", "wall", "unknown") if found[cause]}


def _timed_out_items(connection: sqlite3.Connection, run: int) -> list[tuple[int, str]]:
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


def _delete_verdicts(connection: sqlite3.Connection, run: int, items: list[int]) -> int:
    for table in ("test_results", "verdict_traces", "verdict_calls", "verdict_evidence", "verdicts"):
        connection.executemany(
            f"DELETE FROM {table} WHERE run_id = ? AND completion_id = ?", [(run, item) for item in items]
        )
    changes.note_verdicts(connection, run, items)
    return len(items)


_OF_REPLIES = ("malformed", "content_filter")
"""Reasons of errors that follow from a stored reply."""
_NO_VERDICT = ("unparsed", "truncated", "refused", *_OF_REPLIES)
"""Reasons of verdicts that follow from replies without a verdict."""
_NO_EVIDENCE = (None,) * 8


def _evidence_columns(found: Verdict) -> tuple[object, ...]:
    return (
        found.rule,
        found.reference_final,
        found.candidate_final,
        *(found.reference_span or (None, None)),
        *(found.candidate_span or (None, None)),
        found.detail,
    )


def count(connection: sqlite3.Connection, run: int) -> int:
    return int(
        connection.execute("SELECT count(*) FROM verdicts WHERE run_id = ? AND sample = 0", (run,)).fetchone()[0]
    )


def by_outcome(connection: sqlite3.Connection, run: int) -> dict[OutcomeWord, int]:
    row = connection.execute(f"SELECT {_SUMS} FROM verdicts AS v WHERE v.run_id = ? AND v.sample = 0", (run,))
    return _counts_by_outcome(row.fetchone())


def by_reason(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """Count a run's verdicts by reason code, the most frequent first."""
    rows = connection.execute(
        "SELECT reason, count(*) FROM verdicts WHERE run_id = ? AND sample = 0 AND reason IS NOT NULL "
        "GROUP BY reason ORDER BY count(*) DESC, reason",
        (run,),
    )
    return dict(rows.fetchall())


def failures(connection: sqlite3.Connection, run: int, most: int) -> list[tuple[str, str | None, int]]:
    """Return (reason, detail, count) of a run's verdicts "error", the most frequent first, at most ``most`` tuples."""
    return connection.execute(
        "SELECT coalesce(v.reason, ''), e.detail, count(*) FROM verdicts AS v LEFT JOIN verdict_evidence AS e "
        "ON e.run_id = v.run_id AND e.completion_id = v.completion_id AND e.sample = v.sample "
        "WHERE v.run_id = ? AND v.sample = 0 AND v.outcome = ? GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT ?",
        (run, int(OutcomeCode.ERROR), most),
    ).fetchall()


def untested(connection: sqlite3.Connection, run: int) -> tuple[int, str | None]:
    """Return the number of problems whose tests are all broken in a run, and their most frequent error."""
    row: tuple[int, str | None] = connection.execute(
        "WITH found AS (SELECT c.question_id, e.detail FROM verdicts AS v JOIN completions AS c ON c.id = "
        "v.completion_id LEFT JOIN verdict_evidence AS e ON e.run_id = v.run_id AND e.completion_id = v.completion_id "
        "AND e.sample = 0 WHERE v.run_id = ? AND v.sample = 0 AND v.reason = 'broken_tests') SELECT (SELECT "
        "count(DISTINCT question_id) FROM found), (SELECT detail FROM found WHERE detail IS NOT NULL GROUP BY detail "
        "ORDER BY count(*) DESC, detail LIMIT 1)",
        (run,),
    ).fetchone()
    return row


def of_selection(connection: sqlite3.Connection, run: int, selection: Selection) -> VerdictCounts:
    """Count the selection's items, and their verdicts in a run; ``run`` is 0 if there is no run yet.

    Raises:
        UsageError: A value is not valid for its field.
    """
    chosen, parameters = selected_sql(selection)
    row = connection.execute(
        f"SELECT count(*), {_SUMS} FROM ({chosen}) AS chosen "
        "LEFT JOIN verdicts AS v ON v.run_id = ? AND v.completion_id = chosen.id AND v.sample = 0",
        (*parameters, run),
    ).fetchone()
    return VerdictCounts(items=row[0], verdicts=_counts_by_outcome(row[1:]))


def spread(database: Database, selection: Selection, items: int, most: int) -> list[VerifierInput]:
    """Return a few of the selection's items, evenly spread over it.

    Args:
        items: Number of items in the selection.
        most: Maximum number of returned items.
    """
    where, parameters = compile_selection(selection)
    rows = database.reader().execute(
        f"SELECT item FROM (SELECT c.id AS item, row_number() OVER (ORDER BY c.id) - 1 AS place "
        f"FROM {_item_tables(selection, FROM_ITEMS)} WHERE {where} LIMIT ?) WHERE place % ? = 0 LIMIT ?",
        (*parameters, items, max(1, items // most), most),
    )
    return inputs(database, [item for (item,) in rows])


def pending(database: Database, run: int, selection: Selection) -> Iterator[list[VerifierInput]]:
    """Yield the selection's items without a verdict in a run, in the order of import.

    Each list comes from separate short reads, so memory is bounded and no read transaction stays open, for any number
    of items. A list is empty if all items of its range have verdicts; the caller can then check for other work.
    """
    left = selection.limit
    after = 0
    while (left is None or left > 0) and (last := _window_end(database, after)) is not None:
        chosen = _items_in_range(database, run, selection, after, last)[:left]
        todo = [item for item, stored in chosen if not stored]
        for start in range(0, max(len(todo), 1), _TEXTS_PER_READ):
            yield inputs(database, todo[start : start + _TEXTS_PER_READ])
        left = None if left is None else left - len(chosen)
        after = last


def _item_tables(selection: Selection, joined: str) -> str:
    return joined if selection.conditions else "completions AS c"


def _counts_by_outcome(sums: Sequence[int]) -> dict[OutcomeWord, int]:
    counted = {outcome.word: found for outcome, found in zip(OutcomeCode, sums, strict=True)}
    words: tuple[OutcomeWord, ...] = ("correct", "incorrect", "abstain", "error")
    return {word: counted[word] for word in words}


def _window_end(database: Database, after: int) -> int | None:
    row: tuple[int | None] = (
        database.reader()
        .execute("SELECT max(id) FROM (SELECT id FROM completions WHERE id > ? ORDER BY id LIMIT ?)", (after, _WINDOW))
        .fetchone()
    )
    return row[0]


def _items_in_range(database: Database, run: int, selection: Selection, after: int, last: int) -> list[tuple[int, int]]:
    """Return row ids of the selection's items in ``(after, last]``, each with 1 if its verdict is stored.

    The range comes first in the SQL: SQLite seeks by the first of several upper bounds and only tests the others.
    """
    where, parameters = compile_selection(selection)
    return (
        database.reader()
        .execute(
            "SELECT c.id, EXISTS (SELECT 1 FROM verdicts AS v WHERE v.run_id = ? AND v.completion_id = c.id AND "
            f"v.sample = 0) FROM {_item_tables(selection, _IN_ORDER)} "
            f"WHERE c.id > ? AND c.id <= ? AND {where} ORDER BY c.id",
            (run, after, last, *parameters),
        )
        .fetchall()
    )


# -- A run's verdicts with the keys of their items, in the order of import and in short reads.


_LINES = 2_000
_COLUMNS = (
    "v.completion_id, q.key, c.key, d.name, v.outcome, v.score, v.reason, v.ms, e.rule, e.reference_final, "
    "e.candidate_final, e.reference_start, e.reference_end, e.span_start, e.span_end, e.detail, "
    "(SELECT max(r.origin) FROM verdict_calls AS m CROSS JOIN responses AS r ON r.id = m.response_id "
    "WHERE m.run_id = v.run_id AND m.completion_id = v.completion_id)"
)
_FROM = (
    "verdicts AS v CROSS JOIN completions AS c ON c.id = v.completion_id CROSS JOIN questions AS q ON q.id = "
    "c.question_id CROSS JOIN datasets AS d ON d.id = q.dataset_id LEFT JOIN verdict_evidence AS e ON e.run_id = "
    "v.run_id AND e.completion_id = v.completion_id AND e.sample = v.sample"
)
_WITH_TEXTS = f"{_FROM} CROSS JOIN question_text AS qt ON qt.id = q.id CROSS JOIN completion_text AS ct ON ct.id = c.id"


def lines(database: Database, run: int, verifier: str) -> Iterator[VerdictLine]:
    for row in _rows(database, run, _COLUMNS, _FROM, _LINES):
        yield _line(row, run, verifier)


def evidence(database: Database, run: int, verifier: str) -> Iterator[VerdictEvidence]:
    for row in _rows(database, run, f"{_COLUMNS}, qt.reference, ct.text", _WITH_TEXTS, _TEXTS_PER_READ):
        yield VerdictEvidence(item=row[0], line=_line(row, run, verifier), reference=row[-2], completion=row[-1])


def line_of(database: Database, run: int, verifier: str, item: int) -> VerdictLine | None:
    row = (
        database.reader()
        .execute(
            f"SELECT {_COLUMNS} FROM {_FROM} WHERE v.run_id = ? AND v.completion_id = ? AND v.sample = 0", (run, item)
        )
        .fetchone()
    )
    return None if row is None else _line(row, run, verifier)


def verdicts_of(connection: sqlite3.Connection, run: int, items: list[int]) -> dict[int, Verdict]:
    """Return outcome, score and reason of a run's verdicts on some items, by row id."""
    rows = connection.execute(
        "SELECT completion_id, outcome, score, reason FROM verdicts WHERE run_id = ? AND sample = 0 "
        "AND completion_id IN (SELECT value FROM json_each(?))",
        (run, json.dumps(items)),
    )
    return {
        item: Verdict(outcome=OutcomeCode(outcome).outcome, score=score, reason=reason)
        for item, outcome, score, reason in rows
    }


def _rows(database: Database, run: int, columns: str, tables: str, at_once: int) -> Iterator[tuple[Any, ...]]:
    after = 0
    while True:
        rows = (
            database.reader()
            .execute(
                f"SELECT {columns} FROM {tables} "
                "WHERE v.run_id = ? AND v.completion_id > ? AND v.sample = 0 ORDER BY v.completion_id LIMIT ?",
                (run, after, at_once),
            )
            .fetchall()
        )
        if not rows:
            return
        yield from rows
        after = rows[-1][0]


def _line(row: tuple[Any, ...], run: int, verifier: str) -> VerdictLine:
    return VerdictLine(
        question_id=row[1],
        completion_id=row[2],
        verifier=verifier,
        verdict=OutcomeCode(row[4]).word,
        score=row[5],
        reason=row[6],
        rule=row[8],
        ms=row[7],
        run=run,
        dataset=row[3],
        reference_final=row[9],
        candidate_final=row[10],
        reference_span=None if row[11] is None else (row[11], row[12]),
        candidate_span=None if row[13] is None else (row[13], row[14]),
        detail=row[15],
        origin=row[16],
    )


# -- Outcomes of tests: one row per solution and suite of a run, written with the verdict and never changed.


_FAILURES = msgspec.json.Decoder(tuple[Failure, ...])


class TestResult(Struct, frozen=True):
    """The result of one solution against one suite.

    Attributes:
        item: The completion's row id.
    """

    __test__ = False

    item: int
    suite: str
    execution: Execution


def put_outcomes(connection: sqlite3.Connection, run: int, rows: Sequence[TestResult]) -> None:
    """Store outcomes in the caller's transaction.

    Raises:
        sqlite3.IntegrityError: A solution already has outcomes of this suite in this run.
    """
    connection.executemany(
        "INSERT INTO test_results (run_id, completion_id, suite, outcomes, isolation, forgeable, ms, failures) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                run,
                row.item,
                row.suite,
                row.execution.outcomes,
                int(row.execution.level[1:]),
                row.execution.forgeable,
                row.execution.ms,
                msgspec.json.encode(row.execution.failures).decode() if row.execution.failures else None,
            )
            for row in rows
        ],
    )


def of_run(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> dict[int, dict[str, Execution]]:
    rows = connection.execute(
        "SELECT r.completion_id, r.suite, r.outcomes, r.isolation, r.forgeable, r.ms, r.failures FROM json_each(?) AS "
        "wanted CROSS JOIN counted_results AS r ON r.run_id = ? AND r.completion_id = wanted.value",
        (msgspec.json.encode(list(items)).decode(), run),
    )
    found: dict[int, dict[str, Execution]] = {}
    for item, suite, outcomes, isolation, forgeable, ms, failures in rows:
        found.setdefault(item, {})[suite] = Execution(
            outcomes=outcomes,
            level=cast("Level", f"L{isolation}"),
            forgeable=forgeable,
            ms=ms,
            failures=() if failures is None else decode_stored(_FAILURES, failures, f"Why tests failed in run {run}"),
        )
    return found


def items_of(connection: sqlite3.Connection, run: int) -> list[int]:
    """Return row ids of the completions with outcomes in a run, in the order of import."""
    rows = connection.execute(
        "SELECT DISTINCT completion_id FROM test_results WHERE run_id = ? ORDER BY completion_id", (run,)
    )
    return [item for (item,) in rows]


def with_reason(connection: sqlite3.Connection, run: int, reason: str) -> list[int]:
    rows = connection.execute(
        "SELECT completion_id FROM verdicts WHERE run_id = ? AND sample = 0 AND reason = ?", (run, reason)
    )
    return [item for (item,) in rows]


def suites_of(connection: sqlite3.Connection, run: int) -> list[str]:
    rows = connection.execute("SELECT DISTINCT suite FROM test_results WHERE run_id = ? ORDER BY suite", (run,))
    return [suite for (suite,) in rows]


def levels(connection: sqlite3.Connection, run: int) -> dict[Level, int]:
    """Count a run's outcomes by isolation level, the highest first."""
    rows = connection.execute(
        "SELECT isolation, count(*) FROM test_results WHERE run_id = ? GROUP BY isolation ORDER BY isolation DESC",
        (run,),
    )
    return {cast("Level", f"L{isolation}"): count for isolation, count in rows}


def runs_with(connection: sqlite3.Connection) -> set[int]:
    return {run for (run,) in connection.execute("SELECT DISTINCT run_id FROM test_results")}
