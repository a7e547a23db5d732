"""The server: its pages and their headers, routes, periodic checks while it runs, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

from aiohttp import web
from msgspec import structs

from workbench.app.web.listening import Connections, listen, serving_on, without_traces
from workbench.app.web.serve import app_process
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.sessions import Connection, Sessions
from workbench.core.errors import WorkbenchError
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.labelling import tokens

_OWN = Path(__file__).parent / "static"
_THEIRS = Path(str(files("textual_serve"))) / "static"

OPEN_FILES = {f"/static/{name}": _OWN / name for name in ("page.css", "icon.svg", "enter.js")}
"""Files of the login page; anyone may load them."""

FILES = {
    "/static/app.js": _OWN / "app.js",
    "/static/textual.js": _THEIRS / "js" / "textual.js",
    "/static/xterm.css": _THEIRS / "css" / "xterm.css",
    "/static/mono.ttf": _THEIRS / "fonts" / "RobotoMono-VariableFont_wght.ttf",
}
"""Files of the app's page; for logged-in people only."""

HEADERS = {
    # xterm makes style elements for its cursor and selection; no page has a text in it that is not in these files.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), clipboard-read=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Server": "workbench",
}
"""Headers of every response."""


FILE_HEADERS = {"Cache-Control": "private, max-age=3600"}
"""A browser may cache the files for an hour."""


async def protect(_: web.Request, response: web.StreamResponse) -> None:
    """Add the security headers (an aiohttp signal, also sent for refusals)."""
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers["Server"] = HEADERS["Server"]


def page(name: str, status: int = 200) -> web.Response:
    """Return one of the pages; they are the same for everyone."""
    text = (_OWN / f"{name}.html").read_text(encoding="utf-8")
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8")


# -- Who is let through: the right host, the right page, and a login; one way in, by a link that works once.


NAME = web.RequestKey("name", str)
LOGIN = web.RequestKey("login", str)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_OPEN = {"/enter", *OPEN_FILES}
_BODY_S = 10.0
LARGEST_BODY = 1_024
"""Maximum bytes of a body; a link's token has 43."""
_REFUSED = "This link is not valid, or was used already. Ask for a new one."


class ServeGate:
    """Checks every request before its handler gets it.

    Attributes:
        known: Connections with a login -> the person's name.
    """

    def __init__(self, project: Project, address: Address) -> None:
        self._project = project
        self._address = address
        self.known: dict[web.RequestHandler, str] = {}
        prefix = "__Host-" if address.is_secure else ""
        # Cookies are kept by host, whatever the port.
        self._cookie = f"{prefix}workbench-{address.port}"

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Pass a request to its handler with the person's name, or deny it."""
        if not self._address.answers_to(_header(request, "Host")):
            return _deny(request, 421, "another host", "This server has another name.")
        try:
            if request.path in _OPEN:
                return await handler(request)
            login = request.cookies.get(self._cookie, "")
            name = tokens.name_of_login(self._project, login)
            if name is None:
                LOG.info("403 %s from %s: no login", _path_text(request.path), request.remote)
                return page("refused", 403)
            request[NAME], request[LOGIN] = name, login
            self.known.setdefault(request.protocol, name)
            return await handler(request)
        except WorkbenchError as error:
            return _deny(request, 503, str(error), "The database can't be used at the moment. Try again.")

    def from_own_page(self, request: web.Request) -> bool:
        """Tell whether a page of this server sends the request; requests of foreign pages carry cookies too."""
        return self._address.trusts(request.headers.get("Origin"), _header(request, "Host"))

    async def enter(self, request: web.Request) -> web.StreamResponse:
        if not self.from_own_page(request):
            return _deny(request, 403, "another origin", _REFUSED)
        if request.content_length is None or request.content_length > LARGEST_BODY:
            return _deny(request, 413, "a large body", _REFUSED)
        try:
            link = (await asyncio.wait_for(request.read(), _BODY_S)).decode("ascii", "replace")
        except (TimeoutError, ConnectionError):
            return _deny(request, 408, "a slow body", _REFUSED)
        earlier = request.cookies.get(self._cookie, "")
        found = await asyncio.to_thread(tokens.redeem_link, self._project, link, earlier)
        if found is None:
            # Attempts are not counted: a token of 256 bits is not found by guessing.
            return _deny(request, 403, "no valid link", _REFUSED)
        LOG.info("%s has come in from %s", inert(found.name), request.remote)
        self.known[request.protocol] = found.name
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


def _deny(request: web.Request, status: int, why: str, text: str) -> web.Response:
    LOG.info("%s %s from %s: %s", status, _path_text(request.path), request.remote, inert(why))
    return web.Response(status=status, text=text)


def _path_text(path: str) -> str:
    return inert(path[:100])


def _header(request: web.Request, name: str) -> str:
    return request.headers.get(name, "")


LOG = logging.getLogger("workbench.serve")
HTTP_LOG = logging.getLogger("workbench.serve.http")
HEARTBEAT_S = 15.0
"""Seconds between pings to a page."""
WATCH_S = 5.0
"""Seconds between checks for revoked logins."""
IDLE_S = 30.0
"""Seconds a connection may be idle without a request."""
MOST_CONNECTIONS = 500
"""Maximum connections: a process usually has about a thousand descriptors, and each app uses some."""
CONNECTIONS_PER_PERSON = 16
"""Connections guaranteed per person; a browser opens six, and one for each window."""
_SHUTDOWN_S = 2.0


without_traces(HTTP_LOG)


class AppServer:
    """The app for everyone with a login.

    Args:
        command: Returns the command that runs the app for a person.
        most: Maximum number of people at work.
    """

    def __init__(self, project: Project, address: Address, command: Callable[[str], Sequence[str]], most: int) -> None:
        self._project = project
        self._gate = ServeGate(project, address)
        self._sessions = Sessions(command, most)

    @property
    def known(self) -> dict[web.RequestHandler, str]:
        return self._gate.known

    def application(self) -> web.Application:
        """Return the routes; each file has its own, so no path is built from input."""
        application = web.Application(middlewares=[self._gate.check], client_max_size=LARGEST_BODY)
        application.on_response_prepare.append(protect)
        router = application.router
        router.add_get("/", _answering(partial(page, "app")))
        router.add_get("/enter", _answering(partial(page, "enter")))
        router.add_post("/enter", self._gate.enter)
        router.add_get("/ws", self._socket, allow_head=False)
        for path, place in (OPEN_FILES | FILES).items():
            router.add_get(path, _answering(partial(web.FileResponse, place, headers=FILE_HEADERS)))
        return application

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        name = request[NAME]
        if not self._gate.from_own_page(request):
            LOG.warning("403 /ws for %s: from %s", inert(name), inert(request.headers.get("Origin", "nowhere")[:100]))
            return web.Response(status=403, text="Only the page of this server may do this.")
        try:
            size = app_process.size_of(request.query)
        except ValueError:
            return web.Response(status=400, text="Give width and height.")
        response = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=app_process.MAX_MESSAGE, compress=False)
        await response.prepare(request)
        await self._sessions.run(Connection(request, response, name, request[LOGIN]), size)
        return response

    async def watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_S)
            try:
                self._sessions.check(partial(tokens.name_of_login, self._project))
            except WorkbenchError as error:
                LOG.warning("logins can't be checked: %s", inert(str(error)))

    async def close(self) -> None:
        await self._sessions.close()


def _answering(answer: Callable[[], web.StreamResponse]) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return answer()

    return handler


@contextlib.asynccontextmanager
async def serving(
    project: Project, address: Address, command: Callable[[str], Sequence[str]], most: int
) -> AsyncIterator[Address]:
    """Run a server as long as the context; yield the address with the actual port.

    Raises:
        UsageError: The port is not available.
    """
    # Links carry the port, so it is had before the routes are made.
    with listen(address) as listening:
        address = structs.replace(address, port=listening.getsockname()[1])
        server = AppServer(project, address, command, most)
        async with serving_on(
            listening,
            server.application(),
            HTTP_LOG,
            partial(Connections, known=server.known, most=MOST_CONNECTIONS, share=CONNECTIONS_PER_PERSON),
            keepalive_timeout=IDLE_S,
            shutdown_timeout=_SHUTDOWN_S,
            # Nothing large is ever accepted.
            read_bufsize=4_096,
        ):
            watching = asyncio.create_task(server.watch())
            try:
                yield address
            finally:
                watching.cancel()
                await server.close()


def serve(
    project: Project,
    address: Address,
    command: Callable[[str], Sequence[str]],
    most: int,
    on_ready: Callable[[Address], None],
) -> None:
    """Serve until SIGINT or SIGTERM; for the arguments see `AppServer`.

    Args:
        on_ready: Called with the address once connections are accepted.

    Raises:
        UsageError: The port is not available.
    """

    async def until_signalled() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with serving(project, address, command, most) as found:
            on_ready(found)
            await ended.wait()

    asyncio.run(until_signalled())
