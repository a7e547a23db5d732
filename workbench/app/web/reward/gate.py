"""Access control: host or token, type and size of the body, and room for it."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import msgspec
from aiohttp import web
from msgspec import Struct

from workbench.app.web.reward.processes import ProcessMember
from workbench.app.web.serve.addresses import Address
from workbench.core.columns import FieldError
from workbench.core.errors import UsageError, WorkbenchError, opt
from workbench.core.text.inert import inert
from workbench.training.records import RewardRefusal

# -- Requests that are not taken: always a short JSON document that says what to do, never a trace.


RETRY_S = 1
"""Seconds after which to retry a request that found no room."""
_PLACE = re.compile(r"^(?P<wrong>.*) - at `\$\.?(?P<field>.*)`$", re.DOTALL)
_NAMED = re.compile(r"field `([^`]*)`")
_MAX_ERROR = 1_000


class RequestRefused(Exception):
    """A request is denied.

    Attributes:
        status: HTTP status of the response.
        error: What is wrong, and what to do.
        field: Field of the body that is wrong; None if it is none.
        closes: Whether the connection is closed afterwards.
    """

    def __init__(self, status: int, error: str, field: str | None = None, *, closes: bool = False) -> None:
        super().__init__(error)
        self.status, self.error, self.field, self.closes = status, error, field, closes


def refusal(refused: RequestRefused) -> web.Response:
    document = RewardRefusal(error=refused.error[:_MAX_ERROR], field=refused.field and refused.field[:_MAX_ERROR])
    headers = {"Retry-After": str(RETRY_S)} if refused.status in (429, 503) else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    answer = web.Response(
        status=refused.status, body=msgspec.json.encode(document), content_type="application/json", headers=headers
    )
    if refused.closes:
        answer.force_close()
    return answer


def wrong_body(error: Exception) -> RequestRefused:
    match error:
        case FieldError():
            return RequestRefused(400, error.message, error.field)
        case UsageError():
            return RequestRefused(400, str(error))
        case WorkbenchError():
            return RequestRefused(503, str(error))
        case RecursionError():
            return RequestRefused(400, "The body is nested too deeply.")
        case UnicodeDecodeError():
            return RequestRefused(400, "The body is not UTF-8 text.")
    place = _PLACE.match(str(error))
    wrong, field = (str(error), "") if place is None else (place["wrong"], place["field"])
    if (named := _NAMED.search(wrong)) is not None:
        field = f"{field}.{named[1]}".removeprefix(".")
    return RequestRefused(400, f"{field or 'The body'}: {wrong}.", field or None)


LOG = logging.getLogger("workbench.reward")
BODY_S = 30.0
"""Maximum seconds for a body to arrive, and for each of its parts."""
MIN_BYTES_PER_S = 1 << 16
"""Minimum bytes per second of a body after that time."""
MOST_BODY = 128 << 20
MOST_IN_FLIGHT = 256 << 20
"""Default limits; see `RequestRules`."""
HEALTH = "/health"
_HOST = re.compile(r"(?P<name>[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?)(?::\d{1,5})?")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class RequestRules(Struct, frozen=True, kw_only=True):
    """The rules for requests.

    Attributes:
        token: The token expected in ``Authorization: Bearer``; None if none is needed.
        max_body: Maximum size of a body in bytes.
        in_flight: Maximum bytes of the bodies of all unanswered requests, over all processes.
        hosts: Names the server answers to besides the address's own, in lower case.
    """

    address: Address
    token: str | None
    max_body: int = MOST_BODY
    in_flight: int = MOST_IN_FLIGHT
    hosts: frozenset[str] = frozenset()


class RewardGate:
    """Checks every request before its handler gets it, and counts unanswered requests.

    Args:
        beside: This process as one of several; None if there is only one.

    Attributes:
        rules: The rules for requests.
        in_flight: Bytes of the bodies of unanswered requests.
        known: Connections that have shown the token, or the right host name if no token is needed.
        idle: Set while no request is being handled.
        stopping: Whether the server stops, so that no more requests are accepted.
    """

    def __init__(self, rules: RequestRules, beside: ProcessMember | None = None) -> None:
        self.rules = rules
        self.in_flight = 0
        self._beside = beside
        self.known: dict[web.RequestHandler, str] = {}
        self._under_way = 0
        self.idle = asyncio.Event()
        self.idle.set()
        self.stopping = False

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass a request to its handler, or deny it; this handles every exception of the handler."""
        try:
            with self._count_request():
                self._require_known(request)
                return await handler(request)
        except RequestRefused as refused:
            return self._refuse(request, refused)
        except web.HTTPException as error:
            return self._refuse(request, RequestRefused(error.status, f"{error.reason}."))
        except Exception as error:
            LOG.error("%s: %s", _request_text(request), inert(f"{type(error).__name__}: {error}"[:300]))
            return self._refuse(request, RequestRefused(500, "The server failed on this request.", closes=True))

    @asynccontextmanager
    async def body(self, request: web.Request) -> AsyncIterator[bytearray]:
        """Yield the complete body of an accepted request; its room is reserved until the context ends.

        Raises:
            Refused: It is of another type, too large or too slow, there is no room for it, or the server stops.
        """
        if self.stopping:
            raise RequestRefused(503, "The server is stopping. Try again soon.", closes=True)
        if request.content_type != "application/json" or "Content-Encoding" in request.headers:
            raise RequestRefused(415, "Send plain JSON: Content-Type: application/json.", closes=True)
        room = _BodyReservation(self, request.content_length or 0)
        try:
            room.require(0)
            yield await self._read(request, room)
        finally:
            self.take(-room.taken)

    def has_room(self, size: int) -> bool:
        others = 0 if self._beside is None else self._beside.held_by_others
        return others + self.in_flight + size <= self.rules.in_flight

    def take(self, size: int) -> None:
        """Reserve bytes in flight."""
        self.in_flight += size
        if self._beside is not None:
            self._beside.hold(self.in_flight)

    async def _read(self, request: web.Request, room: _BodyReservation) -> bytearray:
        body = bytearray()
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            while True:
                ends = began + BODY_S + len(body) / MIN_BYTES_PER_S
                async with asyncio.timeout(min(BODY_S, ends - clock())):
                    part = await request.content.readany()
                if not part:
                    return body
                room.require(len(body) + len(part))
                body += part
        except (TimeoutError, ConnectionError, web.RequestPayloadError) as error:
            raise RequestRefused(408, "The body did not arrive.", closes=True) from error

    @contextmanager
    def _count_request(self) -> Iterator[None]:
        self._under_way += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self.idle.set()

    def _require_known(self, request: web.Request) -> None:
        if self.rules.token is None:
            host = request.headers.get("Host", "")
            if not (self.rules.address.answers_to(host) or name_of(host) in self.rules.hosts):
                raise RequestRefused(
                    421, f"This server does not accept requests for that host name: see {opt.allow_host}.", closes=True
                )
        elif request.path != HEALTH:
            given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {self.rules.token}".encode()):
                raise RequestRefused(401, "Give the server's token: Authorization: Bearer …", closes=True)
        if self.rules.token is None or request.path != HEALTH:
            self.known[request.protocol] = ""

    def _refuse(self, request: web.Request, refused: RequestRefused) -> web.Response:
        LOG.info("%s %s: %s", refused.status, _request_text(request), inert(refused.error[:300]))
        return refusal(refused)


class _BodyReservation:
    """One request's share of the bytes in flight: all it announces at once, or the bytes received so far."""

    def __init__(self, gate: RewardGate, announced: int) -> None:
        self._gate, self._announced = gate, announced
        self.taken = 0

    def require(self, size: int) -> None:
        """Reserve room for the bytes.

        Raises:
            Refused: A body is never so large, or there is no room now.
        """
        size = max(size, self._announced)
        rules = self._gate.rules
        if size > rules.max_body:
            raise RequestRefused(
                413, f"At most {rules.max_body:,} bytes are accepted per request ({opt.max_body}).", closes=True
            )
        if not self._gate.has_room(size - self.taken):
            raise RequestRefused(503, "Too many requests are in progress. Try again soon.", closes=True)
        self._gate.take(size - self.taken)
        self.taken = size


def name_of(host: str) -> str:
    """Return the name in a Host header, without a port and in lower case; "" if there is none."""
    found = _HOST.fullmatch(host.lower())
    return found["name"].rstrip(".") if found else ""


def _request_text(request: web.Request) -> str:
    return f"{inert(request.path[:100])} from {request.remote}"
