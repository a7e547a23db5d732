"""Read the questions that probes are built from, and store the results of probing; no probe is stored as an item."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec

from workbench.core.database.connection import Database
from workbench.core.database.selection import COLUMNS, GOLD, STATE, compile_selection, items_sql
from workbench.core.selection import Selection
from workbench.runs.store.verifier_inputs import inputs
from workbench.statistics.records.probe import AcceptedProbe, BaseRow, ProbeReport

_TYPE = COLUMNS["type"]


def questions(connection: sqlite3.Connection, selection: Selection) -> list[tuple[int, str]]:
    """Return row ids and answer types of the questions that have an item in the selection that isn't excluded.

    The selection's limit is not used.

    Raises:
        UsageError: A value is not valid for its field.
    """
    where, parameters = _where_not_excluded(selection)
    return connection.execute(
        f"SELECT c.question_id, min({_TYPE}) FROM {items_sql(where, _TYPE)} WHERE {where} "
        "GROUP BY c.question_id ORDER BY c.question_id",
        parameters,
    ).fetchall()


def base_rows(database: Database, selection: Selection, chosen: Sequence[int]) -> list[BaseRow]:
    """Return some questions, each with its first correct and its first incorrect completion in the selection."""
    where, parameters = _where_not_excluded(selection)
    found = (
        database.reader()
        .execute(
            f"SELECT q.key, min({_TYPE}), min(c.id), min(CASE {GOLD} WHEN 1 THEN c.id END), min(CASE {GOLD} WHEN 0 "
            f"THEN c.id END), c.question_id FROM {items_sql(where, _TYPE, GOLD, 'q.key')} WHERE {where} AND "
            "c.question_id IN (SELECT value FROM json_each(?)) GROUP BY c.question_id ORDER BY c.question_id",
            (*parameters, msgspec.json.encode(list(chosen)).decode()),
        )
        .fetchall()
    )
    return [_base_row(database, *columns) for columns in found]


def _where_not_excluded(selection: Selection) -> tuple[str, list[object]]:
    where, parameters = compile_selection(selection)
    return f"{where} AND {STATE} <> 'excluded'", parameters


def _base_row(
    database: Database, key: str, kind: str, first: int, right: int | None, wrong: int | None, question: int
) -> BaseRow:
    texts = {one.item: one for one in inputs(database, sorted({first, *filter(None, (right, wrong))}))}
    return BaseRow(
        question_id=question,
        key=key,
        question=texts[first].question,
        reference=texts[first].reference,
        type=kind,
        subtype=texts[first].subtype,
        example=texts[first].example,
        right=None if right is None else texts[right].completion,
        wrong=None if wrong is None else texts[wrong].completion,
    )


def put(connection: sqlite3.Connection, verifier: int, report: ProbeReport, accepted: Sequence[AcceptedProbe]) -> None:
    """Store the result of probing a configured verifier, in the caller's transaction."""
    cursor = connection.execute(
        "INSERT INTO probe_runs (verifier_id, report) VALUES (?, ?)", (verifier, msgspec.json.encode(report).decode())
    )
    connection.executemany(
        "INSERT INTO probe_results (probe_run_id, position, accepted) VALUES (?, ?, ?)",
        [(cursor.lastrowid, place, msgspec.json.encode(one).decode()) for place, one in enumerate(accepted)],
    )


def latest(connection: sqlite3.Connection, verifier: str) -> tuple[int, ProbeReport] | None:
    row = connection.execute(
        "SELECT p.id, p.report FROM probe_runs AS p JOIN verifiers AS v ON v.id = p.verifier_id "
        "WHERE v.name = ? ORDER BY p.id DESC LIMIT 1",
        (verifier,),
    ).fetchone()
    return None if row is None else (row[0], msgspec.json.decode(row[1], type=ProbeReport))


def accepted(connection: sqlite3.Connection, probing: int) -> Iterator[AcceptedProbe]:
    rows = connection.execute("SELECT accepted FROM probe_results WHERE probe_run_id = ? ORDER BY position", (probing,))
    return (msgspec.json.decode(text, type=AcceptedProbe) for (text,) in rows)


# -- Results of pairwise comparisons.


def comparisons(connection: sqlite3.Connection, run: int) -> Iterator[tuple[int, int, str | None, str | None]]:
    """Yield row ids of an item and its question, the verdict's reason and the pairs' trace as JSON, in import order."""
    return iter(
        connection.execute(
            "SELECT v.completion_id, c.question_id, v.reason, t.trace FROM verdicts AS v JOIN completions AS c ON "
            "c.id = v.completion_id LEFT JOIN verdict_traces AS t ON t.run_id = v.run_id AND t.completion_id = "
            "v.completion_id WHERE v.run_id = ? AND v.sample = 0 ORDER BY v.completion_id",
            (run,),
        )
    )
