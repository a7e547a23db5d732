"""Send a run's batches to their providers, poll them, and store their results.

A batch is stored in the database before it is sent. A batch that its provider may already have is first searched for
there, so that a restart after a kill creates no batch twice.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from tempfile import TemporaryFile
from typing import BinaryIO, Final

from workbench.core.database.connection import Database
from workbench.llm.batches import BATCH_APIS
from workbench.llm.batches.files import BatchApi
from workbench.llm.batches.records import BatchResult, BatchStatus, NewBatch, NotYetKnown, lines_of, write_lines
from workbench.llm.batches.server import BatchServer
from workbench.llm.caller import parse_response
from workbench.llm.dialects import CHAT_PATHS
from workbench.llm.endpoint import Endpoint
from workbench.llm.failures import REPEATED, AttemptFailed
from workbench.llm.gate import Patience
from workbench.llm.records import Halt
from workbench.llm.transport import Received
from workbench.runs.lease import Lease
from workbench.runs.session import Client
from workbench.runs.store import batches
from workbench.runs.store.batches import BatchRow

_GROUP: Final = 500
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
        said = f"{words} ({code})" if code else words
        too_many = code in _TOO_MANY
        failure = AttemptFailed("rate_limit" if too_many else "bad_request", said)
        for attempt in batches.without_outcome(self._reader, batch.id):
            self._record_failure(attempt, failure, made=False)
        if too_many and batch.calls > 1:
            self.most = max(1, batch.calls // 2)
            self._client.warn(
                f"{endpoint.title} doesn't accept a batch of {batch.calls:,} calls now: {said}. "
                "Smaller batches are sent."
            )
            return
        self._update(batch, state="ended")
        more = f", and {len(status.problems) - 1} more" if len(status.problems) > 1 else ""
        raise Halt(
            "quota" if too_many else "bad_request",
            f"{endpoint.title} took none of a batch's {batch.calls:,} calls: {said}{more}. "
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
