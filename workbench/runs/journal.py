"""One run's journal: entries of the client and the judges are committed in groups, in order.

All methods run on the event loop's thread. A group is committed shortly after its first entry, so that a response and
the verdict based on it share a transaction; callers that wait for an entry continue after the COMMIT.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct, field

from workbench.core.database.connection import Database
from workbench.core.database.failures import explained
from workbench.core.database.values import now
from workbench.core.errors import StoreError
from workbench.core.run import RunUsage
from workbench.llm.records import CallFailed, FailureCode, Halt, JournaledCall, Response, RunUsed, Usage
from workbench.runs.lease import Lease
from workbench.runs.store import calls, verdicts
from workbench.runs.store.calls import Attempt, AttemptOutcome, MadeCall, ResponseQuery
from workbench.verifiers.base import Judged

if TYPE_CHECKING:
    import sqlite3

    from workbench.llm.caller import Caller


# -- Sums of a run's usage of model servers.


_UNSURE: frozenset[FailureCode] = frozenset({"timeout", "transport", "malformed"})
"""Failures after which a call may have been charged nevertheless."""


def add_outcome(used: RunUsage, found: AttemptOutcome) -> None:
    if found.state == "done":
        used.answered += 1
        return
    code = found.code or ""
    used.errors[code] = used.errors.get(code, 0) + 1
    if found.state == "unsent":
        used.calls -= 1
        used.unsent += 1
    else:
        used.failed += 1
        used.unsure += code in _UNSURE


def add_reply(used: RunUsage, found: Usage) -> None:
    """Add the tokens and cost of a reply; unknown values add nothing, but replies of unknown cost are counted."""
    used.prompt_tokens += found.prompt_tokens or 0
    used.cached_tokens += found.cached_tokens or 0
    used.completion_tokens += found.completion_tokens or 0
    used.reasoning_tokens += found.reasoning_tokens or 0
    if found.cost is not None:
        used.cost = (used.cost or 0.0) + found.cost
    used.unpriced += found.cost is None


def add_item(used: RunUsage, made: Iterable[MadeCall]) -> None:
    """Count the stored replies that an item used without a call."""
    reused = [call.reused for call in made]
    used.reused += sum(reused)
    used.items_reused += bool(reused) and all(reused)


def spent(used: RunUsage) -> RunUsed:
    return RunUsed(
        calls=used.calls,
        possibly_paid=used.open + used.unsure,
        tokens=used.prompt_tokens + used.completion_tokens,
        cost=used.cost or 0.0,
    )


MAX_GROUP_ENTRIES = 500
"""Maximum entries in one transaction."""
UNREAD: Final = ("unparsed", "malformed")
"""Reasons of verdicts whose replies could not be parsed."""
NO_ITEM: Final = -1
"""The item number of a call that is not about a stored completion."""
_GATHER_S = (0.001, 0.02)
_GATHER_SHARE = 0.02
"""A group is gathered for this share of a call's time, within the bounds above: small transactions cost more."""
_RETRY_S = 0.05
_BEAT_S = 1.0
_WRITE_BACK_S = 1.0


class _RecordedVerdict(Struct, frozen=True):
    item: int
    judged: Judged
    calls: Sequence[MadeCall]
    trace: str | None


class _JournaledReply(Struct, frozen=True):
    call: JournaledCall
    response: Response


Waiter = asyncio.Future[None]
"""Done when its entry is committed."""


_Entry = Attempt | _RecordedVerdict | _JournaledReply | AttemptOutcome | None
"""What is to be stored; None stores nothing, and is awaited."""


class _Transaction(Struct):
    attempts: list[Attempt] = field(default_factory=list)
    outcomes: list[AttemptOutcome] = field(default_factory=list)
    responses: list[tuple[JournaledCall, Response]] = field(default_factory=list)
    recorded: list[_RecordedVerdict] = field(default_factory=list)
    waiters: list[Waiter] = field(default_factory=list)


class RunJournal:
    """Records the calls and verdicts of one run; created and used in one event loop.

    Args:
        numbers: The counter of attempts, shared by all active runs.
        reader: Identifies what parses the replies, such as a parser with its version: replies that it could not parse
            before are requested again.

    Attributes:
        usage: The run's usage, uncommitted entries included.
        stored: Number of verdicts committed by this journal.
        closing: Whether the run is stopping: no call begins any more.
    """

    def __init__(self, database: Database, lease: Lease, run: int, numbers: Iterator[int], reader: str = "") -> None:
        self._database = database
        self._reader = database.reader()
        self._lease = lease
        self._run = run
        self._numbers = numbers

        def begin(connection: sqlite3.Connection) -> None:
            calls.lose_open(connection, run)
            self._refused = calls.refused(connection, run)
            self.usage = calls.get(connection, run) or RunUsage()
            after, newest = calls.replay_after(connection, run), calls.newest_response(connection)
            self._wanted = ResponseQuery(after=after, own=newest, reader=reader)

        lease.store(begin)
        self._before = spent(self.usage)
        self._warnings = self.usage.warnings
        self._loop = asyncio.get_running_loop()
        self._entries: deque[tuple[_Entry, Waiter | None]] = deque()
        self._fresh: dict[bytes, Response] = {}
        self._gather = _GATHER_S[0]
        self._batch: _Transaction | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._writing_back: asyncio.Future[None] | None = None
        self._written_back = time.monotonic()
        self._committed = time.monotonic()
        self.closing = False
        self._broken: BaseException | None = None
        self.stored = 0

    def recall(self, key: bytes) -> Response | None:
        """Return the response to a key, of any run, committed or pending.

        Raises:
            StoreError: The database can't be read.
        """
        if (fresh := self._fresh.get(key)) is not None:
            return fresh
        with explained(self._database.path):
            return calls.response(self._reader, key, self._wanted)

    def refused(self, key: bytes) -> CallFailed | None:
        """Return how a server rejected a request's content in an earlier start without a verdict; None if it didn't."""
        return self._refused.get(key)

    def spent(self) -> RunUsed:
        return self._before

    async def begin(self, item: int, call: JournaledCall) -> int:
        """Commit an attempt that is about to be sent; return its number.

        Raises:
            Halt: The run is stopping.
        """
        self.require_open()
        number = next(self._numbers)
        await self._add_awaited(Attempt(number, item, call))
        return number

    async def begin_together(
        self, found: Sequence[tuple[int, JournaledCall]], put: Callable[[sqlite3.Connection, Sequence[int]], None]
    ) -> None:
        """Commit attempts to send in a batch, together with the batch's rows.

        Args:
            found: Each call with its item.
            put: Stores the batch in a transaction, given the attempts' numbers.

        Raises:
            Halt: The run is stopping.
        """
        self.require_open()
        await self.flush()
        attempts = [Attempt(next(self._numbers), item, call) for item, call in found]
        self.usage.calls += len(attempts)

        def store(connection: sqlite3.Connection) -> None:
            calls.put_attempts(connection, self._run, attempts, now())
            put(connection, [attempt.id for attempt in attempts])
            calls.put(connection, self._run, self.usage)

        self._lease.store(store)

    def fail(self, attempt: int, code: FailureCode, status: int | None, detail: str, *, sent: bool = True) -> None:
        self._add_entry(AttemptOutcome(attempt, "failed" if sent else "unsent", status, code, detail))

    def done(self, attempt: int, call: JournaledCall, response: Response) -> None:
        """Record a response; it is committed before or with all later entries."""
        self._fresh[call.key] = response
        shortest, longest = _GATHER_S
        self._gather = min(max(shortest, _GATHER_SHARE * response.ms / 1000), longest)
        self._add_entry(_JournaledReply(call, response))
        self._add_entry(AttemptOutcome(attempt, "done"))

    def begin_no_more(self) -> None:
        """Stop sending calls; replies to calls in flight are still stored."""
        self.closing = True

    def require_open(self) -> None:
        """Make sure that calls may still be made.

        Raises:
            Halt: The run is stopping.
        """
        if self.closing:
            raise Halt("cancelled", "The run stops.")

    def record(self, item: int, judged: Judged, made: Sequence[MadeCall]) -> Waiter:
        """Record a verdict with its votes, calls and trace; the result is done once they are committed.

        Calls that begin later are sent after that COMMIT.
        """
        trace = None if judged.trace is None else msgspec.json.encode(judged.trace).decode()
        return self._add_awaited(_RecordedVerdict(item, judged, made, trace))

    async def flush(self) -> None:
        await self._add_awaited(None)

    def note(self, caller: Caller) -> None:
        self.usage.in_flight, self.usage.at_once = caller.in_flight, caller.limit
        self.usage.warnings = list(dict.fromkeys([*self._warnings, *caller.warnings]))

    def beat(self) -> None:
        """Renew the heartbeat: commit once a second, even without entries.

        Raises:
            LeaseLost: This process is no longer the runner.
            StoreError: The database could not be written; see `Lease.gives_up`.
        """
        if self._broken is not None:
            raise self._broken
        if time.monotonic() - self._committed >= _BEAT_S:
            self._schedule_commit(0.0)

    @property
    def broken(self) -> bool:
        return self._broken is not None

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _add_awaited(self, entry: _Entry) -> Waiter:
        waiter = self._loop.create_future()
        self._add_entry(entry, waiter)
        return waiter

    def _add_entry(self, entry: _Entry, waiter: Waiter | None = None) -> None:
        if self._broken is not None:
            raise self._broken
        self._entries.append((entry, waiter))
        self._schedule_commit(self._gather)

    def _schedule_commit(self, after: float) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(after, self._commit)

    def _commit(self) -> None:
        self._timer = None
        self._batch = batch = self._batch or self._next_transaction()
        try:
            with self._lease.write(patient=False) as connection:
                self._store_transaction(connection, batch)
        except StoreError as error:
            if self._lease.gives_up(error):
                self._fail_waiters(error)
            else:
                self._schedule_commit(_RETRY_S)
            return
        except Exception as error:
            self._fail_waiters(error)
            return
        self._batch, self._committed = None, time.monotonic()
        self.stored += len(batch.recorded)
        for call, _ in batch.responses:
            self._fresh.pop(call.key, None)
        for waiter in batch.waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._write_back()
        if self._entries:
            self._schedule_commit(0.0 if len(self._entries) >= MAX_GROUP_ENTRIES else self._gather)

    def _write_back(self) -> None:
        busy = self._writing_back is not None and not self._writing_back.done()
        if not busy and self._committed - self._written_back >= _WRITE_BACK_S:
            self._written_back = self._committed
            self._writing_back = self._loop.run_in_executor(None, self._database.write_back)
            # The next transaction reports any error of the disk.
            self._writing_back.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _next_transaction(self) -> _Transaction:
        batch = _Transaction()
        for _ in range(min(MAX_GROUP_ENTRIES, len(self._entries))):
            entry, waiter = self._entries.popleft()
            match entry:
                case AttemptOutcome():
                    add_outcome(self.usage, entry)
                    batch.outcomes.append(entry)
                case _JournaledReply(call, response):
                    add_reply(self.usage, response.usage)
                    batch.responses.append((call, response))
                case _RecordedVerdict():
                    add_item(self.usage, entry.calls)
                    batch.recorded.append(entry)
                case Attempt() if waiter is not None and waiter.done():
                    # No caller waits any more, so the call will not be sent.
                    continue
                case Attempt():
                    self.usage.calls += 1
                    batch.attempts.append(entry)
            if waiter is not None:
                batch.waiters.append(waiter)
        return batch

    def _store_transaction(self, connection: sqlite3.Connection, batch: _Transaction) -> None:
        moment = now()
        run, recorded = self._run, batch.recorded
        if batch.attempts:
            calls.put_attempts(connection, run, batch.attempts, moment)
        if batch.responses:
            calls.put_responses(connection, batch.responses, moment)
        if batch.outcomes:
            calls.put_outcomes(connection, batch.outcomes)
        if recorded:
            verdicts.put_samples(connection, run, [row for one in recorded for row in one.judged.samples(one.item)])
            calls.put_calls(connection, run, [(one.item, one.calls) for one in recorded])
            calls.put_traces(connection, run, [(one.item, one.trace) for one in recorded if one.trace])
            if self._wanted.reader:
                unread = [one.item for one in recorded if one.judged.verdict.reason in UNREAD]
                calls.mark_unread(connection, run, unread, self._wanted.reader)
        calls.put(connection, run, self.usage)

    def _fail_waiters(self, error: BaseException) -> None:
        self._broken = error
        waiting = [*self._batch.waiters] if self._batch else []
        while self._entries:
            waiting += self._next_transaction().waiters
        for waiter in waiting:
            if not waiter.done():
                waiter.set_exception(error)
                # Callers that have ended need no result.
                waiter.exception()
