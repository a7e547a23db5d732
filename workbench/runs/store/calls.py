"""Calls to model servers: requests and responses for ever, and every attempt before it is sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from workbench.core.calls import OpenAttempt
from workbench.llm.journal import JournaledCall, Response
from workbench.llm.records import Usage

AttemptState = Literal["unsent", "sent", "failed", "done"]


class Attempt(Struct, frozen=True):
    """A call that is about to be sent, for an item's row id; one below 0 is about no completion."""

    id: int
    item: int
    call: JournaledCall


class AttemptOutcome(Struct, frozen=True):
    """What became of an attempt."""

    attempt: int
    state: AttemptState
    status: int | None = None
    code: str | None = None
    detail: str | None = None


NOBODY: Final = "*"
"""Stands for all readers where a response is not to be used any more."""

_USAGE = "prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens, cost"


class ResponseQuery(Struct, frozen=True, kw_only=True):
    """Which stored responses a run takes.

    Attributes:
        after: Those with greater numbers than this; earlier ones are to be asked for again.
        own: Those with greater numbers than this came in this start of the run: what was made of them is no matter.
        reader: Who reads them; one that this reader could make nothing of is asked for again.
    """

    after: int = 0
    own: int = 2**62
    reader: str = ""


_ANY = ResponseQuery()


def response(connection: sqlite3.Connection, key: bytes, wanted: ResponseQuery = _ANY) -> Response | None:
    """The response to a request's sample, if there is one that is wanted."""
    row = connection.execute(
        f"SELECT q.profile, r.task, r.body, r.ms, r.origin, {_USAGE} "
        "FROM responses AS r CROSS JOIN requests AS q ON q.id = r.request_id "
        "WHERE r.key = ? AND r.id > ? AND (r.unread_by IS NULL OR r.id > ? OR r.unread_by NOT IN (?, ?))",
        (key, wanted.after, wanted.own, NOBODY, wanted.reader),
    ).fetchone()
    if row is None:
        return None
    prompt, cached, completion, reasoning, cost = row[5:]
    usage = Usage(
        prompt_tokens=prompt,
        cached_tokens=cached,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        cost=cost,
    )
    return Response(profile=row[0], task=row[1], body=row[2], usage=usage, ms=row[3], origin=row[4])


def next_attempt(connection: sqlite3.Connection) -> int:
    """The number of the next attempt: there is one runner, so it can count for itself from here."""
    row: tuple[int] = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM attempts").fetchone()
    return row[0]


def put_attempts(connection: sqlite3.Connection, run: int, attempts: Sequence[Attempt], moment: str) -> None:
    """Store attempts that will be sent once this transaction is committed."""
    connection.executemany(
        "INSERT INTO attempts (id, run_id, completion_id, key, state, url, sent_at) VALUES (?, ?, ?, ?, 'sent', ?, ?)",
        [
            (sent.id, run, sent.item if sent.item > 0 else None, sent.call.key, sent.call.url, moment)
            for sent in attempts
        ],
    )


def put_outcomes(connection: sqlite3.Connection, outcomes: Sequence[AttemptOutcome]) -> None:
    """Store what became of attempts."""
    connection.executemany(
        "UPDATE attempts SET state = ?, status = ?, code = ?, detail = ? WHERE id = ?",
        [(found.state, found.status, found.code, found.detail, found.attempt) for found in outcomes],
    )


def put_responses(connection: sqlite3.Connection, found: Sequence[tuple[JournaledCall, Response]], moment: str) -> None:
    """Store responses with their requests; one that was asked for again takes the place of that before it.

    The earlier one stays for those whose verdicts rest on it; no request finds it any more.
    """
    connection.executemany(
        "UPDATE responses SET key = randomblob(32) WHERE key = ?", [(call.key,) for call, _ in found]
    )
    connection.executemany(
        "INSERT OR IGNORE INTO requests (hash, profile, model, body) VALUES (?, ?, ?, ?)",
        [(call.request, call.profile, call.model, call.body) for call, _ in found],
    )
    connection.executemany(
        f"INSERT INTO responses (key, server, request_id, sample, task, body, ms, origin, created_at, {_USAGE}) "
        "VALUES (?, ?, (SELECT id FROM requests WHERE hash = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (call.key, call.server, call.request, call.sample, *_columns(reply), moment, *_sums(reply.usage))
            for call, reply in found
        ],
    )


def _columns(reply: Response) -> tuple[object, ...]:
    return reply.task, reply.body, reply.ms, reply.origin


def _sums(usage: Usage) -> tuple[object, ...]:
    return usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.cost


def newest_response(connection: sqlite3.Connection) -> int:
    """The number of the last response that is stored; 0 without any."""
    row: tuple[int] = connection.execute("SELECT coalesce(max(id), 0) FROM responses").fetchone()
    return row[0]


def asked_after(connection: sqlite3.Connection, run: int) -> int:
    """Up to which number responses are no use to a run, since somebody wants it to ask again."""
    row: tuple[int | None] | None = connection.execute("SELECT asked_after FROM runs WHERE id = ?", (run,)).fetchone()
    return 0 if row is None else row[0] or 0


def ask_again(connection: sqlite3.Connection, run: int) -> None:
    """Have a run use no response that is stored by now."""
    connection.execute("UPDATE runs SET asked_after = ? WHERE id = ?", (newest_response(connection), run))


def lose_open(connection: sqlite3.Connection, run: int) -> None:
    """Mark the attempts that an earlier runner has left open: nobody will ever know what became of them."""
    connection.execute("UPDATE attempts SET lost = 1 WHERE run_id = ? AND state = 'sent'", (run,))


def open_attempts(connection: sqlite3.Connection, run: int, *, lost: bool) -> list[OpenAttempt]:
    """Attempts without an outcome, oldest first.

    Args:
        lost: Only those of earlier runners, not the ones in flight.
    """
    rows = connection.execute(
        "SELECT c.key, a.id, a.sent_at, a.url FROM attempts AS a LEFT JOIN completions AS c ON c.id = a.completion_id "
        "WHERE a.run_id = ? AND a.state = 'sent' AND a.lost >= ? ORDER BY a.id",
        (run, int(lost)),
    )
    return [OpenAttempt(completion_id=key, attempt=number, sent_at=at, url=url) for key, number, at, url in rows]
