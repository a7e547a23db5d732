"""One request over HTTP: bytes out, bytes back, limited in time and size.

httpx's own connection pool walks all connections at every request, so aiohttp carries the requests under httpx's
interface (``bench/calling.py`` compares). The transport is called without httpx's client around it: that would add
cookies, redirects and proxies from the environment, none of which a call with a key may follow unasked.
"""

from __future__ import annotations

import errno
import os
import ssl
import zlib
from collections.abc import AsyncIterable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import lru_cache, partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from workbench.llm.clock import Awake, AwakeTimeout
from workbench.llm.dialects.streams import unstreamed
from workbench.llm.failures import AttemptFailed, malformed
from workbench.llm.records import RESUME, Halt
from workbench.llm.server import DIRECT, FROM_ENVIRONMENT, Route

if TYPE_CHECKING:
    import httpx


LONGEST_REPLY = 16 * 2**20
"""Bytes; a longer reply isn't read. As many are held at once as calls are in flight.

2,048 tokens with 20 likely alternatives each are 10 MB as OpenAI indents them.
"""
LONGEST_STREAM = 4 * LONGEST_REPLY
"""Each piece of a stream has a frame of its own."""
LONGEST_STREAM_S = 1800.0
"""Longest wait for all of a stream: gateways keep it alive although no server answers behind them."""
LONGEST_HEADER = 64 * 1024
"""Bytes, as other clients take them: gateways put cookies and policies there."""
MOST_HEADERS = 1000
"""A LiteLLM proxy passes on those of the server behind it, in addition to its own."""
CONNECT_S = 15.0
"""Longest wait for a connection."""


class Received(Struct, frozen=True):
    """A whole response; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """Sends requests; open from ``async with`` on.

    Attributes:
        awake: The clock of its timeouts.
    """

    def __init__(self) -> None:
        self.awake = Awake()

    async def __aenter__(self) -> Transport:
        import httpx

        self._request = httpx.Request
        # A run has few addresses; to take one apart costs a tenth of a call.
        self._address = lru_cache(maxsize=64)(httpx.URL)
        self._through: dict[Route, httpx.AsyncBaseTransport] = {}
        await self.awake.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.awake.__aexit__()
        for transport in self._through.values():
            await transport.aclose()

    def _routed(self, route: Route, url: str) -> httpx.AsyncBaseTransport:
        """Return the connections of one route; those of different routes share nothing.

        Raises:
            AttemptFailed: The proxy is invalid.
            Halt: The authorities' certificates can't be read.
        """
        import aiohttp
        import httpx
        from httpx_aiohttp import AiohttpTransport

        if route.proxy == FROM_ENVIRONMENT:
            route = Route(ca_file=route.ca_file, proxy=_environments_proxy(url))
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
                max_field_size=LONGEST_HEADER,
                max_headers=MOST_HEADERS,
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
        longest: int = LONGEST_REPLY,
        route: Route = DIRECT,
        *,
        stream: bool = False,
        sink: BinaryIO | None = None,
    ) -> Received:
        """Send a request and return the response, whatever its status; a stream is folded into one body.

        Args:
            body: The content to POST; None for GET. For a body in pieces the headers give the length.
            timeout_s: For all of it, in seconds in which this process was running.
            route: The network route.
            stream: The timeout is for each piece of a stream, which may be longer.
            sink: Receives the body of a successful response instead of the result.

        Raises:
            AttemptFailed: There is no response, or an incomplete one (``timeout``, ``transport``, ``malformed``).
            Halt: This process itself can't (no descriptor left, a full disk), whatever the server.
            OSError: A file of this program's own can't be used.
        """
        import aiohttp
        import httpx

        extensions = {"timeout": {"connect": min(CONNECT_S, timeout_s), "read": None, "write": None, "pool": None}}
        if isinstance(body, bytes):
            # What httpx would add to the headers aiohttp adds too.
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
            if stream:
                return await self._streamed(request, timeout_s, route)
            async with self._within(timeout_s, "no whole reply"):
                response = await self._routed(route, url).handle_async_request(request)
                try:
                    if sink is not None and response.is_success:
                        await _take(response, longest, sink)
                        return _received(response, b"")
                    return _received(response, await _content(response, longest))
                finally:
                    await response.aclose()
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                # About a file: a fault of this program, as no socket has a name.
                raise
            if (own := _own_trouble(error)) is not None:
                raise Halt("internal", own) from error
            raise _failure(error) from None

    async def _streamed(self, request: httpx.Request, idle_s: float, route: Route) -> Received:
        silence = partial(self._within, idle_s, "nothing more came of the reply")
        async with self._within(max(LONGEST_STREAM_S, idle_s), "no whole reply"):
            async with silence():
                response = await self._routed(route, str(request.url)).handle_async_request(request)
            try:
                return _received(response, await _content(response, LONGEST_STREAM, silence))
            finally:
                await response.aclose()

    def _within(self, seconds: float, otherwise: str) -> _Within:
        return _Within(self.awake.timeout(seconds), f"{otherwise} within {seconds:g} s")


class _Within:
    """A timeout that raises the transport's error; a class, since every call has one and a generator costs more."""

    def __init__(self, limit: AwakeTimeout, otherwise: str) -> None:
        self._limit, self._otherwise = limit, otherwise

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._limit.__aexit__(kind, error, trace)
        except TimeoutError:
            raise AttemptFailed("timeout", self._otherwise) from None


def _received(response: httpx.Response, body: bytes) -> Received:
    headers = _lower(response)
    if 200 <= response.status_code < 300:
        body = unstreamed(body, headers.get("content-type", ""))
        if len(body) > LONGEST_REPLY:
            raise malformed(f"the reply is longer than {LONGEST_REPLY} bytes")
    return Received(response.status_code, headers, body)


def _lower(response: httpx.Response) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}


def _environments_proxy(url: str) -> str | None:
    parts = urlsplit(url)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


async def _content(
    response: httpx.Response,
    longest: int,
    within: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> bytes:
    import aiohttp
    import httpx

    taken = BytesIO()
    try:
        await _take(response, longest, taken, within)
    except (AttemptFailed, httpx.HTTPError, aiohttp.ClientError):
        if response.is_success:
            raise
    return taken.getvalue()


async def _take(
    response: httpx.Response,
    longest: int,
    sink: BinaryIO,
    within: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
) -> None:
    unpacking = _Unpacking(response.headers.get("content-encoding", ""))
    size = 0
    pieces = aiter(cast("httpx.AsyncByteStream", response.stream))
    while True:
        async with within():
            packed = await anext(pieces, None)
        if packed is None:
            break
        # At most this much of the decompressed body is held.
        chunk = unpacking.take(packed, longest - size + 1)
        size += len(chunk)
        if size > longest:
            raise malformed(f"the reply is longer than {longest} bytes")
        sink.write(chunk)
    if not unpacking.is_whole:
        raise AttemptFailed("transport", "the reply was cut off")


class _Unpacking:
    """Decompresses a body by its content: gateways compress and decompress without declaring it."""

    def __init__(self, encoding: str) -> None:
        named = (name.strip() for name in encoding.lower().split(","))
        self._encoding = ", ".join(name for name in named if name in _PACKINGS)
        self._began = False
        self._inner: zlib._Decompress | None = None

    @property
    def is_whole(self) -> bool:
        return self._inner is None or self._inner.eof

    def take(self, packed: bytes, most: int) -> bytes:
        """Decompress the next bytes, up to a maximum.

        Raises:
            AttemptFailed: They can't be decompressed.
        """
        if packed and not self._began:
            self._began, self._inner = True, _unpacker(self._encoding, packed[0])
        if self._inner is None:
            return packed
        try:
            unpacked = self._inner.decompress(packed, most)
            while self._inner.unused_data.startswith(_GZIP) and len(unpacked) < most:
                rest, self._inner = self._inner.unused_data, zlib.decompressobj(zlib.MAX_WBITS | 32)
                unpacked += self._inner.decompress(rest, most - len(unpacked))
        except zlib.error as error:
            raise malformed(f"the reply can't be unpacked: {error}") from None
        return unpacked


_PACKINGS = frozenset({"gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"})
"""Any other declared encoding of a body (``identity``, ``UTF-8``) doesn't change its bytes."""
_GZIP = b"\x1f"
_PLAIN = b"{["
"""How a reply begins."""


def _unpacker(encoding: str, first: int) -> zlib._Decompress | None:
    """Return a decompressor for a body with this first byte; None for one that is not compressed.

    Raises:
        AttemptFailed: It is compressed in another way.
    """
    is_gzip = first == _GZIP[0]
    if first in _PLAIN or (encoding in {"", "gzip", "x-gzip"} and not is_gzip):
        return None
    if encoding not in {"", "gzip", "x-gzip", "deflate"}:
        raise malformed(f"the reply is packed ({encoding!r}) although the request excluded that")
    is_bare = encoding == "deflate" and not is_gzip and (first & 0x8F) != 8
    return zlib.decompressobj(-zlib.MAX_WBITS if is_bare else zlib.MAX_WBITS | 32)


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
"""What this machine lacks, which no server is to blame for -> the remedy."""


def _own_trouble(error: BaseException) -> str | None:
    import aiohttp

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, aiohttp.ClientConnectorDNSError):
            # The system's word for a look-up without descriptors is any: no such name, an invalid argument.
            try:
                os.close(os.open(os.devnull, os.O_RDONLY))
            except OSError as lacking:
                cause = lacking
        if isinstance(cause, OSError) and cause.errno in _OWN:
            return (
                f"This program can't call a server: {os.strerror(cause.errno)}. That is no fault of the server: "
                f"{_OWN[cause.errno]}, then {RESUME}."
            )
        cause = getattr(cause, "os_error", None) or cause.__cause__
    return None


def _failure(error: Exception) -> AttemptFailed:
    import aiohttp

    cause = error.__cause__ or error
    match cause:
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
            return AttemptFailed("transport", "what came back is no HTTP")
    return AttemptFailed("transport", f"the connection failed ({type(cause).__name__})")
