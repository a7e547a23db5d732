"""What verdicts of model servers rest on: the calls in their order, and the verifier's own account."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from workbench.runs.store.calls import NOBODY


class MadeCall(Struct, frozen=True):
    """One call that a verdict rests on; ``key`` says which stored response answered it."""

    key: bytes
    step: str
    role: str
    reused: bool


class CallRow(Struct, frozen=True):
    """One call of a verdict with its request and response, as stored."""

    step: str
    role: str
    reused: bool
    sample: int
    profile: str
    model: str
    request: bytes
    task: str
    response: bytes
    ms: float
    origin: str | None
    created_at: str
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cost: float | None


def put_calls(connection: sqlite3.Connection, run: int, made: Sequence[tuple[int, Sequence[MadeCall]]]) -> None:
    """Store the calls of verdicts, by the item's row id; the responses are stored already."""
    connection.executemany(
        "INSERT INTO verdict_calls (run_id, completion_id, position, response_id, step, role, reused) "
        "SELECT ?, ?, ?, id, ?, ?, ? FROM responses WHERE key = ?",
        [
            (run, item, position, call.step, call.role, call.reused, call.key)
            for item, calls in made
            for position, call in enumerate(calls)
        ],
    )


def mark_unread(connection: sqlite3.Connection, run: int, items: Sequence[int], reader: str) -> None:
    """Note that nothing could be made of the responses behind some items' verdicts.

    Args:
        reader: Who could make nothing of them: others may. `calls.NOBODY` where nobody is to use them.
    """
    connection.executemany(
        "UPDATE responses SET unread_by = ? "
        "WHERE id IN (SELECT response_id FROM verdict_calls WHERE run_id = ? AND completion_id = ?)",
        [(reader, run, item) for item in items],
    )


def drop(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> None:
    """Have nobody use the responses any more that some items' verdicts rest on, and no other item's."""
    chosen = msgspec.json.encode(list(items)).decode()
    connection.execute(
        "UPDATE responses SET unread_by = ?3 WHERE id IN (SELECT response_id FROM verdict_calls WHERE run_id = ?1 "
        "AND completion_id IN (SELECT value FROM json_each(?2)) EXCEPT SELECT response_id FROM verdict_calls "
        "WHERE run_id <> ?1 OR completion_id NOT IN (SELECT value FROM json_each(?2)))",
        (run, chosen, NOBODY),
    )


def put_traces(connection: sqlite3.Connection, run: int, traces: Sequence[tuple[int, str]]) -> None:
    """Store accounts of verdicts as JSON, by the item's row id."""
    connection.executemany(
        "INSERT INTO verdict_traces (run_id, completion_id, trace) VALUES (?, ?, ?)",
        [(run, item, trace) for item, trace in traces],
    )


def calls_of(connection: sqlite3.Connection, run: int, item: int) -> list[CallRow]:
    """The calls a verdict rests on, in order."""
    rows = connection.execute(
        "SELECT v.step, v.role, v.reused, r.sample, q.profile, q.model, q.body, r.task, r.body, r.ms, r.origin, "
        "r.created_at, r.prompt_tokens, r.completion_tokens, r.reasoning_tokens, r.cost "
        "FROM verdict_calls AS v CROSS JOIN responses AS r ON r.id = v.response_id "
        "CROSS JOIN requests AS q ON q.id = r.request_id "
        "WHERE v.run_id = ? AND v.completion_id = ? ORDER BY v.position",
        (run, item),
    )
    return [CallRow(step, role, bool(reused), *rest) for step, role, reused, *rest in rows]


def replies_of(
    connection: sqlite3.Connection, run: int
) -> Iterator[tuple[bytes, bytes, str, str | None, int, str | None]]:
    """Every reply that a run's verdicts rest on, once, as they came.

    Each is (request, response, model, server, sample, origin).
    """
    return connection.execute(
        "SELECT q.body, r.body, q.model, r.server, r.sample, r.origin FROM responses AS r "
        "JOIN requests AS q ON q.id = r.request_id "
        "WHERE r.id IN (SELECT response_id FROM verdict_calls WHERE run_id = ?) ORDER BY r.id",
        (run,),
    )


def has_recorded(connection: sqlite3.Connection, run: int) -> bool:
    """Whether any verdict of a run rests on a recorded reply."""
    row: tuple[int] = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM verdict_calls AS v CROSS JOIN responses AS r ON r.id = v.response_id "
        "WHERE v.run_id = ? AND r.origin IS NOT NULL)",
        (run,),
    ).fetchone()
    return bool(row[0])


def trace_of(connection: sqlite3.Connection, run: int, item: int) -> str | None:
    """The verifier's own account of a verdict, as JSON."""
    row: tuple[str] | None = connection.execute(
        "SELECT trace FROM verdict_traces WHERE run_id = ? AND completion_id = ?", (run, item)
    ).fetchone()
    return None if row is None else row[0]


def votes_of(connection: sqlite3.Connection, run: int, item: int) -> list[tuple[int, float | None, str | None]]:
    """The verdicts that an item's verdict was made of: (outcome, score, reason) each, in order."""
    return connection.execute(
        "SELECT outcome, score, reason FROM verdicts WHERE run_id = ? AND completion_id = ? AND sample > 0 "
        "ORDER BY sample",
        (run, item),
    ).fetchall()
