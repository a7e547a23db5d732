"""Store batches of calls: their calls and their status. The outcome of each call is stored with its attempt."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from msgspec import Struct

from workbench.core.run import CallBatch
from workbench.llm.records import JournaledCall

if TYPE_CHECKING:
    from workbench.llm.gate import CallEstimate

BatchState = Literal["gathered", "sent", "open", "ended"]


class BatchRow(Struct, frozen=True, kw_only=True):
    """A batch that hasn't ended; see ``call_batches`` in the schema."""

    id: int
    role: str
    base_url: str
    server: str
    token: str
    state: BatchState
    calls: int
    bytes: int
    tokens: int
    cost: float
    input_file: str | None
    name: str | None
    status: str | None
    sent_at: float | None
    look_at: float


class GatheredCall(Struct, frozen=True, kw_only=True):
    """A call to put into a batch.

    Attributes:
        item: The item's row id.
        bytes: Size of the call's line in the batch file.
    """

    item: int
    call: JournaledCall
    estimate: CallEstimate
    bytes: int


class EarlierCall(Struct, frozen=True):
    """An earlier call with the same key, in one of the run's batches, with its outcome."""

    item: int | None
    state: str
    status: int | None
    code: str | None
    detail: str | None


_COLUMNS: Final = ", ".join(BatchRow.__struct_fields__)


def unended(connection: sqlite3.Connection, run: int) -> list[BatchRow]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM call_batches WHERE run_id = ? AND state <> 'ended' ORDER BY id", (run,)
    )
    return [BatchRow(**dict(zip(BatchRow.__struct_fields__, row, strict=True))) for row in rows]


def pending_batches(connection: sqlite3.Connection, run: int) -> list[CallBatch]:
    """Return the batches of a run whose results the provider has not returned yet."""
    rows = connection.execute(
        "SELECT name, calls, status, strftime('%Y-%m-%dT%H:%M:%SZ', sent_at, 'unixepoch') FROM call_batches "
        "WHERE run_id = ? AND state IN ('sent', 'open') ORDER BY id",
        (run,),
    )
    return [CallBatch(name=name, calls=calls, status=status, sent_at=at) for name, calls, status, at in rows]


def begin(connection: sqlite3.Connection, run: int, role: str, base_url: str, server: str, token: str) -> int:
    """Create a batch without calls; return its number.

    Args:
        server: The server's identity, under which its replies are stored.
    """
    cursor = connection.execute(
        "INSERT INTO call_batches (run_id, role, base_url, server, token, state, calls, bytes, tokens, cost) "
        "VALUES (?, ?, ?, ?, ?, 'gathered', 0, 0, 0, 0)",
        (run, role, base_url, server, token),
    )
    return int(cursor.lastrowid or 0)


def add(
    connection: sqlite3.Connection, run: int, batch: int, attempts: Sequence[int], found: Sequence[GatheredCall]
) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO requests (hash, profile, model, body) VALUES (?, ?, ?, ?)",
        [(one.call.request, one.call.profile, one.call.model, one.call.body) for one in found],
    )
    connection.executemany(
        "INSERT INTO batched_calls (attempt_id, run_id, batch_id, request_id, key, sample) "
        "VALUES (?, ?, ?, (SELECT id FROM requests WHERE hash = ?), ?, ?)",
        [
            (attempt, run, batch, one.call.request, one.call.key, one.call.sample)
            for attempt, one in zip(attempts, found, strict=True)
        ],
    )
    connection.execute(
        "UPDATE call_batches SET calls = calls + ?, bytes = bytes + ?, tokens = tokens + ?, cost = cost + ? "
        "WHERE id = ?",
        (
            len(found),
            sum(one.bytes for one in found),
            sum(one.estimate.tokens for one in found),
            sum(one.estimate.cost for one in found),
            batch,
        ),
    )


def update(connection: sqlite3.Connection, batch: int, values: Mapping[str, object]) -> None:
    """Change columns of a batch."""
    columns = ", ".join(f"{name} = :{name}" for name in values)
    connection.execute(f"UPDATE call_batches SET {columns} WHERE id = :id", {**values, "id": batch})


def bodies(connection: sqlite3.Connection, batch: int) -> Iterator[tuple[int, bytes]]:
    return connection.execute(
        "SELECT b.attempt_id, r.body FROM batched_calls AS b CROSS JOIN requests AS r ON r.id = b.request_id "
        "WHERE b.batch_id = ? ORDER BY b.attempt_id",
        (batch,),
    )


def call_of(connection: sqlite3.Connection, batch: BatchRow, attempt: int) -> tuple[str, JournaledCall] | None:
    """Return the state of an attempt in a batch, and its call."""
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT a.state, b.key, r.hash, r.body, r.profile, r.model, b.sample, a.url FROM batched_calls AS b "
        "CROSS JOIN attempts AS a ON a.id = b.attempt_id CROSS JOIN requests AS r ON r.id = b.request_id "
        "WHERE b.attempt_id = ? AND b.batch_id = ?",
        (attempt, batch.id),
    ).fetchone()
    if row is None:
        return None
    state, key, request, body, profile, model, sample, url = row
    return state, JournaledCall(
        key=key,
        server=batch.server,
        request=request,
        body=body,
        profile=profile,
        model=model,
        sample=sample,
        url=url,
    )


def without_outcome(connection: sqlite3.Connection, batch: int) -> list[int]:
    rows = connection.execute(
        "SELECT b.attempt_id FROM batched_calls AS b CROSS JOIN attempts AS a ON a.id = b.attempt_id "
        "WHERE b.batch_id = ? AND a.state = 'sent'",
        (batch,),
    )
    return [attempt for (attempt,) in rows]


def failed_codes(connection: sqlite3.Connection, batch: int) -> list[str]:
    rows = connection.execute(
        "SELECT a.code FROM batched_calls AS b CROSS JOIN attempts AS a ON a.id = b.attempt_id "
        "WHERE b.batch_id = ? AND a.state IN ('failed', 'unsent')",
        (batch,),
    )
    return [code or "" for (code,) in rows]


def earlier_calls(connection: sqlite3.Connection, run: int, key: bytes) -> list[EarlierCall]:
    rows = connection.execute(
        "SELECT a.completion_id, a.state, a.status, a.code, a.detail FROM batched_calls AS b "
        "CROSS JOIN attempts AS a ON a.id = b.attempt_id WHERE b.key = ? AND b.run_id = ? ORDER BY a.id",
        (key, run),
    )
    return [EarlierCall(*row) for row in rows]


def forget_failures(connection: sqlite3.Connection, run: int) -> None:
    """Let a run repeat calls that failed in its batches; the attempts are kept."""
    connection.execute(
        "DELETE FROM batched_calls WHERE run_id = ? AND (SELECT state FROM attempts WHERE id = attempt_id) "
        "IN ('failed', 'unsent')",
        (run,),
    )
