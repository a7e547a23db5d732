"""Who is let through: the right host or token, a body of a type and size that is taken, while there is room for it."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from aiohttp import web
from msgspec import Struct

from workbench.render.inert import inert
from workbench.web.reward.refusing import Refused, refusal
from workbench.web.serve.addresses import Address

LOG = logging.getLogger("workbench.reward")

BODY_S = 30.0
"""Seconds a body may take to come."""

MOST_BODIES = 128 << 20
"""Bytes at most of the bodies of requests under way."""

HEALTH = "/health"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Rules(Struct, frozen=True, kw_only=True):
    """What requests have to keep to.

    Attributes:
        token: What they must bring as ``Authorization: Bearer``; None if they need none.
        max_body: Bytes at most of a body.
    """

    address: Address
    token: str | None
    max_body: int


class Gate:
    """Checks every request before anything else sees it, and knows how many are under way.

    Attributes:
        stopping: Nothing more is taken.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._bodies = 0
        self._under_way = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.stopping = False

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a request through to its handler; refuse it otherwise, and whatever goes wrong there."""
        try:
            with self._one_more():
                self._require_known(request)
                return await handler(request)
        except Refused as refused:
            return self._refuse(request, refused)
        except web.HTTPException as error:
            return self._refuse(request, Refused(error.status, f"{error.reason}."))
        except Exception as error:
            LOG.error("%s: %s", _shown(request), inert(f"{type(error).__name__}: {error}"[:300]))
            return self._refuse(request, Refused(500, "The server failed on this request.", closes=True))

    async def body(self, request: web.Request) -> bytes:
        """The body of a request that is taken, once all of it is there.

        Raises:
            Refused: It is of another type, too large or too slow, there is no room for it, or the server stops.
        """
        if self.stopping:
            raise Refused(503, "The server stops. Ask again soon.", closes=True)
        if request.content_type != "application/json" or "Content-Encoding" in request.headers:
            raise Refused(415, "Send plain JSON: Content-Type: application/json.", closes=True)
        length = request.content_length
        if length is None:
            raise Refused(411, "Give a Content-Length.", closes=True)
        if length > self._rules.max_body:
            raise Refused(413, f"At most {self._rules.max_body:,} bytes are taken at a time.", closes=True)
        if self._bodies + length > MOST_BODIES:
            raise Refused(503, "Too much is under way. Ask again soon.", closes=True)
        self._bodies += length
        try:
            async with asyncio.timeout(BODY_S):
                return await request.read()
        except (TimeoutError, ConnectionError, web.RequestPayloadError) as error:
            raise Refused(408, "The body did not come.", closes=True) from error
        finally:
            self._bodies -= length

    async def until_idle(self) -> None:
        """Wait until every request that was taken is answered."""
        await self._idle.wait()

    @contextmanager
    def _one_more(self) -> Iterator[None]:
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._idle.set()

    def _require_known(self, request: web.Request) -> None:
        """Refuse pages of others, who can reach this machine through a browser, and whoever has no token."""
        if self._rules.token is None:
            if not self._rules.address.answers_to(request.headers.get("Host", "")):
                raise Refused(421, "This server has another name.", closes=True)
        elif request.path != HEALTH:
            given = request.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
            if not hmac.compare_digest(given, f"Bearer {self._rules.token}".encode()):
                raise Refused(401, "Give the server's token: Authorization: Bearer …", closes=True)

    def _refuse(self, request: web.Request, refused: Refused) -> web.Response:
        LOG.info("%s %s: %s", refused.status, _shown(request), inert(refused.error[:300]))
        return refusal(refused)


def _shown(request: web.Request) -> str:
    return f"{inert(request.path[:100])} from {request.remote}"
