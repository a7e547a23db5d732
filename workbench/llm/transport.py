"""Send single HTTP requests, limited in time and in the size of the response.

httpx's own connection pool walks all connections at every request, so aiohttp carries the requests behind httpx's
interface (``bench/calling.py`` compares them). The transport is called without httpx's client, which would add cookies,
redirects and proxies from the environment; a call with a key must not follow these by default.
"""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import AsyncIterable, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from workbench.llm.failures import AttemptFailed, malformed
from workbench.llm.records import RESUME, Halt
from workbench.llm.server import DIRECT, FROM_ENVIRONMENT, Route

if TYPE_CHECKING:
    import httpx


MAX_REPLY_BYTES = 16 * 2**20
"""Maximum size of a reply in bytes. As many replies are in memory as calls are in flight.

2,048 tokens with 20 likely alternatives each are 10 MB as OpenAI indents them.
"""
MAX_HEADER_BYTES = 64 * 1024
"""Maximum size of a header in bytes, as in other clients: gateways put cookies and policies there."""
MAX_HEADERS = 1000
"""Maximum number of headers: a LiteLLM proxy adds its own to those of the server behind it."""
CONNECT_S = 15.0
"""Longest wait for a connection in seconds."""


class Received(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests; an async context manager."""

    async def __aenter__(self) -> Transport:
        import httpx

        self._request = httpx.Request
        # A run has few addresses; parsing one costs a tenth of a call.
        self._address = lru_cache(maxsize=64)(httpx.URL)
        self._through: dict[Route, httpx.AsyncBaseTransport] = {}
        return self

    async def __aexit__(self, *_: object) -> None:
        for transport in self._through.values():
            await transport.aclose()

    def _pool_for_route(self, route: Route, url: str) -> httpx.AsyncBaseTransport:
        """Return the connection pool of a route; different routes share no connections.

        Raises:
            AttemptFailed: The proxy is invalid.
            Halt: The file of certificates can't be read.
        """
        import aiohttp
        import httpx
        from httpx_aiohttp import AiohttpTransport

        if route.proxy == FROM_ENVIRONMENT:
            route = Route(ca_file=route.ca_file, proxy=_proxy_from_environment(url))
        if route not in self._through:
            context = httpx.create_ssl_context(trust_env=False)
            if route.ca_file is not None:
                try:
                    context = ssl.create_default_context(cafile=Path(route.ca_file).expanduser())
                except OSError as error:
                    words = f"The certificates in {route.ca_file} can't be used: {error.strerror or error}."
                    raise Halt("internal", f"{words} Check ca_file, then {RESUME}.") from None
            connector = aiohttp.TCPConnector(limit=0, ssl=context)
            session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
                max_field_size=MAX_HEADER_BYTES,
                max_headers=MAX_HEADERS,
            )
            proxy = None if route.proxy is None else httpx.Proxy(route.proxy)
            self._through[route] = AiohttpTransport(client=session, verify=context, proxy=proxy)
        return self._through[route]

    async def send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None,
        timeout_s: float,
        longest: int = MAX_REPLY_BYTES,
        route: Route = DIRECT,
        sink: BinaryIO | None = None,
    ) -> Received:
        """Send a request and return the response, whatever its status.

        Args:
            body: The content to POST; None sends a GET. If the body comes in pieces, the headers have its length.
            timeout_s: Timeout of the whole request in seconds.
            route: The network route.
            sink: Receives the body of a successful response instead of the result.

        Raises:
            AttemptFailed: No response, or an incomplete one, was received (``timeout``, ``transport``, ``malformed``).
            Halt: This process can't send requests (no descriptor left, a full disk).
            OSError: A file of this program can't be used.
        """
        import aiohttp
        import httpx

        extensions = {"timeout": {"connect": min(CONNECT_S, timeout_s), "read": None, "write": None, "pool": None}}
        if isinstance(body, bytes):
            # aiohttp adds the same headers as httpx would.
            request = self._request(
                "POST", self._address(url), headers=headers, stream=httpx.ByteStream(body), extensions=extensions
            )
            request.read()
        else:
            request = self._request(
                "GET" if body is None else "POST",
                self._address(url),
                headers=headers,
                content=body,
                extensions=extensions,
            )
        try:
            async with _TimeLimit(timeout_s):
                response = await self._pool_for_route(route, url).handle_async_request(request)
                try:
                    if sink is not None and response.is_success:
                        await _copy_body(response, longest, sink)
                        body = b""
                    else:
                        body = await _read_body(response, longest)
                    fields = {
                        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw
                    }
                    return Received(response.status_code, fields, body)
                finally:
                    await response.aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                # An error about a file is a fault of this program: sockets have no name.
                raise
            if (own := _local_problem(error)) is not None:
                raise Halt("internal", own) from error
            raise _attempt_failure(error) from None


class _TimeLimit:
    """A timeout that raises the transport's error. A class: every call needs one, and a generator costs more."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._limit = seconds, asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise AttemptFailed("timeout", f"no whole reply within {self._seconds:g} s") from None


def _proxy_from_environment(url: str) -> str | None:
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


async def _read_body(response: httpx.Response, longest: int) -> bytes:
    import aiohttp
    import httpx

    taken = BytesIO()
    try:
        await _copy_body(response, longest, taken)
    except (AttemptFailed, httpx.HTTPError, aiohttp.ClientError):
        if response.is_success:
            raise
    return taken.getvalue()


async def _copy_body(response: httpx.Response, longest: int, sink: BinaryIO) -> None:
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > longest:
            raise malformed(f"the reply is longer than {longest} bytes")
        sink.write(chunk)


_OWN = {
    errno.EMFILE: "raise its limit (ulimit -n), or lower concurrency",
    errno.ENFILE: "close other programs, or lower concurrency",
    errno.ENOMEM: "give it more memory, or lower concurrency",
    errno.ENOBUFS: "give it more memory, or lower concurrency",
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.EROFS: "make its disk writable",
    errno.EIO: "check its disk",
}
"""Errors of this machine, not of a server -> the remedy."""


def _local_problem(error: BaseException) -> str | None:
    import aiohttp

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, aiohttp.ClientConnectorDNSError):
            # Without descriptors the system reports a look-up as any error: no such name, an invalid argument.
            try:
                os.close(os.open(os.devnull, os.O_RDONLY))
            except OSError as lacking:
                cause = lacking
        if isinstance(cause, OSError) and cause.errno in _OWN:
            return (
                f"This program can't call a server: {os.strerror(cause.errno)}. That is not a fault of the server: "
                f"{_OWN[cause.errno]}, then {RESUME}."
            )
        cause = getattr(cause, "os_error", None) or cause.__cause__
    return None


def _attempt_failure(error: Exception) -> AttemptFailed:
    import aiohttp
    import httpx

    cause = error.__cause__ or error
    match cause:
        case _ if isinstance(error, httpx.DecodingError):
            return malformed(f"the reply can't be unpacked: {error}")
        case aiohttp.ClientConnectorDNSError():
            return AttemptFailed("transport", "the host's name can't be resolved", unreachable=True)
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientSSLError():
            return AttemptFailed("transport", "no secure connection (TLS) can be made", unreachable=True)
        case aiohttp.ConnectionTimeoutError():
            return AttemptFailed("timeout", "no connection within the time", unreachable=True)
        case aiohttp.ClientConnectorError() if isinstance(cause.os_error, ConnectionRefusedError):
            return AttemptFailed("transport", "connection refused: nothing listens there", unreachable=True)
        case aiohttp.ClientConnectorError():
            return AttemptFailed("transport", "no connection can be made", unreachable=True)
        case aiohttp.ServerTimeoutError():
            return AttemptFailed("timeout", "no reply within the time")
        case aiohttp.ServerDisconnectedError():
            return AttemptFailed("transport", "the server closed the connection without a reply")
        case aiohttp.ClientPayloadError():
            return AttemptFailed("transport", "the reply was cut off")
        case aiohttp.ClientResponseError() | aiohttp.http_exceptions.HttpProcessingError():
            return AttemptFailed("transport", "what came back is not HTTP")
    return AttemptFailed("transport", f"the connection failed ({type(cause).__name__})")
