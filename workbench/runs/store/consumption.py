"""What verdicts rest on, counted over a run: replies and tokens, by step."""

from __future__ import annotations

import sqlite3

from msgspec import Struct


class StepSums(Struct, frozen=True):
    """The replies of one step, each counted once for each item that rests on it.

    Attributes:
        prompt_tokens: None where a reply doesn't say.
        completion_tokens: None where a reply doesn't say.
    """

    step: str
    role: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None


def by_step(connection: sqlite3.Connection, run: int) -> list[StepSums]:
    """The sums over all verdicts of a run, wherever and whenever the replies were asked for."""
    rows = connection.execute(
        "SELECT c.step, c.role, count(*), "
        "iif(count(r.prompt_tokens) = count(*), sum(r.prompt_tokens), NULL), "
        "iif(count(r.completion_tokens) = count(*), sum(r.completion_tokens), NULL) "
        "FROM (SELECT DISTINCT completion_id, response_id, step, role FROM verdict_calls WHERE run_id = ?) AS c "
        "JOIN responses AS r ON r.id = c.response_id GROUP BY c.step, c.role ORDER BY c.step, c.role",
        (run,),
    )
    return [StepSums(*row) for row in rows]
