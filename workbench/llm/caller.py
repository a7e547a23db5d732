"""Make calls: look for a stored reply, reserve budget, wait for rate limits, record the attempt, send it, and retry."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from workbench.llm.dialects import read, reread
from workbench.llm.dialects.openai import dollars
from workbench.llm.endpoint import Endpoint, PreparedRequest, Secrets
from workbench.llm.failures import AttemptFailed, classify_response, one_line
from workbench.llm.gate import INITIAL_CONCURRENCY, MAX_REQUESTED_WAIT_S, Budget, Gate, Patience, cost_of
from workbench.llm.records import (
    RESUME,
    CallFailed,
    Halt,
    Journal,
    JournaledCall,
    Reply,
    Request,
    Response,
    RunUsed,
    Usage,
    ending,
)
from workbench.llm.server import Limits, ModelServer, Price, StageLimits
from workbench.llm.transport import Received, Transport
from workbench.llm.waits import Clock

COST_HEADER = "x-litellm-response-cost"
"""A LiteLLM proxy reports the cost of a reply in this header, in US dollars."""
ORIGIN_HEADER = "x-workbench-recorded"
"""A replay server reports the origin of its recorded replies in this header."""
NOT_RECORDED = 422
"""A replay server's status for a request without a recorded reply; a 404 would be about the address."""

_FEWEST_CHARACTERS_A_TOKEN = 8
"""A prompt with more characters than this for each counted token was truncated."""

_MAX_WARNINGS = 20


class StoredReply(Struct, frozen=True, kw_only=True):
    """A reply, and where it is stored.

    Attributes:
        key: The key of its stored response.
        reused: Whether it was stored before, or came from another item's equal call.
    """

    reply: Reply
    key: bytes
    reused: bool


class Filtered(CallFailed):
    """The server's content filter removed a reply's text; the reply is stored, and a repeated request may not help.

    Attributes:
        key: The key of the stored response.
    """

    def __init__(self, key: bytes) -> None:
        super().__init__("content_filter", "the server's content filter stopped the reply")
        self.key = key


_Led = tuple[bytes, Reply]
"""The key under which a reply is stored, and the reply."""


class Caller:
    """A run's calls to its servers; an async context manager.

    Args:
        shared: A budget shared with other callers.
        stages: Stages of a stack with limits of their own, each with its usage before this start.

    Attributes:
        endpoints: The endpoints by role.
        transport: Sends the calls.
        clock: The source of time.
        in_flight: Number of calls that are waiting for a server.
        errors: Number of failed attempts by failure code.
        reused: Number of calls that were answered without a request.
        unpriced: Number of replies of unknown cost.
        warnings: Messages for the user, such as settings that could not be sent as requested; each once.

    Raises:
        UsageError: A server's profile or address is wrong.
    """

    def __init__(
        self,
        servers: Mapping[str, ModelServer],
        limits: Limits,
        journal: Journal,
        prices: Mapping[str, Price] | None = None,
        environment: Mapping[str, str] = os.environ,
        *,
        clock: Clock | None = None,
        shared: Budget | None = None,
        stages: Sequence[tuple[StageLimits, RunUsed]] = (),
    ) -> None:
        self.transport = Transport()
        self.clock = clock or Clock()
        self.endpoints = {
            role: Endpoint(server, (prices or {}).get(server.model), self.clock) for role, server in servers.items()
        }
        self.journal = journal
        self._environment = environment
        common = [Budget(limits, journal.spent()), *([] if shared is None else [shared])]
        self._limits = limits
        self._open_gate(list(self.endpoints.values()), limits, common)
        for stage, before in stages:
            endpoints = [self.endpoints[role] for role in stage.roles]
            self._open_gate(endpoints, stage.limits, [Budget(stage.limits, before, stage), *common])
        self._flights: dict[bytes, asyncio.Future[_Led]] = {}
        self.in_flight = 0
        self.errors: Counter[str] = Counter()
        self.reused = 0
        self.unpriced = 0
        self._last_failure: AttemptFailed | None = None
        self.warnings: list[str] = []

    async def __aenter__(self) -> Caller:
        await self.transport.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.__aexit__()

    def _open_gate(self, endpoints: Sequence[Endpoint], limits: Limits, budgets: Sequence[Budget]) -> None:
        start = INITIAL_CONCURRENCY if any(one.profile.sells for one in endpoints) else limits.concurrency
        gate = Gate(limits, start, budgets, self.clock)
        for one in endpoints:
            one.gate = gate

    @property
    def limit(self) -> int:
        """Return the current maximum of calls in flight."""
        gates = {id(one.gate): one.gate.limit for one in self.endpoints.values()}
        return min(sum(gates.values()), self._limits.concurrency)

    async def call(self, item: int, role: str, request: Request, sample: int = 0) -> StoredReply:
        """Return the reply to a request, from the store if possible.

        Args:
            item: The completion that the call is about.
            role: The role of the server to call.
            sample: Index of independent replies to the same request.

        Raises:
            CallFailed: There will be no reply to this request.
            Halt: No call of the run can succeed now, or the run is stopping.
        """
        self.journal.require_open()
        endpoint = self.endpoints[role]
        try:
            prepared = endpoint.prepare(request, sample)
        except CallFailed as failure:
            await endpoint.breaker.begin_call()
            endpoint.breaker.note_failure(failure)
            endpoint.breaker.end_call()
            raise
        for note in prepared.built.notes:
            self.warn(note)
        while True:
            if (stored := self.stored(prepared)) is not None:
                return stored
            if refused := next(filter(None, map(self.journal.refused, prepared.keys.values())), None):
                raise CallFailed(refused.code, refused.detail)
            flight = self._flights.get(prepared.key)
            if flight is None:
                key, reply = await self._make_shared_call(endpoint, item, prepared)
                return StoredReply(reply=raise_if_filtered(key, reply), key=key, reused=False)
            await asyncio.wait([flight])
            if not flight.cancelled():
                key, reply = flight.result()
                return self._count_reuse(key, raise_if_filtered(key, reply))

    def stored(self, prepared: PreparedRequest) -> StoredReply | None:
        """Return the stored reply to a request, if there is one that may be used.

        Raises:
            Filtered: The server's content filter removed its text.
        """
        for key in prepared.keys.values():
            if (found := self.journal.recall(key)) is not None:
                self._note_origin(found.origin)
                return self._count_reuse(key, raise_if_filtered(key, reread(found)))
        return None

    def recall(self, role: str, request: Request, sample: int = 0) -> Reply | None:
        """Return the stored reply to a request; no call is made.

        Raises:
            CallFailed: The server's content filter removed its text, or the server has no such call.
        """
        for key in self.endpoints[role].prepare(request, sample).keys.values():
            if (stored := self.journal.recall(key)) is not None:
                return raise_if_filtered(key, reread(stored))
        return None

    @property
    def in_doubt(self) -> bool:
        """Return whether, for some server, a call failed for good and no reply has come since."""
        return any(endpoint.breaker.in_doubt for endpoint in self.endpoints.values())

    def halt_unless_answered(self) -> None:
        """Raise at the end of the work if all calls to a server failed.

        Raises:
            Halt: All calls failed.
        """
        for endpoint in self.endpoints.values():
            if endpoint.breaker.in_doubt and endpoint.breaker.last_success is None:
                raise endpoint.breaker.halt()

    def _count_reuse(self, key: bytes, reply: Reply) -> StoredReply:
        self.reused += 1
        return StoredReply(reply=reply, key=key, reused=True)

    async def _make_shared_call(self, endpoint: Endpoint, item: int, prepared: PreparedRequest) -> _Led:
        flight: asyncio.Future[_Led] = asyncio.get_running_loop().create_future()
        self._flights[prepared.key] = flight
        try:
            led = await self._call_with_retries(endpoint, item, prepared)
        except (CallFailed, Halt) as failure:
            flight.set_exception(failure)
            flight.exception()
            raise
        except BaseException:
            flight.cancel()
            raise
        finally:
            del self._flights[prepared.key]
        flight.set_result(led)
        return led

    async def _call_with_retries(self, endpoint: Endpoint, item: int, prepared: PreparedRequest) -> _Led:
        patience = Patience(self.clock)
        await endpoint.breaker.begin_call()
        try:
            while True:
                try:
                    async with endpoint.gate:
                        return await self._attempt_call(endpoint, item, prepared)
                except AttemptFailed as failure:
                    wait = patience.wait(failure)
                    if wait is None:
                        self._halt_if_down(endpoint, failure, patience.row_began)
                        endpoint.breaker.note_failure(failure)
                        raise CallFailed(failure.code, failure.detail) from None
                    if failure.busy:
                        self.warn(f"{endpoint.title} was not ready ({failure.detail}); the call waited for it.")
                await self.clock.sleep(wait)
        finally:
            endpoint.breaker.end_call()

    async def _attempt_call(self, endpoint: Endpoint, item: int, prepared: PreparedRequest) -> _Led:
        secrets = await endpoint.secrets(self._environment)
        self.require_price(endpoint)
        if secrets != Secrets(None) and endpoint.sends_key_in_clear:
            self.warn(f"The key in {endpoint.key_place or 'a header'} goes to {endpoint.base} without encryption.")
        try:
            reckoned = await endpoint.gate.admit(prepared.estimate, endpoint.breaker)
        except Halt as halt:
            raise _with_cause(halt, self._last_failure) from None
        call = endpoint.call(prepared)
        attempt: int | None = None
        usage: Usage | None = None
        sent = True
        self.in_flight += 1
        try:
            endpoint.breaker.require_hope()
            attempt = await self.journal.begin(item, call)
            began = self.clock.now()
            response, reply = await self._exchange(endpoint, call, prepared, secrets)
            self.journal.done(attempt, call, response)
            endpoint.breaker.succeeded(began)
            self._note_success(endpoint, prepared, reply)
            usage = reply.usage
            endpoint.gate.succeeded(reckoned, usage)
            return call.key, reply
        except AttemptFailed as failure:
            sent = not failure.unreachable
            self._note_failure(endpoint, failure)
            assert attempt is not None
            self.journal.fail(attempt, failure.code, failure.status, failure.detail, sent=sent)
            self._halt_if_hopeless(endpoint, failure, began)
            raise
        except Halt as halt:
            # A problem of this process: the server was not reached and isn't the cause.
            sent = False
            if attempt is not None:
                self.journal.fail(attempt, halt.code, None, halt.message, sent=False)
            raise
        finally:
            self.in_flight -= 1
            endpoint.breaker.ended()
            endpoint.gate.settle(prepared.estimate, usage, sent=sent)

    async def _exchange(
        self, endpoint: Endpoint, call: JournaledCall, prepared: PreparedRequest, secrets: Secrets
    ) -> tuple[Response, Reply]:
        began = self.clock.now()
        received = await endpoint.exchange(self.transport, secrets, call.url, call.body)
        ms = (self.clock.now() - began) * 1000
        body = received.body
        endpoint.gate.seed(received.headers)
        if not 200 <= received.status < 300:
            endpoint.breaker.is_replayed = received.status == NOT_RECORDED and origin_of(received) is not None
            raise classify_response(received.status, received.headers, body, self.clock.date())
        response, reply = parse_response(endpoint, received, ms, prepared.built.task, prepared.count)
        self._note_origin(response.origin)
        return response, reply

    def _note_failure(self, endpoint: Endpoint, failure: AttemptFailed) -> None:
        self.errors[failure.code] += 1
        self._last_failure = failure
        if failure.limited or failure.of_key:
            endpoint.gate.refused(failure, endpoint.breaker)
            if failure.code == "rate_limit" and self.errors["rate_limit"] == 1:
                self.warn(
                    f"{endpoint.title} limits the rate of calls: they wait, and none is lost. The server says: "
                    f"{failure.detail}"
                )

    def _note_success(self, endpoint: Endpoint, prepared: PreparedRequest, reply: Reply) -> None:
        self.unpriced += reply.usage.cost is None
        tokens = reply.usage.prompt_tokens
        if endpoint.profile.cuts_silently and tokens and prepared.characters > tokens * _FEWEST_CHARACTERS_A_TOKEN:
            self.warn(
                f"{endpoint.profile.title} seems to truncate prompts silently: it read {tokens} tokens of "
                f"{prepared.characters} characters. Configure a longer context for the model on the server."
            )

    def require_price(self, endpoint: Endpoint) -> None:
        """Check that the price of calls is known if there is a cost limit.

        Raises:
            Halt: The price is unknown.
        """
        told = endpoint.profile.tells_cost and not self.unpriced
        kept = (self._limits, endpoint.gate.limits)
        if any(limits.max_cost is not None for limits in kept) and endpoint.price is None and not told:
            raise Halt(
                "budget",
                f"max_cost can't be kept: the price of {endpoint.server.model!r} is not known. "
                f"Add it to [prices] of the project's workbench.toml and {RESUME}.",
            )

    def _halt_if_hopeless(self, endpoint: Endpoint, failure: AttemptFailed, since: float) -> None:
        spent = failure.code == "quota" or (failure.wait or 0.0) > MAX_REQUESTED_WAIT_S
        revoked = failure.of_key and endpoint.breaker.silent_since(since)
        if spent or revoked or (failure.everywhere and endpoint.breaker.last_success is None):
            raise endpoint.breaker.halted(endpoint.refusal(failure))

    def _halt_if_down(self, endpoint: Endpoint, failure: AttemptFailed, since: float) -> None:
        if failure.unreachable and endpoint.breaker.silent_since(since):
            raise Halt(
                failure.code,
                f"{endpoint.title} can't be reached: {failure.detail}. Start it or check base_url, then {RESUME}.",
            )

    def _note_origin(self, origin: str | None) -> None:
        if origin is not None:
            self.warn(f"Replies are recorded ones from {origin}, not those of a live model.")

    def warn(self, warning: str) -> None:
        if warning not in self.warnings and len(self.warnings) < _MAX_WARNINGS:
            self.warnings.append(warning)


def parse_response(
    endpoint: Endpoint, received: Received, ms: float, task: str = "chat", count: int | None = None
) -> tuple[Response, Reply]:
    """Return a successful response as it is stored, and the reply in it, both with their cost.

    Raises:
        CallFailed: The response is not a reply, or reports an error.
    """
    reply = read(received.body, task, endpoint.profile.name, count)
    cost = dollars(received.headers.get(COST_HEADER))
    used = reply.usage if cost is None else structs.replace(reply.usage, cost=cost)
    usage = structs.replace(used, cost=cost_of(used, endpoint.price))
    origin = origin_of(received)
    response = Response(profile=endpoint.profile.name, task=task, body=received.body, usage=usage, ms=ms, origin=origin)
    return response, structs.replace(reply, usage=usage)


def _with_cause(halt: Halt, failure: AttemptFailed | None) -> Halt:
    if failure is None:
        return halt
    return Halt(halt.code, f"{halt.message} The last call that failed: {failure.detail}.")


def raise_if_filtered(key: bytes, reply: Reply) -> Reply:
    """Return the reply, unless the server's content filter removed its text.

    Raises:
        Filtered: The content filter removed the text.
    """
    if ending(reply) == "content_filter":
        raise Filtered(key)
    return reply


def origin_of(received: Received) -> str | None:
    """Return the origin of a recorded reply if a replay server reports one; else None."""
    origin = received.headers.get(ORIGIN_HEADER)
    return None if origin is None else one_line(origin)
