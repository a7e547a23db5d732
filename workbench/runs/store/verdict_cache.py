"""What workers found, by a hash of what they compared: equal comparisons are made once."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from workbench.core.verdict import Outcome, Verdict


def get(connection: sqlite3.Connection, key: bytes) -> Verdict | None:
    """The outcome, score, reason, rule and detail that were found for a key, if any."""
    row = connection.execute(
        "SELECT outcome, score, reason, rule, detail FROM verdict_cache WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    return Verdict(outcome=Outcome(row[0]), score=row[1], reason=row[2], rule=row[3], detail=row[4])


def put(connection: sqlite3.Connection, run: int, found: Mapping[bytes, Verdict]) -> None:
    """Keep what was found, in the caller's transaction."""
    connection.executemany(
        "INSERT OR IGNORE INTO verdict_cache (key, run_id, outcome, score, reason, rule, detail) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (key, run, int(verdict.outcome), verdict.score, verdict.reason, verdict.rule, verdict.detail)
            for key, verdict in found.items()
        ],
    )


def drop_older(connection: sqlite3.Connection, run: int) -> None:
    """Drop what older runs of the run's verifier found: their version's keys are never asked for again."""
    older = connection.execute(
        "SELECT o.id FROM runs AS r JOIN runs AS o ON o.verifier_id = r.verifier_id AND o.id < r.id WHERE r.id = ?",
        (run,),
    ).fetchall()
    if older:
        marks = ", ".join("?" * len(older))
        connection.execute(f"DELETE FROM verdict_cache WHERE run_id IN ({marks})", [other for (other,) in older])
