"""A run's verdicts with the keys of their items, in the order of import and in short reads."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from workbench.core.database.connection import Database
from workbench.core.run import VerdictEvidence, VerdictLine
from workbench.core.verdict import Outcome, Verdict

_LINES = 2_000
_TEXTS = 64
"""Items whose texts are read at once."""

_COLUMNS = (
    "v.completion_id, q.key, c.key, d.name, v.outcome, v.score, v.reason, v.ms, e.rule, e.reference_final, "
    "e.candidate_final, e.reference_start, e.reference_end, e.span_start, e.span_end, e.detail, "
    "(SELECT max(r.origin) FROM verdict_calls AS m CROSS JOIN responses AS r ON r.id = m.response_id "
    "WHERE m.run_id = v.run_id AND m.completion_id = v.completion_id)"
)
_FROM = (
    "verdicts AS v CROSS JOIN completions AS c ON c.id = v.completion_id "
    "CROSS JOIN questions AS q ON q.id = c.question_id CROSS JOIN datasets AS d ON d.id = q.dataset_id "
    "LEFT JOIN verdict_evidence AS e ON e.run_id = v.run_id AND e.completion_id = v.completion_id "
    "AND e.sample = v.sample"
)
_WITH_TEXTS = f"{_FROM} CROSS JOIN question_text AS qt ON qt.id = q.id CROSS JOIN completion_text AS ct ON ct.id = c.id"


def lines(database: Database, run: int, verifier: str) -> Iterator[VerdictLine]:
    """Every verdict of a run."""
    for row in _rows(database, run, _COLUMNS, _FROM, _LINES):
        yield _line(row, run, verifier)


def evidence(database: Database, run: int, verifier: str) -> Iterator[VerdictEvidence]:
    """Every verdict of a run with the texts that its offsets point into."""
    for row in _rows(database, run, f"{_COLUMNS}, qt.reference, ct.text", _WITH_TEXTS, _TEXTS):
        yield VerdictEvidence(line=_line(row, run, verifier), reference=row[-2], completion=row[-1])


def line_of(database: Database, run: int, verifier: str, item: int) -> VerdictLine | None:
    """A run's verdict on one item, by its row id."""
    row = (
        database.reader()
        .execute(
            f"SELECT {_COLUMNS} FROM {_FROM} WHERE v.run_id = ? AND v.completion_id = ? AND v.sample = 0", (run, item)
        )
        .fetchone()
    )
    return None if row is None else _line(row, run, verifier)


def said(connection: sqlite3.Connection, run: int, items: list[int]) -> dict[int, Verdict]:
    """Outcome and score of a run's verdicts on some items, by row id, where it has one."""
    rows = connection.execute(
        "SELECT completion_id, outcome, score FROM verdicts WHERE run_id = ? AND sample = 0 "
        "AND completion_id IN (SELECT value FROM json_each(?))",
        (run, json.dumps(items)),
    )
    return {item: Verdict(outcome=Outcome(outcome), score=score) for item, outcome, score in rows}


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
        verdict=Outcome(row[4]).word,
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
