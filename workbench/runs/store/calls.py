"""Store calls to model servers: requests, responses, and every attempt before it is sent. All are kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from workbench.core.database.values import as_record
from workbench.core.run import OpenAttempt, RunUsage, WrittenReply
from workbench.llm.records import CallFailed, JournaledCall, Response, RunUsed, Usage
from workbench.llm.server import ModelServer

AttemptState = Literal["unsent", "sent", "failed", "done"]


class Attempt(Struct, frozen=True):
    """A call that is about to be sent; ``item`` is the item's row id, negative if the call is not about an item."""

    id: int
    item: int
    call: JournaledCall


class AttemptOutcome(Struct, frozen=True):
    attempt: int
    state: AttemptState
    status: int | None = None
    code: str | None = None
    detail: str | None = None


NOBODY: Final = "*"
"""Recorded in place of a parser: no run may use the response any more."""
_ALONE: Final = "NOT EXISTS (SELECT 1 FROM batched_calls AS b WHERE b.attempt_id = a.id)"
"""SQL condition for attempts ``a`` that are in no batch."""
_USAGE: Final = ("prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens", "cost")
_USAGE_COLUMNS: Final = ", ".join(_USAGE)


class ResponseQuery(Struct, frozen=True, kw_only=True):
    """The stored responses that a run may use.

    Attributes:
        after: Only responses with greater row ids are used; earlier ones are requested again.
        own: Responses with greater row ids arrived in this start of the run: they are used even if unreadable.
        reader: Identifies what parses the responses; those that it could not parse are requested again.
    """

    after: int = 0
    own: int = 2**62
    reader: str = ""


_ANY = ResponseQuery()


def response(connection: sqlite3.Connection, key: bytes, wanted: ResponseQuery = _ANY) -> Response | None:
    """Return the stored response to a request's key that the run may use, if any."""
    row = connection.execute(
        f"SELECT q.profile, r.task, r.body, r.ms, r.origin, {_USAGE_COLUMNS} "
        "FROM responses AS r CROSS JOIN requests AS q ON q.id = r.request_id "
        "WHERE r.key = ? AND r.id > ? AND (r.unread_by IS NULL OR r.id > ? OR r.unread_by NOT IN (?, ?))",
        (key, wanted.after, wanted.own, NOBODY, wanted.reader),
    ).fetchone()
    if row is None:
        return None
    usage = Usage(**dict(zip(_USAGE, row[5:], strict=True)))
    return Response(profile=row[0], task=row[1], body=row[2], usage=usage, ms=row[3], origin=row[4])


def next_attempt(connection: sqlite3.Connection) -> int:
    """Return the number of the next attempt; the database's only runner then counts on in memory."""
    return int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM attempts").fetchone()[0])


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
    connection.executemany(
        "UPDATE attempts SET state = ?, status = ?, code = ?, detail = ? WHERE id = ?",
        [(found.state, found.status, found.code, found.detail, found.attempt) for found in outcomes],
    )


def put_responses(connection: sqlite3.Connection, found: Sequence[tuple[JournaledCall, Response]], moment: str) -> None:
    """Store responses with their requests; the response to a repeated request replaces the earlier response.

    The earlier response is kept for verdicts based on it, but later requests don't find it.
    """
    connection.executemany(
        "UPDATE responses SET key = randomblob(32) WHERE key = ?", [(call.key,) for call, _ in found]
    )
    connection.executemany(
        "INSERT OR IGNORE INTO requests (hash, profile, model, body) VALUES (?, ?, ?, ?)",
        [(call.request, call.profile, call.model, call.body) for call, _ in found],
    )
    connection.executemany(
        "INSERT INTO responses (key, server, request_id, sample, task, body, ms, origin, created_at, "
        f"{_USAGE_COLUMNS}) VALUES (?, ?, (SELECT id FROM requests WHERE hash = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                call.key,
                call.server,
                call.request,
                call.sample,
                reply.task,
                reply.body,
                reply.ms,
                reply.origin,
                moment,
                *(getattr(reply.usage, name) for name in _USAGE),
            )
            for call, reply in found
        ],
    )


def newest_response(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(id), 0) FROM responses").fetchone()[0])


def replay_after(connection: sqlite3.Connection, run: int) -> int:
    """Return the row id up to which a run must not use stored responses, because the user requested new ones."""
    row: tuple[int | None] | None = connection.execute("SELECT asked_after FROM runs WHERE id = ?", (run,)).fetchone()
    return 0 if row is None else row[0] or 0


def ask_again(connection: sqlite3.Connection, run: int) -> None:
    """Exclude all currently stored responses from use by a run."""
    connection.execute("UPDATE runs SET asked_after = ? WHERE id = ?", (newest_response(connection), run))


def lose_open(connection: sqlite3.Connection, run: int) -> None:
    """Mark the open attempts of an earlier runner as lost: their outcome can't be known.

    Calls in a batch are excluded: the batch will have their results.
    """
    connection.execute(f"UPDATE attempts AS a SET lost = 1 WHERE run_id = ? AND state = 'sent' AND {_ALONE}", (run,))


_FOR_WHAT_IT_SAYS: Final = "code IN ('context_length', 'content_filter')"
"""SQL condition for attempts that failed because of the request's content, and would fail again."""


def refused(connection: sqlite3.Connection, run: int) -> dict[bytes, CallFailed]:
    """Return the requests that servers rejected for their content, by key, if their items have no verdict yet.

    A server without any reply may reject everything: its requests are repeated.
    """
    answering = {
        url
        for (url,) in connection.execute(
            "SELECT DISTINCT url FROM attempts WHERE run_id = ? AND state = 'done'", (run,)
        )
    }
    rows = connection.execute(
        "SELECT a.key, a.url, a.code, a.detail FROM attempts AS a WHERE a.run_id = ? AND a.state = 'failed' "
        f"AND a.completion_id IS NOT NULL AND {_FOR_WHAT_IT_SAYS} AND NOT EXISTS "
        "(SELECT 1 FROM verdicts AS v WHERE v.run_id = a.run_id AND v.completion_id = a.completion_id)",
        (run,),
    )
    return {key: CallFailed(code, detail or "") for key, url, code, detail in rows if url in answering}


def forget_refused(connection: sqlite3.Connection, run: int) -> None:
    """Let a run repeat rejected calls; the attempts are kept, but later requests don't find them."""
    connection.execute(
        "UPDATE attempts SET key = randomblob(32) WHERE run_id = ? AND state = 'failed' "
        f"AND completion_id IS NOT NULL AND {_FOR_WHAT_IT_SAYS}",
        (run,),
    )


def open_attempts(connection: sqlite3.Connection, run: int, *, lost: bool) -> list[OpenAttempt]:
    """Return attempts without an outcome, oldest first.

    Args:
        lost: Whether to return only attempts of earlier runners, without attempts in flight.
    """
    rows = connection.execute(
        "SELECT c.key, a.id, a.sent_at, a.url FROM attempts AS a LEFT JOIN completions AS c ON c.id = a.completion_id "
        f"WHERE a.run_id = ? AND a.state = 'sent' AND a.lost >= ? AND {_ALONE} ORDER BY a.id",
        (run, int(lost)),
    )
    return [as_record(OpenAttempt, row) for row in rows]


# -- What verdicts of model servers are based on: the calls in their order, and the verifier's trace.


class MadeCall(Struct, frozen=True):
    """One call that a verdict is based on; ``key`` identifies the stored response."""

    key: bytes
    step: str
    role: str
    reused: bool


class CallRow(Struct, frozen=True):
    """One call that a verdict is based on, with its request and response as stored."""

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
    """Store the calls that verdicts are based on, by the item's row id; the responses must be stored already."""
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
    """Record that the responses that some items' verdicts are based on could not be parsed.

    Args:
        reader: The parser that failed, as in `ResponseQuery`; other parsers may use the responses. `calls.NOBODY`
            excludes them for all parsers.
    """
    connection.executemany(
        "UPDATE responses SET unread_by = ? "
        "WHERE id IN (SELECT response_id FROM verdict_calls WHERE run_id = ? AND completion_id = ?)",
        [(reader, run, item) for item in items],
    )


def drop(connection: sqlite3.Connection, run: int, items: Sequence[int]) -> None:
    """Exclude the responses that only these items' verdicts are based on from further use."""
    chosen = msgspec.json.encode(list(items)).decode()
    connection.execute(
        "UPDATE responses SET unread_by = ?3 WHERE id IN (SELECT response_id FROM verdict_calls WHERE run_id = ?1 "
        "AND completion_id IN (SELECT value FROM json_each(?2)) EXCEPT SELECT response_id FROM verdict_calls "
        "WHERE run_id <> ?1 OR completion_id NOT IN (SELECT value FROM json_each(?2)))",
        (run, chosen, NOBODY),
    )


def put_traces(connection: sqlite3.Connection, run: int, traces: Sequence[tuple[int, str]]) -> None:
    connection.executemany(
        "INSERT INTO verdict_traces (run_id, completion_id, trace) VALUES (?, ?, ?)",
        [(run, item, trace) for item, trace in traces],
    )


def calls_of(connection: sqlite3.Connection, run: int, item: int) -> list[CallRow]:
    rows = connection.execute(
        "SELECT v.step, v.role, v.reused, r.sample, q.profile, q.model, q.body, r.task, r.body, r.ms, r.origin, "
        "r.created_at, r.prompt_tokens, r.completion_tokens, r.reasoning_tokens, r.cost FROM verdict_calls AS v CROSS "
        "JOIN responses AS r ON r.id = v.response_id CROSS JOIN requests AS q ON q.id = r.request_id WHERE v.run_id = "
        "? AND v.completion_id = ? ORDER BY v.position",
        (run, item),
    )
    return [CallRow(step, role, bool(reused), *rest) for step, role, reused, *rest in rows]


ReplyRow = tuple[bytes, bytes, str, str | None, int, str | None]
"""A request, its response, the model, the server, the sample, the origin."""


_WRITTEN: Final = (
    "(SELECT DISTINCT r.id FROM attempts AS a JOIN responses AS r ON r.key = a.key "
    "WHERE a.run_id = ? AND a.state = 'done')"
)
"""Row ids of the replies that a run has requested itself."""


def replies_of(connection: sqlite3.Connection, run: int, *, written: bool) -> Iterator[ReplyRow]:
    """Yield every reply once, as received: those that a run's verdicts are based on, or that a generation requested."""
    chosen = _WRITTEN if written else "(SELECT response_id FROM verdict_calls WHERE run_id = ?)"
    return connection.execute(
        "SELECT q.body, r.body, q.model, r.server, r.sample, r.origin FROM responses AS r "
        f"JOIN requests AS q ON q.id = r.request_id WHERE r.id IN {chosen} ORDER BY r.id",
        (run,),
    )


def written_list(connection: sqlite3.Connection, run: int) -> list[WrittenReply]:
    """Return the replies that a generation requested, without texts, which may not fit into memory."""
    rows = connection.execute(
        "SELECT r.id, q.model, r.sample, r.prompt_tokens, r.completion_tokens, r.ms, r.origin FROM responses AS r "
        f"JOIN requests AS q ON q.id = r.request_id WHERE r.id IN {_WRITTEN} ORDER BY r.id",
        (run,),
    )
    return [WrittenReply(*row) for row in rows]


def written_call(connection: sqlite3.Connection, response: int) -> CallRow | None:
    """Return a reply of a generation's run with its request, given the response's row id; None if it doesn't exist."""
    row = connection.execute(
        "SELECT r.sample, q.profile, q.model, q.body, r.task, r.body, r.ms, r.origin, r.created_at, r.prompt_tokens, "
        "r.completion_tokens, r.reasoning_tokens, r.cost FROM responses AS r JOIN requests AS q "
        "ON q.id = r.request_id WHERE r.id = ?",
        (response,),
    ).fetchone()
    return None if row is None else CallRow("text", "writer", False, *row)


def has_recorded(connection: sqlite3.Connection, run: int) -> bool:
    row: tuple[int] = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM verdict_calls AS v CROSS JOIN responses AS r ON r.id = v.response_id "
        "WHERE v.run_id = ? AND r.origin IS NOT NULL)",
        (run,),
    ).fetchone()
    return bool(row[0])


def trace_of(connection: sqlite3.Connection, run: int, item: int) -> str | None:
    row: tuple[str] | None = connection.execute(
        "SELECT trace FROM verdict_traces WHERE run_id = ? AND completion_id = ?", (run, item)
    ).fetchone()
    return None if row is None else row[0]


def votes_of(connection: sqlite3.Connection, run: int, item: int) -> list[tuple[int, float | None, str | None]]:
    """Return the votes that an item's verdict is based on, each as (outcome, score, reason), in order."""
    return connection.execute(
        "SELECT outcome, score, reason FROM verdicts WHERE run_id = ? AND completion_id = ? AND sample > 0 "
        "ORDER BY sample",
        (run, item),
    ).fetchall()


# -- The usage of model servers: one row of sums for each run.


_COLUMNS = RunUsage.__struct_fields__
_PUT = f"INSERT OR REPLACE INTO run_usage (run_id, {', '.join(_COLUMNS)}) VALUES (?{', ?' * len(_COLUMNS)})"
_GET = f"SELECT {', '.join(_COLUMNS)} FROM run_usage WHERE run_id = ?"


def get(connection: sqlite3.Connection, run: int) -> RunUsage | None:
    """Return a run's total usage; None if it has called no server."""
    row = connection.execute(_GET, (run,)).fetchone()
    if row is None:
        return None
    values = dict(zip(_COLUMNS, row, strict=True))
    return RunUsage(**values | {name: msgspec.json.decode(values[name]) for name in ("errors", "warnings")})


def count(connection: sqlite3.Connection, run: int) -> int:
    used = get(connection, run)
    return 0 if used is None else used.calls


def put(connection: sqlite3.Connection, run: int, usage: RunUsage) -> None:
    values = structs.asdict(usage)
    for name in ("errors", "warnings"):
        values[name] = msgspec.json.encode(values[name]).decode()
    connection.execute(_PUT, (run, *values.values()))


class ServerUse(Struct, frozen=True, kw_only=True):
    """A run's usage of one server.

    Attributes:
        url: The address of the calls.
        server: The server's identity, under which its replies are stored; None for calls without a reply.
        model: The requested model; None for calls without a reply.
    """

    url: str
    server: str | None
    model: str | None
    used: RunUsed

    def is_of(self, server: ModelServer) -> bool:
        if self.model is not None:
            return self.model == server.model and self.server in server.identities
        return urlsplit(self.url).netloc == urlsplit(server.base_url).netloc


def used_by_server(connection: sqlite3.Connection, run: int) -> list[ServerUse]:
    """Return the usage of a run's attempts of all starts, by address."""
    rows = connection.execute(
        "SELECT a.url, r.server, q.model, count(*), sum(a.state = 'sent' OR (a.state = 'failed' AND a.code IN "
        "('timeout', 'transport', 'malformed'))), coalesce(sum(r.prompt_tokens), 0) + "
        "coalesce(sum(r.completion_tokens), 0), coalesce(sum(r.cost), 0.0) FROM attempts AS a "
        "LEFT JOIN responses AS r ON r.key = a.key AND a.state = 'done' LEFT JOIN requests AS q ON q.id = r.request_id "
        "WHERE a.run_id = ? AND a.state <> 'unsent' GROUP BY a.url, r.server, q.model",
        (run,),
    )
    return [
        ServerUse(
            url=url, server=server, model=model, used=RunUsed(calls=n, possibly_paid=paid, tokens=tokens, cost=cost)
        )
        for url, server, model, n, paid, tokens, cost in rows
    ]


# -- Replies and tokens behind a run's verdicts, by step.


class StepSums(Struct, frozen=True):
    """Sums over the replies of one step; a reply counts once for each item that uses it.

    Attributes:
        calls: Number of replies.
        prompt_tokens: None if a reply doesn't report its prompt tokens.
        completion_tokens: None if a reply doesn't report its completion tokens.
        cost: Cost in US dollars; None if a reply has no known price.
        ms: Milliseconds from request to reply, summed.
    """

    step: str
    role: str
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    ms: float


def by_step(connection: sqlite3.Connection, run: int, items: Sequence[int] | None = None) -> list[StepSums]:
    """Return sums by step over the replies that a run's verdicts are based on, whichever run requested them."""
    rows = connection.execute(
        "SELECT c.step, c.role, count(*), iif(count(r.prompt_tokens) = count(*), sum(r.prompt_tokens), NULL), "
        "iif(count(r.completion_tokens) = count(*), sum(r.completion_tokens), NULL), iif(count(r.cost) = count(*), "
        "sum(r.cost), NULL), sum(r.ms) FROM (SELECT DISTINCT completion_id, response_id, step, role FROM "
        "verdict_calls WHERE run_id = :run AND (:items IS NULL OR completion_id IN (SELECT value FROM "
        "json_each(:items)))) AS c JOIN responses AS r ON r.id = c.response_id GROUP BY c.step, c.role ORDER BY "
        "c.step, c.role",
        {"run": run, "items": None if items is None else json.dumps(items)},
    )
    return [StepSums(*row) for row in rows]


def judged_count_and_ms(
    connection: sqlite3.Connection, run: int, items: Sequence[int] | None = None
) -> tuple[int, float]:
    """Return the number of judged items of a run, optionally only among ``items``, and their total milliseconds."""
    row: tuple[int, float] = connection.execute(
        "SELECT count(*), coalesce(sum(ms), 0.0) FROM verdicts WHERE run_id = :run AND sample = 0 "
        "AND (:items IS NULL OR completion_id IN (SELECT value FROM json_each(:items)))",
        {"run": run, "items": None if items is None else json.dumps(items)},
    ).fetchone()
    return row


class ItemTook(NamedTuple):
    """The time and calls of one verdict, counted as by `by_step`.

    Attributes:
        own_ms: Milliseconds spent in the verifier, as stored with the verdict.
        ms: Milliseconds from request to reply, summed over calls.
    """

    item: int
    own_ms: float
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    ms: float


def by_item(connection: sqlite3.Connection, run: int) -> list[ItemTook]:
    """Return time and calls by item, in order of row id; items of a local verifier have no calls."""
    rows = connection.execute(
        "SELECT v.completion_id, v.ms, coalesce(t.calls, 0), iif(t.calls, t.prompt, 0), iif(t.calls, t.completion, "
        "0), iif(t.calls, t.cost, 0.0), coalesce(t.ms, 0.0) FROM verdicts AS v LEFT JOIN (SELECT c.completion_id AS "
        "item, count(*) AS calls, sum(r.ms) AS ms, iif(count(r.prompt_tokens) = count(*), sum(r.prompt_tokens), NULL) "
        "AS prompt, iif(count(r.completion_tokens) = count(*), sum(r.completion_tokens), NULL) AS completion, "
        "iif(count(r.cost) = count(*), sum(r.cost), NULL) AS cost FROM (SELECT DISTINCT completion_id, response_id, "
        "step, role FROM verdict_calls WHERE run_id = ?1) AS c JOIN responses AS r ON r.id = c.response_id GROUP BY "
        "c.completion_id) AS t ON t.item = v.completion_id WHERE v.run_id = ?1 AND v.sample = 0 ORDER BY "
        "v.completion_id",
        (run,),
    )
    return [ItemTook(*row) for row in rows]
