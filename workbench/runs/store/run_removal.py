"""Taking a run out of the database: what hangs on it, and what keeps it."""

from __future__ import annotations

import sqlite3
from typing import Final

from workbench.core.database import changes

_HANGING: Final = {
    "test_results": "outcomes of tests",
    "verdict_traces": "traces",
    "verdict_calls": "records of which reply a verdict rests on",
    "verdict_evidence": "pieces of evidence",
    "proposed_types": "proposed types",
    "provenance": "notes of what outcomes depend on",
    "verdict_cache": "answers of workers",
    "attempts": "records of calls to model servers",
    "run_usage": "sums of what was used",
    "verdicts": "verdicts",
}
"""Table -> what its rows are, in an order in which they can go."""


def hanging(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """How much of what would go with a run, the verdicts first; only what there is."""
    counts = {
        words: connection.execute(f"SELECT count(*) FROM {table} WHERE run_id = ?", (run,)).fetchone()[0]
        for table, words in reversed(_HANGING.items())
    }
    return {words: count for words, count in counts.items() if count}


def sets_of(connection: sqlite3.Connection, run: int) -> list[str]:
    """Frozen sets that this run's verdicts chose, as ``name@version``."""
    rows = connection.execute(
        "SELECT s.name, s.version FROM sets AS s JOIN set_runs AS r ON r.set_id = s.id WHERE r.run_id = ? "
        "ORDER BY s.name, s.version",
        (run,),
    )
    return [f"{name}@{version}" for name, version in rows]


def reviews_of(connection: sqlite3.Connection, run: int) -> int:
    """Decisions of reviewers about this run's verdicts; they stay for ever."""
    (count,) = connection.execute("SELECT count(*) FROM reviews WHERE run_id = ?", (run,)).fetchone()
    return int(count)


def remove(connection: sqlite3.Connection, run: int) -> None:
    """Take a run out with all that hangs on it, in the caller's transaction; a name without a run left is free again.

    Raises:
        sqlite3.IntegrityError: A set or a review names it.
    """
    items = [item for (item,) in connection.execute("SELECT completion_id FROM verdicts WHERE run_id = ?", (run,))]
    (verifier,) = connection.execute("SELECT verifier_id FROM runs WHERE id = ?", (run,)).fetchone()
    for table in _HANGING:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run,))
    connection.execute("DELETE FROM runs WHERE id = ?", (run,))
    connection.execute(
        "DELETE FROM verifiers WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE verifier_id = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM probe_runs WHERE verifier_id = ?1)",
        (verifier,),
    )
    changes.note(connection, run, items)
