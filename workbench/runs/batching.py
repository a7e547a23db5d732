"""Execute a run through a provider's batch API: gather calls in rounds, send them, wait, and parse the replies.

A round judges each item by the stored replies, and puts the first missing call of each item into a batch. A batch and
its calls are stored in the database before they are sent to the provider, so that a restart after a kill finds them
and requests nothing twice.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final

from workbench.core.database.connection import Database
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError, opt
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.batches import BATCH_APIS, titles
from workbench.llm.batches.files import BatchApi, BatchResult, BatchStatus, NewBatch, NotYetKnown, lines_of, write_lines
from workbench.llm.batches.server import BatchServer
from workbench.llm.caller import StoredReply, parse_response
from workbench.llm.dialects import CHAT_PATHS
from workbench.llm.endpoint import Endpoint, PreparedRequest
from workbench.llm.failures import REPEATED, AttemptFailed
from workbench.llm.gate import Budget, Patience, used_up
from workbench.llm.profiles import PROFILES
from workbench.llm.records import CallFailed, Deferred, FailureCode, Halt, Request
from workbench.llm.transport import Received
from workbench.runs.journal import RunJournal, spent
from workbench.runs.lease import Lease, Postponed
from workbench.runs.serving import OWN, verdict_of
from workbench.runs.session import POLL_S, Client, RunServers, TaskSource, opened_session
from workbench.runs.store import batches, runs
from workbench.runs.store.batches import BatchRow, EarlierCall, GatheredCall
from workbench.verifiers.base import AnyVerifier, ServedVerifier
from workbench.verifiers.judges.verifier import LlmJudge

if TYPE_CHECKING:
    import sqlite3

MAX_ATTEMPTS: Final = 3
"""After this many failed attempts in batches, a call that might still succeed counts as failed for good."""
_GROUP: Final = 500
_LONGEST_NAME: Final = "x" * 40


def require_batches(verifier: AnyVerifier) -> None:
    """Make sure that a verifier's calls can be sent in batches.

    Raises:
        UsageError: The calls can't be sent in batches.
    """
    if not isinstance(verifier, LlmJudge):
        raise UsageError(f"{verifier.name} does not support batches: llm-judge does.", f"Leave {opt.batch} out.")
    if verifier.rounds is None:
        raise UsageError(
            "Each call of this strategy waits for the replies to others: batches would take too many rounds.",
            f"Leave {opt.batch} out, or choose a strategy with few calls.",
        )
    for server in verifier.servers().values():
        if server.profile not in BATCH_APIS:
            title = PROFILES[server.profile].title
            raise UsageError(
                f"{title[:1].upper()}{title[1:]} has no batch API; these have one: {titles()}.",
                f"Leave {opt.batch} out.",
            )


def judge_in_batches(
    database: Database,
    lease: Lease,
    servers: RunServers,
    verifier: ServedVerifier,
    chunks: Callable[[], Iterable[list[VerifierInput]]],
    check: Callable[[], None],
) -> int:
    """Judge every item; return how many verdicts were stored.

    Args:
        chunks: Returns the items without a verdict; read again on each call.
        check: Raises to end the work early.

    Raises:
        Postponed: The run waits for a batch, and another run is ready.
        Halt: No call can succeed now; the remaining items have no verdict.
        Exception: Whatever ``check`` raises.
    """

    reader, run = database.reader(), servers.run

    async def judge() -> int:
        async with opened_session(database, lease, [servers]) as session:
            (client,) = session.clients
            rounds = _BatchRounds(database, lease, servers, verifier, client)
            desk = BatchDesk(database, lease, run, client)

            async def wait_for_batch() -> None:
                while not await desk.attend():
                    if runs.others_are_due(reader, run, desk.next_check_time()):
                        raise Postponed
                    await asyncio.sleep(POLL_S)

            async def judge_all() -> None:
                sent = batches.unended(reader, run)
                if sent and all(batch.state != "gathered" for batch in sent):
                    await wait_for_batch()
                while True:
                    await rounds.judge(chunks(), desk.most)
                    if not batches.unended(reader, run):
                        return rounds.require_affordable()
                    await wait_for_batch()

            async def look() -> None:
                check()

            try:
                await session.wait([session.start(judge_all())], look)
            except BaseException:
                await session.end()
                if runs.request_of(reader, run) == "cancel":
                    await desk.cancel()
                raise
        return client.journal.stored

    return asyncio.run(judge())


# -- Rounds: items are judged by stored replies, and missing calls are gathered.


class _BatchRounds:
    def __init__(
        self, database: Database, lease: Lease, servers: RunServers, verifier: ServedVerifier, client: Client
    ) -> None:
        self._reader = database.reader()
        self._secret = secret(self._reader)
        self._lease = lease
        self._run, self._limits = servers.run, servers.limits
        self._verifier = verifier
        self._client, self._journal = client, client.journal
        self._gathering: dict[str, _GatheredCalls] = {}
        self._wanted: set[bytes] = set()
        self._failed: dict[str, CallFailed] = {}
        self._short: str | None = None

    async def judge(self, chunks: Iterable[list[VerifierInput]], most: int | None) -> None:
        """Store the verdicts that follow from stored replies, and gather the calls that other items need.

        Args:
            most: Maximum number of calls in a batch; None if the provider has set no limit.

        Raises:
            Halt: All calls failed for reasons other than their items.
        """
        self._begin(most)
        held = []
        count = 0
        async for item in TaskSource(chunks):
            try:
                judged, made = await verdict_of(self._verifier, item, self._secret, self)
            except Deferred:
                continue
            if judged.verdict.outcome is Outcome.ERROR and not self._client.has_any_reply:
                held.append((item.item, judged, made))
                continue
            recorded = self._journal.record(item.item, judged, made)
            count += 1
            if count % _GROUP == 0:
                await recorded
        for gathering in self._gathering.values():
            await gathering.store()
        if not self._client.has_any_reply and any(judged.verdict.reason not in OWN for _, judged, _ in held):
            self._halt()
        for one in held:
            self._journal.record(*one)
        await self._journal.flush()

    def require_affordable(self) -> None:
        """Check that no call was omitted because of the budget.

        Raises:
            Halt: A call was omitted.
        """
        if self._short is not None:
            raise used_up(self._short)

    async def call(self, item: int, role: str, request: Request, sample: int) -> StoredReply:
        """Return the stored reply to a request; see `Client.call`.

        Raises:
            CallFailed: There will be no reply.
            Deferred: The reply comes later.
            Halt: No call of the run can succeed now.
        """
        endpoint = self._client.endpoints[role]
        prepared = endpoint.prepare(request, sample)
        before = batches.earlier_calls(self._reader, self._run, prepared.key)
        if (stored := self._client.stored(prepared)) is not None:
            own = any(one.state == "done" and one.item == item for one in before)
            return StoredReply(reply=stored.reply, key=stored.key, reused=not own)
        if (failure := _final_failure(before)) is not None:
            self._failed[role] = failure
            endpoint.breaker.note_failure(failure)
            raise failure
        if prepared.key not in self._wanted and not any(one.state == "sent" for one in before):
            await self._gather(endpoint, role, item, prepared)
        # The item's other concurrent calls are gathered, too.
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
            role: _GatheredCalls(self._lease, self._run, self._journal, role, endpoint, most, unended)
            for role, endpoint in self._client.endpoints.items()
        }

    async def _gather(self, endpoint: Endpoint, role: str, item: int, prepared: PreparedRequest) -> None:
        if prepared.built.task != "chat":
            raise CallFailed("bad_request", "only chats are asked in batches")
        self._client.require_price(endpoint)
        if (limit := self._budget.hold(prepared.estimate)) is not None:
            self._short = self._short or limit
            return
        for note in prepared.built.notes:
            self._client.warn(note)
        self._wanted.add(prepared.key)
        await self._gathering[role].add(item, prepared)

    def _halt(self) -> None:
        """Halt because all calls failed; a resumed run repeats them.

        Raises:
            Halt: Always.
        """
        self._lease.store(partial(batches.forget_failures, run=self._run))
        for role in self._failed:
            raise self._client.endpoints[role].breaker.halt()


def _final_failure(before: Sequence[EarlierCall]) -> AttemptFailed | None:
    failed = [one for one in before if one.state in ("failed", "unsent") and one.code != "cancelled"]
    final = [one for one in failed if one.state == "failed" or one.code == "timeout"]
    if not final:
        return None
    last = final[-1]
    code: FailureCode = last.code or "server"  # type: ignore[assignment]
    if code in REPEATED and len(final) < MAX_ATTEMPTS:
        return None
    return AttemptFailed(code, last.detail or "", status=last.status)


class _GatheredCalls:
    def __init__(
        self,
        lease: Lease,
        run: int,
        journal: RunJournal,
        role: str,
        endpoint: Endpoint,
        most: int | None,
        unended: Sequence[BatchRow],
    ) -> None:
        self._lease, self._run, self._journal = lease, run, journal
        self._role, self._endpoint = role, endpoint
        self._api = BATCH_APIS[endpoint.profile.name]
        self._most = min(most or self._api.most_calls, self._api.most_calls)
        filling = [batch for batch in unended if batch.role == role and batch.state == "gathered"]
        self._batch = filling[-1] if filling else None
        self._calls, self._bytes = (self._batch.calls, self._batch.bytes) if self._batch else (0, 0)
        self._number = self._batch.id if self._batch else None
        self._found: list[GatheredCall] = []

    async def add(self, item: int, prepared: PreparedRequest) -> None:
        size = len(self._api.line(_LONGEST_NAME, prepared.built.body, prepared.built.path)) + 1
        if self._calls and (self._calls >= self._most or self._bytes + size > self._api.most_bytes):
            await self.store()
            self._number, self._calls, self._bytes = None, 0, 0
        call = self._endpoint.call(prepared)
        self._found.append(GatheredCall(item=item, call=call, estimate=prepared.estimate, bytes=size))
        self._calls += 1
        self._bytes += size
        if len(self._found) >= _GROUP:
            await self.store()

    async def store(self) -> None:
        found, self._found = self._found, []
        if not found:
            return
        number, base, place = self._number, self._endpoint.base, found[0].call.server
        token = secrets.token_hex(8)

        def put(connection: sqlite3.Connection, attempts: Sequence[int]) -> None:
            self._number = number or batches.begin(connection, self._run, self._role, base, place, token)
            batches.add(connection, self._run, self._number, attempts, found)

        await self._journal.begin_together([(one.item, one.call) for one in found], put)


# -- Batches: sent to their providers, polled, and their results stored.


_SOONEST_S: Final = 2.0
_LATEST_S: Final = 300.0
_POLL_SHARE: Final = 0.1
"""A batch is polled again after this share of its age, within the bounds above."""
_TOO_MANY: Final = ("token_limit_exceeded", "rate_limit_exceeded")
"""Error codes of a provider that accepts no more calls for now."""


class BatchDesk:
    """Sends, polls and reads the batches of one run.

    Attributes:
        most: Maximum number of calls in a batch; None until a provider has rejected a larger batch.
    """

    def __init__(self, database: Database, lease: Lease, run: int, client: Client) -> None:
        self._reader = database.reader()
        self._lease = lease
        self._run = run
        self._client, self._journal = client, client.journal
        self._patience: dict[int, Patience] = {}
        self.most: int | None = None

    def next_check_time(self) -> float:
        return min((batch.look_at for batch in self._unended_batches()), default=0.0)

    async def attend(self) -> bool:
        """Process the batches that are due; return whether a batch has ended, or all have."""
        unended = self._unended_batches()
        ended = not unended
        for batch in unended:
            # Once a provider has rejected a batch as too large, one is sent at a time.
            waits = self.most is not None and batch.state == "gathered" and batch.id != unended[0].id
            if batch.look_at <= self._client.clock.date() and not waits:
                ended = await self._process_batch(batch) or ended
        return ended

    async def _process_batch(self, batch: BatchRow) -> bool:
        endpoint = self._client.endpoints[batch.role]
        try:
            if batch.state != "open":
                await self._send(batch)
                ended = False
            else:
                ended = await self._check_batch(batch)
        except NotYetKnown:
            self._schedule_check(batch, "may be there")
            return False
        except AttemptFailed as failure:
            wait = self._patience.setdefault(batch.id, Patience(self._client.clock)).wait(failure)
            if wait is None or failure.code == "quota":
                raise endpoint.refusal(failure) from None
            self._client.errors[failure.code] += 1
            self._client.warn(f"{endpoint.title} received the request for a batch again ({failure.detail}).")
            self._schedule_check(batch, None, wait)
            return False
        self._patience.pop(batch.id, None)
        return ended

    def _unended_batches(self) -> list[BatchRow]:
        return batches.unended(self._reader, self._run)

    def _server_and_api(self, batch: BatchRow) -> tuple[BatchServer, BatchApi]:
        endpoint = self._client.endpoints[batch.role]
        return BatchServer(endpoint, batch.base_url, self._client.transport, self._client.clock), BATCH_APIS[
            endpoint.profile.name
        ]

    def _schedule_check(self, batch: BatchRow, status: str | None, wait: float | None = None) -> None:
        now = self._client.clock.date()
        taken = now - (batch.sent_at or now)
        after = min(max(_SOONEST_S, _POLL_SHARE * taken), _LATEST_S) if wait is None else wait
        self._update(batch, status=status or batch.status, look_at=now + after)

    def _update(self, batch: BatchRow, **values: object) -> None:
        self._lease.store(partial(batches.update, batch=batch.id, values=values))

    # -- Sending.

    async def _send(self, batch: BatchRow) -> None:
        """Create a batch at its provider, unless it exists already.

        Raises:
            AttemptFailed: The batch wasn't created, or it is unknown whether it was.
            NotYetKnown: Whether the batch exists can't be determined now.
        """
        server, api = self._server_and_api(batch)
        now = self._client.clock.date()
        new = NewBatch(
            token=batch.token,
            model=server.endpoint.server.model,
            calls=batch.calls,
            since=batch.sent_at or now,
            path=CHAT_PATHS[server.endpoint.profile.dialect],
        )
        name = await api.find(server, batch.input_file, new) if batch.state == "sent" else None
        if name is None:
            with TemporaryFile() as file:
                calls = batches.bodies(self._reader, batch.id)
                write_lines(file, (api.line(f"{batch.token}-{attempt}", body, new.path) for attempt, body in calls))
                input_file = await api.upload(server, file, new)
                # From here on the batch may exist, whatever happens.
                self._update(batch, state="sent", input_file=input_file, sent_at=new.since)
                self._client.in_flight += 1
                try:
                    name = await api.create(server, input_file, file, new)
                finally:
                    self._client.in_flight -= 1
        self._update(batch, state="open", name=name, look_at=now)

    # -- Polling, and reading results.

    async def _check_batch(self, batch: BatchRow) -> bool:
        assert batch.name is not None
        server, api = self._server_and_api(batch)
        status = await api.status(server, batch.name)
        if not status.ended:
            self._schedule_check(batch, status.words, status.wait)
            return False
        if status.problems:
            self._record_rejection(batch, status)
        else:
            await self._store_results(batch, server, api, status)
        await self._journal.flush()
        self._update(batch, state="ended")
        return True

    async def _store_results(self, batch: BatchRow, server: BatchServer, api: BatchApi, status: BatchStatus) -> None:
        ms = (self._client.clock.date() - (batch.sent_at or 0.0)) * 1000
        seen: set[int] = set()
        unknown = 0
        for source in status.results:
            with TemporaryFile() as file:
                await api.fetch(server, source, file)
                unknown += await self._read_results(batch, server.endpoint, api, file, seen, ms)
        if unknown:
            self._client.warn(f"{unknown:,} results of batch {batch.name} belong to no call of it and are ignored.")
        await self._journal.flush()
        failure, made = status.failure_of_missing_calls
        left = batches.without_outcome(self._reader, batch.id)
        for attempt in left:
            self._record_failure(attempt, failure, made=made)
        codes: Counter[str] = Counter(batches.failed_codes(self._reader, batch.id))
        again = {code: count for code, count in codes.items() if code in REPEATED or code == "cancelled"}
        if again:
            words = ", ".join(f"{count:,} {code}" for code, count in sorted(again.items()))
            self._client.warn(f"Some calls of batch {batch.name} are repeated: {words}.")

    async def _read_results(
        self, batch: BatchRow, endpoint: Endpoint, api: BatchApi, file: BinaryIO, seen: set[int], ms: float
    ) -> int:
        unknown = 0
        for count, line in enumerate(lines_of(file)):
            try:
                result = api.result(line)
            except AttemptFailed:
                unknown += 1
                continue
            unknown += not self._store_result(batch, endpoint, result, seen, ms)
            if count % _GROUP == _GROUP - 1:
                await self._journal.flush()
        return unknown

    def _store_result(
        self, batch: BatchRow, endpoint: Endpoint, result: BatchResult, seen: set[int], ms: float
    ) -> bool:
        token, _, number = result.call.partition("-")
        if token != batch.token or not (number.isascii() and number.isdigit() and len(number) < 19):
            return False
        attempt = int(number)
        found = batches.call_of(self._reader, batch, attempt)
        if found is None:
            return False
        state, call = found
        if state != "sent" or attempt in seen:
            return True
        seen.add(attempt)
        failure = result.failure
        if failure is None:
            try:
                response, reply = parse_response(endpoint, Received(200, {}, result.body), ms)
            except AttemptFailed as malformed:
                failure = malformed
            else:
                self._journal.done(attempt, call, response)
                endpoint.breaker.succeeded(self._client.clock.now())
                self._client.unpriced += reply.usage.cost is None
                return True
        self._record_failure(attempt, failure, made=result.made)
        return True

    def _record_failure(self, attempt: int, failure: AttemptFailed, *, made: bool) -> None:
        self._client.errors[failure.code] += 1
        self._journal.fail(attempt, failure.code, failure.status, failure.detail, sent=made)

    def _record_rejection(self, batch: BatchRow, status: BatchStatus) -> None:
        """Record that a batch's calls were not made.

        Raises:
            Halt: The provider would reject the batch every time.
        """
        code, words = status.problems[0]
        endpoint = self._client.endpoints[batch.role]
        text = f"{words} ({code})" if code else words
        too_many = code in _TOO_MANY
        failure = AttemptFailed("rate_limit" if too_many else "bad_request", text)
        for attempt in batches.without_outcome(self._reader, batch.id):
            self._record_failure(attempt, failure, made=False)
        if too_many and batch.calls > 1:
            self.most = max(1, batch.calls // 2)
            self._client.warn(
                f"{endpoint.title} doesn't accept a batch of {batch.calls:,} calls now: {text}. "
                "Smaller batches are sent."
            )
            return
        self._update(batch, state="ended")
        more = f", and {len(status.problems) - 1} more" if len(status.problems) > 1 else ""
        raise Halt(
            "quota" if too_many else "bad_request",
            f"{endpoint.title} took none of a batch's {batch.calls:,} calls: {text}{more}. "
            "Fix the cause, then resume the run.",
        )

    async def cancel(self) -> None:
        """Cancel the remaining calls; completed ones are fetched when the run is resumed."""
        for batch in self._unended_batches():
            if batch.state == "open" and batch.name is not None:
                server, api = self._server_and_api(batch)
                try:
                    await api.cancel(server, batch.name)
                except (AttemptFailed, Halt) as failure:
                    self._client.warn(f"Batch {batch.name} could not be cancelled: {failure}.")
