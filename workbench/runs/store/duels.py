"""What duels of judges came to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator


def duels(connection: sqlite3.Connection, run: int) -> Iterator[tuple[int, str | None, str | None]]:
    """Each item's question, the reason of its verdict and the duel's account as JSON, in the order of import."""
    return iter(
        connection.execute(
            "SELECT c.question_id, v.reason, t.trace FROM verdicts AS v "
            "JOIN completions AS c ON c.id = v.completion_id LEFT JOIN verdict_traces AS t "
            "ON t.run_id = v.run_id AND t.completion_id = v.completion_id "
            "WHERE v.run_id = ? AND v.sample = 0 ORDER BY v.completion_id",
            (run,),
        )
    )


def has_calls(connection: sqlite3.Connection, run: int) -> bool:
    """Whether any verdict of a run rests on a reply."""
    return connection.execute("SELECT 1 FROM verdict_calls WHERE run_id = ? LIMIT 1", (run,)).fetchone() is not None
