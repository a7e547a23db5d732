"""Shared by the servers: a listening socket, a connection limit, and a log without tracebacks for non-HTTP traffic."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from workbench.app.web.serve.addresses import Address
from workbench.core.errors import UsageError, opt


def listen(address: Address, *, shared: bool = False) -> socket.socket:
    """Return a socket listening on the address.

    Args:
        shared: Whether other processes may listen on the same port.

    Raises:
        UsageError: The address is not available.
    """
    try:
        family, *_, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(place[:2], family=family, backlog=128, reuse_port=shared)
    except (OSError, OverflowError, UnicodeError) as error:
        hint = f"Is a server already running? Use another port: {opt.port:N}."
        raise UsageError(f"{address.host} port {address.port} is not available: {error}.", hint) from error


class Connections:
    """Accepts a server's connections up to a limit; beyond it, the oldest connection without a login or token is
    closed.

    Args:
        known: Connections with a valid login or token -> the person's name; they are kept.
        most: Maximum number of connections.
        full: Reply to a connection beyond the limit if no other can be closed.
        share: Number of connections guaranteed to one person; a person's oldest connections beyond it are closed if
            needed.
    """

    def __init__(
        self,
        server: web.Server,
        known: dict[web.RequestHandler, str],
        most: int,
        full: bytes = b"",
        share: int | None = None,
    ) -> None:
        self._server, self._known, self._most, self._full, self._share = server, known, most, full, share

    def __call__(self) -> asyncio.BaseProtocol:
        found = [one for one in self._server.connections if one.transport and not one.transport.is_closing()]
        for gone in self._known.keys() - set(found):
            del self._known[gone]
        if len(found) >= self._most:
            given_up = next((one for one in found if one not in self._known), None) or self._oldest_beyond_share()
            if given_up is None or given_up.transport is None:
                return _RejectingProtocol(self._full)
            given_up.transport.abort()
        return self._server()

    def _oldest_beyond_share(self) -> web.RequestHandler | None:
        if self._share is None:
            return None
        ((who, many),) = Counter(self._known.values()).most_common(1)
        return next(one for one, name in self._known.items() if name == who) if many > self._share else None


class _RejectingProtocol(asyncio.Protocol):
    def __init__(self, said: bytes) -> None:
        self._said = said

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._said)
        transport.close()


@asynccontextmanager
async def serving_on(
    listening: socket.socket,
    application: web.Application,
    log: logging.Logger,
    connections: Callable[[web.Server], Connections],
    **settings: Any,
) -> AsyncIterator[asyncio.Server]:
    """Serve an application on a socket as long as the context; yield what accepts connections.

    Args:
        log: Gets errors of HTTP.
        connections: Accepts the connections of a server.
        settings: Further settings of aiohttp's server.
    """
    # What is sent all the same to a request that was denied is not waited for.
    runner = web.AppRunner(application, handle_signals=False, access_log=None, logger=log, lingering_time=0, **settings)
    await runner.setup()
    try:
        assert runner.server is not None
        accepting = await asyncio.get_running_loop().create_server(connections(runner.server), sock=listening)
        with closing(accepting):
            yield accepting
    finally:
        await runner.cleanup()


def without_traces(log: logging.Logger) -> None:
    """Make a log report non-HTTP input in one line at level INFO."""
    log.addFilter(_shorten_traceback)


def _shorten_traceback(record: logging.LogRecord) -> bool:
    if record.exc_info and isinstance(record.exc_info[1], HttpProcessingError):
        record.exc_info, record.levelno, record.levelname = None, logging.INFO, "INFO"
    return True
