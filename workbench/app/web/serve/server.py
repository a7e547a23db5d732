"""The server: routes, what it looks after while it runs, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path

from aiohttp import web
from msgspec import structs

from workbench.app.web.listening import Connections, listen, without_traces
from workbench.app.web.serve import app_process, pages
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.gate import LARGEST_BODY, LOGIN, NAME, Handler, ServeGate
from workbench.app.web.serve.sessions import Connection, Sessions
from workbench.core.errors import WorkbenchError
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.labelling import tokens

LOG = logging.getLogger("workbench.serve")
HTTP_LOG = logging.getLogger("workbench.serve.http")

HEARTBEAT_S = 15.0
"""How often a page is asked whether it is there."""

WATCH_S = 5.0
"""How often it is looked for logins that are good no more."""

IDLE_S = 30.0
"""How long a connection may stand without a request."""

MOST_CONNECTIONS = 500
"""A process may usually have about a thousand descriptors, and each app takes some."""

_SHUTDOWN_S = 2.0


without_traces(HTTP_LOG)


class AppServer:
    """The app for everyone who has a login.

    Args:
        command: The command that runs the app for a person.
        most: How many people may be at work at once.
    """

    def __init__(self, project: Project, address: Address, command: Callable[[str], Sequence[str]], most: int) -> None:
        self._project = project
        self._gate = ServeGate(project, address)
        self._sessions = Sessions(command, most)

    @property
    def known(self) -> set[web.RequestHandler]:
        """Connections that a login has come over."""
        return self._gate.known

    def application(self) -> web.Application:
        """The routes; each file has its own, so that there is no path to make up."""
        application = web.Application(middlewares=[self._gate.check], client_max_size=LARGEST_BODY)
        application.on_response_prepare.append(pages.protect)
        router = application.router
        router.add_get("/", _page("app"))
        router.add_get("/enter", _page("enter"))
        router.add_post("/enter", self._gate.enter)
        router.add_get("/ws", self._socket, allow_head=False)
        for path, place in (pages.OPEN_FILES | pages.FILES).items():
            router.add_get(path, _file(place))
        return application

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """The socket of the app's page: only from that page, whose cookie came with it."""
        name = request[NAME]
        if not self._gate.from_own_page(request):
            LOG.warning("403 /ws for %s: from %s", inert(name), inert(request.headers.get("Origin", "nowhere")[:100]))
            return web.Response(status=403, text="Only the page of this server may do this.")
        try:
            size = app_process.size_of(request.query)
        except ValueError:
            return web.Response(status=400, text="Give width and height.")
        response = web.WebSocketResponse(heartbeat=HEARTBEAT_S, max_msg_size=app_process.LARGEST, compress=False)
        await response.prepare(request)
        await self._sessions.run(Connection(request, response, name, request[LOGIN]), size)
        return response

    async def watch(self) -> None:
        """Look after logins that were revoked, for ever."""
        while True:
            await asyncio.sleep(WATCH_S)
            try:
                self._sessions.check(partial(tokens.who, self._project))
            except WorkbenchError as error:
                LOG.warning("logins can't be checked: %s", inert(str(error)))

    async def close(self) -> None:
        """End everyone's app."""
        await self._sessions.close()


def _page(name: str) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return pages.page(name)

    return handler


def _file(place: Path) -> Handler:
    async def handler(_: web.Request) -> web.StreamResponse:
        return pages.file(place)

    return handler


@contextlib.asynccontextmanager
async def serving(
    project: Project, address: Address, command: Callable[[str], Sequence[str]], most: int
) -> AsyncIterator[Address]:
    """A server that runs as long as the context; gives the address with the port it has got.

    Raises:
        UsageError: The port can't be had.
    """
    # Links carry the port, so it is had before the routes are made.
    with listen(address) as listening:
        address = structs.replace(address, port=listening.getsockname()[1])
        server = AppServer(project, address, command, most)
        runner = web.AppRunner(
            server.application(),
            handle_signals=False,
            access_log=None,
            logger=HTTP_LOG,
            keepalive_timeout=IDLE_S,
            shutdown_timeout=_SHUTDOWN_S,
            # Nothing large is ever taken: what is sent all the same is not waited for and hardly buffered.
            lingering_time=0,
            read_bufsize=4_096,
        )
        await runner.setup()
        watching = asyncio.create_task(server.watch())
        try:
            assert runner.server is not None
            connections = Connections(runner.server, server.known, MOST_CONNECTIONS)
            taking = await asyncio.get_running_loop().create_server(connections, sock=listening)
            with contextlib.closing(taking):
                yield address
        finally:
            watching.cancel()
            await server.close()
            await runner.cleanup()


def serve(
    project: Project,
    address: Address,
    command: Callable[[str], Sequence[str]],
    most: int,
    on_ready: Callable[[Address], None],
) -> None:
    """Serve until SIGINT or SIGTERM; for the arguments see `AppServer`.

    Args:
        on_ready: Called with the address when connections are taken.

    Raises:
        UsageError: The port can't be had.
    """

    async def until_told() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        async with serving(project, address, command, most) as found:
            on_ready(found)
            await ended.wait()

    asyncio.run(until_told())
