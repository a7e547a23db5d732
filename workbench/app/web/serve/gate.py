"""Who is let through: the right host, the right page, and a login; one way in, by a link that works once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable

from aiohttp import web

from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.pages import OPEN_FILES, page
from workbench.core.errors import WorkbenchError
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.labelling import tokens

# -- A limit on attempts that fail.


class Throttle:
    """Counts failures by who had them, and remembers only so many.

    Args:
        most: Failures within ``window_s`` after which someone has to wait.
        size: How many different ones are remembered; the longest quiet is forgotten.
    """

    def __init__(
        self,
        *,
        most: int = 10,
        window_s: float = 60.0,
        size: int = 1_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._window_s, self._size, self._clock = most, window_s, size, clock
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def is_closed(self, who: str) -> bool:
        """Whether they have to wait."""
        failures = self._failures.get(who)
        if failures is None:
            return False
        while failures and failures[0] <= self._clock() - self._window_s:
            failures.popleft()
        return len(failures) >= self._most

    def failed(self, who: str) -> None:
        """Note a failure."""
        self._failures.setdefault(who, deque(maxlen=self._most)).append(self._clock())
        self._failures.move_to_end(who)
        if len(self._failures) > self._size:
            self._failures.popitem(last=False)


LOG = logging.getLogger("workbench.serve")
NAME = web.RequestKey("name", str)
LOGIN = web.RequestKey("login", str)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_OPEN = {"/enter", *OPEN_FILES}
_BODY_S = 10.0
LARGEST_BODY = 1_024
"""Bytes; a link's token has 43."""
_REFUSED = "This link is not valid, or was used already. Ask for a new one."


class ServeGate:
    """Checks every request before anything else sees it.

    Attributes:
        known: Connections that a login has come over.
    """

    def __init__(self, project: Project, address: Address) -> None:
        self._project = project
        self._address = address
        self._throttle = Throttle()
        self.known: set[web.RequestHandler] = set()
        prefix = "__Host-" if address.is_secure else ""
        # Cookies are kept by host, whatever the port.
        self._cookie = f"{prefix}workbench-{address.port}"

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Let a request through to its handler, with the person's name; refuse it otherwise."""
        if not self._address.answers_to(_header(request, "Host")):
            return _refuse(request, 421, "another host", "This server has another name.")
        try:
            if request.path in _OPEN:
                return await handler(request)
            login = request.cookies.get(self._cookie, "")
            name = tokens.who(self._project, login)
            if name is None:
                LOG.info("403 %s from %s: no login", _shown(request.path), request.remote)
                return page("refused", 403)
            request[NAME], request[LOGIN] = name, login
            self.known.add(request.protocol)
            return await handler(request)
        except WorkbenchError as error:
            return _refuse(request, 503, str(error), "The database can't be used at the moment. Try again.")

    def from_own_page(self, request: web.Request) -> bool:
        """Whether a page of this server sends the request; the others' cookies come with theirs too."""
        return self._address.trusts(request.headers.get("Origin"), _header(request, "Host"))

    async def enter(self, request: web.Request) -> web.StreamResponse:
        """Exchange the link in the body for a cookie."""
        peer = request.remote or ""
        if not self.from_own_page(request):
            return _refuse(request, 403, "another origin", _REFUSED)
        if request.content_length is None or request.content_length > LARGEST_BODY:
            return _refuse(request, 413, "a large body", _REFUSED)
        try:
            link = (await asyncio.wait_for(request.read(), _BODY_S)).decode("ascii", "replace")
        except (TimeoutError, ConnectionError):
            return _refuse(request, 408, "a slow body", _REFUSED)
        earlier = request.cookies.get(self._cookie, "")
        found = await asyncio.to_thread(tokens.enter, self._project, link, earlier)
        if found is None:
            # A link that is good is let in all the same: behind a proxy everybody has one address, and a token of 256
            # bits is not found by guessing.
            if self._throttle.is_closed(peer):
                return _refuse(request, 429, "too many failures", "Too many attempts. Wait a minute.")
            self._throttle.failed(peer)
            return _refuse(request, 403, "no valid link", _REFUSED)
        LOG.info("%s has come in from %s", inert(found.name), request.remote)
        self.known.add(request.protocol)
        response = web.Response(status=204)
        response.set_cookie(
            self._cookie,
            found.token,
            max_age=tokens.LOGIN_S,
            path="/",
            secure=self._address.is_secure,
            httponly=True,
            samesite="Strict",
        )
        return response


def _refuse(request: web.Request, status: int, why: str, text: str) -> web.Response:
    LOG.info("%s %s from %s: %s", status, _shown(request.path), request.remote, inert(why))
    return web.Response(status=status, text=text)


def _shown(path: str) -> str:
    return inert(path[:100])


def _header(request: web.Request, name: str) -> str:
    return request.headers.get(name, "")
