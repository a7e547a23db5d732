"""A run whose calls are asked in batches: gathered in rounds, sent, waited for, and read like any other reply.

A round judges each item by the replies that are stored, and puts the first call of each that none is stored for into a
batch. A batch and its calls are in the database before its provider hears of them, so that whoever goes on after a kill
finds it there, and asks for nothing twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final

from workbench.core.database.connection import Database
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.batches import BATCH_APIS, titles
from workbench.llm.batches.records import (
    BatchApi,
    BatchResult,
    BatchStatus,
    NewBatch,
    NotYetKnown,
    lines_of,
    write_lines,
)
from workbench.llm.batches.server import BatchServer
from workbench.llm.caller import StoredReply, understood
from workbench.llm.failures import REPEATED, AttemptFailed
from workbench.llm.lane import Lane, PreparedRequest
from workbench.llm.pace import Budget, Patience, used_up
from workbench.llm.profiles import PROFILES
from workbench.llm.records import CallFailed, Deferred, FailureCode, Halt, Request
from workbench.llm.transport import Received
from workbench.runs.journal import RunJournal, spent
from workbench.runs.lease import Lease, Postponed
from workbench.runs.serving import OWN, verdict_of
from workbench.runs.session import LOOK_S, Client, Feed, RunServers, Session, opened_session
from workbench.runs.store import batches, runs
from workbench.runs.store.batches import AskedBefore, BatchRow, GatheredCall
from workbench.verifiers.base import AnyVerifier, ServedVerifier
from workbench.verifiers.judges.verifier import LlmJudge

if TYPE_CHECKING:
    import sqlite3

MOST_TRIES: Final = 3
"""A call that failed so often in batches, although it might succeed, has failed for good."""
_GROUP: Final = 500
_SOONEST_S: Final = 2.0
_LATEST_S: Final = 300.0
_SHARE: Final = 0.1
"""A batch is looked at again after this share of the time that it has taken, within those bounds."""
_LONGEST_NAME: Final = "x" * 40
_TOO_MANY: Final = ("token_limit_exceeded", "rate_limit_exceeded")
"""What a provider says that takes no more for now."""


def require_batches(verifier: AnyVerifier) -> None:
    """Make sure that a verifier's calls can be asked in batches.

    Raises:
        UsageError: They can't.
    """
    if not isinstance(verifier, LlmJudge):
        raise UsageError(f"{verifier.name} asks nothing in batches: llm-judge does.", "Leave --batch out.")
    if verifier.rounds is None:
        raise UsageError(
            "Each call of this strategy waits for the replies to others: it would take hundreds of batches.",
            "Leave --batch out, or choose a strategy with few calls.",
        )
    for server in verifier.servers().values():
        if server.extras.stream:
            raise UsageError("stream: what comes in a batch is no stream.", "Leave stream or --batch out.")
        if server.profile not in BATCH_APIS:
            title = PROFILES[server.profile].title
            raise UsageError(
                f"{title[:1].upper()}{title[1:]} has no batches; these have: {titles()}.", "Leave --batch out."
            )


def judge_in_batches(
    database: Database,
    lease: Lease,
    servers: RunServers,
    verifier: ServedVerifier,
    chunks: Callable[[], Iterable[list[VerifierInput]]],
    check: Callable[[], None],
) -> int:
    """Judge every item; returns how many verdicts were stored.

    Args:
        chunks: Reads the items without a verdict, each time anew.
        check: Raises whatever ends the work early.

    Raises:
        Postponed: The run waits for a batch, and another run doesn't.
        Halt: No call can succeed now; items without a verdict stay so.
        Exception: Whatever ``check`` raises.
    """

    async def judge() -> int:
        async with opened_session(database, lease, [servers]) as session:
            run = _BatchedRun(database, lease, servers, verifier, session)
            await run.work(chunks, check)
        return session.clients[0].journal.stored

    return asyncio.run(judge())


class _BatchedRun:
    """One start of a run."""

    def __init__(
        self, database: Database, lease: Lease, servers: RunServers, verifier: ServedVerifier, session: Session
    ) -> None:
        self._reader = database.reader()
        self._lease = lease
        self._run = servers.run
        self._session = session
        (self._client,) = session.clients
        self._journal, self._caller = self._client.journal, self._client.caller
        self._rounds = _Rounds(database, lease, servers, verifier, self._client)
        self._desk = _Desk(database, lease, servers.run, self._client)

    async def work(self, chunks: Callable[[], Iterable[list[VerifierInput]]], check: Callable[[], None]) -> None:
        """Judge every item, or as many as can be."""

        async def look() -> None:
            check()

        task = self._session.start(self._judge(chunks))
        try:
            await self._session.wait([task], look)
        except BaseException:
            await self._session.end()
            if runs.request_of(self._reader, self._run) == "cancel":
                await self._desk.cancel()
            raise

    async def _judge(self, chunks: Callable[[], Iterable[list[VerifierInput]]]) -> None:
        sent = batches.unended(self._reader, self._run)
        if sent and all(batch.state != "gathered" for batch in sent):
            await self._wait()
        while True:
            await self._rounds.judge(chunks(), self._desk.most)
            if not batches.unended(self._reader, self._run):
                self._rounds.require_affordable()
                return
            await self._wait()

    async def _wait(self) -> None:
        """Send what is gathered, and wait until a batch has ended."""
        while not await self._desk.attend():
            if runs.others_are_due(self._reader, self._run, self._desk.due()):
                raise Postponed
            await asyncio.sleep(LOOK_S)


# -- Rounds: items are judged by what is stored, and what is missing is gathered.


class _Rounds:
    """Judges items by replies that are stored; gathers the calls that none is stored for."""

    def __init__(
        self, database: Database, lease: Lease, servers: RunServers, verifier: ServedVerifier, client: Client
    ) -> None:
        self._reader = database.reader()
        self._secret = secret(self._reader)
        self._lease = lease
        self._run, self._limits = servers.run, servers.limits
        self._verifier = verifier
        self._journal, self._caller = client.journal, client.caller
        self._gathering: dict[str, _Gathering] = {}
        self._wanted: set[bytes] = set()
        self._failed: dict[str, CallFailed] = {}
        self._short: str | None = None

    async def judge(self, chunks: Iterable[list[VerifierInput]], most: int | None) -> None:
        """Store the verdicts that can be reached, and gather the calls that the others wait for.

        Args:
            most: Calls in a batch, where the provider takes no more.

        Raises:
            Halt: Every call has failed, in a way that is no item's own.
        """
        self._begin(most)
        held = []
        count = 0
        async for item in Feed(chunks):
            try:
                judged, made = await verdict_of(self._verifier, item, self._secret, self)
            except Deferred:
                continue
            if judged.verdict.outcome is Outcome.ERROR and not self._has_answered:
                held.append((item.item, judged, made))
                continue
            recorded = self._journal.record(item.item, judged, made)
            count += 1
            if count % _GROUP == 0:
                await recorded
        for gathering in self._gathering.values():
            await gathering.store()
        if not self._has_answered and any(judged.verdict.reason not in OWN for _, judged, _ in held):
            self._halt()
        for one in held:
            self._journal.record(*one)
        await self._journal.flush()

    def require_affordable(self) -> None:
        """Make sure that nothing was left out for want of money.

        Raises:
            Halt: Something was.
        """
        if self._short is not None:
            raise used_up(self._short)

    async def call(self, item: int, role: str, request: Request, sample: int) -> StoredReply:
        """The reply to a request if it is stored; see `Client.call`.

        Raises:
            CallFailed: There will be none.
            Deferred: It comes later.
            Halt: No call of the run can succeed now.
        """
        lane = self._caller.lanes[role]
        prepared = lane.prepare(request, sample)
        before = batches.asked_before(self._reader, self._run, prepared.key)
        if (stored := self._caller.stored(prepared)) is not None:
            own = any(one.state == "done" and one.item == item for one in before)
            return StoredReply(reply=stored.reply, key=stored.key, reused=not own)
        if (failure := _final(before)) is not None:
            self._failed[role] = failure
            lane.trial.gave_up(failure)
            raise failure
        if prepared.key not in self._wanted and not any(one.state == "sent" for one in before):
            await self._gather(lane, role, item, prepared)
        # Whatever else the item asks at the same time is gathered, too.
        await asyncio.sleep(0)
        raise Deferred

    def _begin(self, most: int | None) -> None:
        unended = batches.unended(self._reader, self._run)
        held = spent(self._journal.usage)
        self._budget = Budget(
            self._limits,
            type(held)(
                calls=held.calls,
                tokens=held.tokens + sum(batch.tokens for batch in unended),
                cost=held.cost + sum(batch.cost for batch in unended),
            ),
        )
        self._short = None
        self._wanted.clear()
        self._gathering = {
            role: _Gathering(self._lease, self._run, self._journal, role, lane, most, unended)
            for role, lane in self._caller.lanes.items()
        }

    async def _gather(self, lane: Lane, role: str, item: int, prepared: PreparedRequest) -> None:
        if prepared.built.task != "chat":
            raise CallFailed("bad_request", "only chats are asked in batches")
        self._caller.require_price(lane)
        if (limit := self._budget.hold(prepared.estimate)) is not None:
            self._short = self._short or limit
            return
        for note in prepared.built.notes:
            self._caller.warn(note)
        self._wanted.add(prepared.key)
        await self._gathering[role].add(item, prepared)

    @property
    def _has_answered(self) -> bool:
        """Whether any call of the run had a reply, in this start or before."""
        used = self._journal.usage
        return bool(used.answered or used.reused or self._caller.reused)

    def _halt(self) -> None:
        """Every call has failed: resuming asks again.

        Raises:
            Halt: Always.
        """
        self._lease.store(partial(batches.forget_failures, run=self._run))
        for role in self._failed:
            raise self._caller.lanes[role].trial.halt()


def _final(before: Sequence[AskedBefore]) -> AttemptFailed | None:
    """Why a call failed for good in batches; None while it may be asked again."""
    failed = [one for one in before if one.state in ("failed", "unsent") and one.code != "cancelled"]
    said = [one for one in failed if one.state == "failed" or one.code == "timeout"]
    if not said:
        return None
    last = said[-1]
    code: FailureCode = last.code or "server"  # type: ignore[assignment]
    if code in REPEATED and len(said) < MOST_TRIES:
        return None
    return AttemptFailed(code, last.detail or "", status=last.status)


class _Gathering:
    """One role's calls on their way into batches: stored in groups, in a new batch where one is full."""

    def __init__(
        self,
        lease: Lease,
        run: int,
        journal: RunJournal,
        role: str,
        lane: Lane,
        most: int | None,
        unended: Sequence[BatchRow],
    ) -> None:
        self._lease, self._run, self._journal = lease, run, journal
        self._role, self._lane = role, lane
        self._api = BATCH_APIS[lane.profile.name]
        self._most = min(most or self._api.most_calls, self._api.most_calls)
        filling = [batch for batch in unended if batch.role == role and batch.state == "gathered"]
        self._batch = filling[-1] if filling else None
        self._calls, self._bytes = (self._batch.calls, self._batch.bytes) if self._batch else (0, 0)
        self._number = self._batch.id if self._batch else None
        self._found: list[GatheredCall] = []

    async def add(self, item: int, prepared: PreparedRequest) -> None:
        """Put a call into the batch, or into a new one."""
        size = len(self._api.line(_LONGEST_NAME, prepared.built.body)) + 1
        if self._calls and (self._calls >= self._most or self._bytes + size > self._api.most_bytes):
            await self.store()
            self._number, self._calls, self._bytes = None, 0, 0
        address = self._lane.addresses[0]
        call = self._lane.call(prepared, address)
        self._found.append(GatheredCall(item=item, call=call, estimate=prepared.estimate, bytes=size))
        self._calls += 1
        self._bytes += size
        if len(self._found) >= _GROUP:
            await self.store()

    async def store(self) -> None:
        """Commit what has come."""
        found, self._found = self._found, []
        if not found:
            return
        number, base, place = self._number, self._lane.addresses[0].base, found[0].call.server
        token = secrets.token_hex(8)

        def put(connection: sqlite3.Connection, attempts: Sequence[int]) -> None:
            self._number = number or batches.begin(connection, self._run, self._role, base, place, token)
            batches.add(connection, self._run, self._number, attempts, found)

        await self._journal.begin_together([(one.item, one.call) for one in found], put)


# -- At the provider: batches are sent, looked at, and read when they have ended.


class _Desk:
    """A run's batches at their providers.

    Attributes:
        most: Calls in a batch, once a provider has refused more; None before.
    """

    def __init__(self, database: Database, lease: Lease, run: int, client: Client) -> None:
        self._reader = database.reader()
        self._lease = lease
        self._run = run
        self._journal, self._caller = client.journal, client.caller
        self._patience: dict[int, Patience] = {}
        self.most: int | None = None

    def due(self) -> float:
        """When the next batch is to be looked at, in seconds since 1970."""
        return min((batch.look_at for batch in self._unended()), default=0.0)

    async def attend(self) -> bool:
        """See to the batches that are due; whether one has ended, or none is left."""
        unended = self._unended()
        ended = not unended
        for batch in unended:
            if batch.look_at <= self._caller.clock.date() and not self._waits(batch, unended):
                ended = await self._see_to(batch) or ended
        return ended

    def _waits(self, batch: BatchRow, unended: Sequence[BatchRow]) -> bool:
        """Whether a batch is to be sent when those before it have ended, since its provider takes no more."""
        return self.most is not None and batch.state == "gathered" and batch.id != unended[0].id

    async def _see_to(self, batch: BatchRow) -> bool:
        """Send a batch, or look how it stands; whether it has ended."""
        lane = self._caller.lanes[batch.role]
        try:
            if batch.state != "open":
                await self._send(batch)
                ended = False
            else:
                ended = await self._look(batch)
        except NotYetKnown:
            self._look_later(batch, "may be there")
            return False
        except AttemptFailed as failure:
            wait = self._patience.setdefault(batch.id, Patience(self._caller.clock)).wait(failure)
            if wait is None or failure.code == "quota":
                raise lane.refusal(failure) from None
            self._caller.errors[failure.code] += 1
            self._caller.warn(f"{lane.title} was asked again about a batch ({failure.detail}).")
            self._look_later(batch, None, wait)
            return False
        self._patience.pop(batch.id, None)
        return ended

    def _unended(self) -> list[BatchRow]:
        return batches.unended(self._reader, self._run)

    def _server(self, batch: BatchRow) -> tuple[BatchServer, BatchApi]:
        lane = self._caller.lanes[batch.role]
        return BatchServer(lane, batch.base_url, self._caller.transport, self._caller.clock), BATCH_APIS[
            lane.profile.name
        ]

    def _look_later(self, batch: BatchRow, status: str | None, wait: float | None = None) -> None:
        now = self._caller.clock.date()
        taken = now - (batch.sent_at or now)
        after = min(max(_SOONEST_S, _SHARE * taken), _LATEST_S) if wait is None else wait
        self._lease.store(partial(batches.set_status, batch=batch.id, status=status, look_at=now + after))

    # -- sending

    async def _send(self, batch: BatchRow) -> None:
        """Have a batch made, unless it was already.

        Raises:
            AttemptFailed: It wasn't, or nobody knows.
            NotYetKnown: Nobody can know now.
        """
        server, api = self._server(batch)
        now = self._caller.clock.date()
        new = NewBatch(token=batch.token, model=server.lane.server.model, calls=batch.calls, since=batch.sent_at or now)
        name = await api.find(server, batch.input_file, new) if batch.state == "sent" else None
        if name is None:
            with TemporaryFile() as file:
                write_lines(file, self._lines(batch, api))
                input_file = await api.upload(server, file, new)
                # From here on it may be there, whatever happens.
                self._lease.store(partial(batches.set_sent, batch=batch.id, input_file=input_file, moment=now))
                self._caller.in_flight += 1
                try:
                    name = await api.create(server, input_file, file, new)
                finally:
                    self._caller.in_flight -= 1
        self._lease.store(partial(batches.set_open, batch=batch.id, name=name, look_at=now))

    def _lines(self, batch: BatchRow, api: BatchApi) -> Iterator[bytes]:
        for attempt, body in batches.bodies(self._reader, batch.id):
            yield api.line(f"{batch.token}-{attempt}", body)

    # -- looking, and reading what came

    async def _look(self, batch: BatchRow) -> bool:
        """How a batch stands; what it has brought is stored."""
        assert batch.name is not None
        server, api = self._server(batch)
        status = await api.status(server, batch.name)
        if not status.ended:
            self._look_later(batch, status.words, status.wait)
            return False
        if status.problems:
            self._take_refusal(batch, status)
        else:
            await self._take_results(batch, server, api, status)
        await self._journal.flush()
        self._lease.store(partial(batches.set_ended, batch=batch.id))
        return True

    async def _take_results(self, batch: BatchRow, server: BatchServer, api: BatchApi, status: BatchStatus) -> None:
        ms = (self._caller.clock.date() - (batch.sent_at or 0.0)) * 1000
        seen: set[int] = set()
        unknown = 0
        for source in status.results:
            with TemporaryFile() as file:
                await api.fetch(server, source, file)
                unknown += await self._read(batch, server.lane, api, file, seen, ms)
        if unknown:
            self._caller.warn(
                f"{unknown:,} results of batch {batch.name} belong to none of its calls; they are ignored."
            )
        await self._journal.flush()
        failure, made = status.of_the_rest
        left = batches.without_outcome(self._reader, batch.id)
        for attempt in left:
            self._fail(attempt, failure, made=made)
        self._tell_of(batch)

    async def _read(self, batch: BatchRow, lane: Lane, api: BatchApi, file: BinaryIO, seen: set[int], ms: float) -> int:
        """Store a file's results; how many belong to no call of the batch."""
        unknown = 0
        for count, line in enumerate(lines_of(file)):
            try:
                result = api.result(line)
            except AttemptFailed:
                unknown += 1
                continue
            unknown += not self._store(batch, lane, result, seen, ms)
            if count % _GROUP == _GROUP - 1:
                await self._journal.flush()
        return unknown

    def _store(self, batch: BatchRow, lane: Lane, result: BatchResult, seen: set[int], ms: float) -> bool:
        """Store a result; whether it belongs to the batch. One that was stored before is passed over."""
        token, _, number = result.call.partition("-")
        if token != batch.token or not (number.isascii() and number.isdigit() and len(number) < 19):
            return False
        attempt = int(number)
        found = batches.call_of(self._reader, batch, attempt)
        if found is None:
            return False
        if found.state != "sent" or attempt in seen:
            return True
        seen.add(attempt)
        failure = result.failure
        if failure is None:
            try:
                response, reply = understood(lane, Received(200, {}, result.body), ms)
            except AttemptFailed as malformed:
                failure = malformed
            else:
                self._journal.done(attempt, found.call, response)
                lane.trial.succeeded()
                self._caller.unpriced += reply.usage.cost is None
                return True
        self._fail(attempt, failure, made=result.made)
        return True

    def _fail(self, attempt: int, failure: AttemptFailed, *, made: bool) -> None:
        self._caller.errors[failure.code] += 1
        self._journal.fail(attempt, failure.code, failure.status, failure.detail, sent=made)

    def _take_refusal(self, batch: BatchRow, status: BatchStatus) -> None:
        """None of a batch's calls was made.

        Raises:
            Halt: None would be, however often it is sent.
        """
        code, words = status.problems[0]
        lane = self._caller.lanes[batch.role]
        said = f"{words} ({code})" if code else words
        too_many = code in _TOO_MANY
        failure = AttemptFailed("rate_limit" if too_many else "bad_request", said)
        for attempt in batches.without_outcome(self._reader, batch.id):
            self._fail(attempt, failure, made=False)
        if too_many and batch.calls > 1:
            self.most = max(1, batch.calls // 2)
            self._caller.warn(
                f"{lane.title} takes no batch of {batch.calls:,} calls now: {said}. It gets smaller ones."
            )
            return
        self._lease.store(partial(batches.set_ended, batch=batch.id))
        more = f", and {len(status.problems) - 1} more" if len(status.problems) > 1 else ""
        raise Halt(
            "quota" if too_many else "bad_request",
            f"{lane.title} took none of a batch's {batch.calls:,} calls: {said}{more}. "
            "Mend the cause, then resume the run.",
        )

    def _tell_of(self, batch: BatchRow) -> None:
        """Say how many calls of a batch are asked again, and why."""
        codes: Counter[str] = Counter(batches.failed_codes(self._reader, batch.id))
        again = {code: count for code, count in codes.items() if code in REPEATED or code == "cancelled"}
        if again:
            words = ", ".join(f"{count:,} {code}" for code, count in sorted(again.items()))
            self._caller.warn(f"Of batch {batch.name} some calls are asked again: {words}.")

    async def cancel(self) -> None:
        """Have no more calls made; what was made is fetched when the run is resumed."""
        for batch in self._unended():
            if batch.state == "open" and batch.name is not None:
                server, api = self._server(batch)
                try:
                    await api.cancel(server, batch.name)
                except (AttemptFailed, Halt) as failure:
                    self._caller.warn(f"Batch {batch.name} could not be cancelled: {failure}.")
