"""One request over HTTP: bytes out, bytes back, within bounds of time and size.

httpx's own connection pool walks all connections at every request, so aiohttp carries the requests under httpx's
interface (``bench/calling.py`` compares). The transport is called without httpx's client around it: that would add
cookies, redirects and proxies from the environment, none of which a call with a key may follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from workbench.llm.clock import Awake
from workbench.llm.failures import AttemptFailed, malformed

if TYPE_CHECKING:
    import httpx


LONGEST_REPLY = 4 * 2**20
"""Bytes; a longer reply isn't read. As many are held at once as calls are in flight."""
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
        awake: What its limits are reckoned by.
    """

    def __init__(self) -> None:
        self.awake = Awake()

    async def __aenter__(self) -> Transport:
        import aiohttp
        import httpx
        from httpx_aiohttp import AiohttpTransport

        self._request = httpx.Request
        # A run has few addresses; to take one apart costs a tenth of a call.
        self._address = lru_cache(maxsize=64)(httpx.URL)
        context = httpx.create_ssl_context(trust_env=False)
        connector = aiohttp.TCPConnector(limit=0, ssl=context)
        session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)
        self._transport: httpx.AsyncBaseTransport = AiohttpTransport(client=session, verify=context)
        await self.awake.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.awake.__aexit__()
        await self._transport.aclose()

    async def send(
        self, url: str, headers: Mapping[str, str], body: bytes | None, timeout_s: float, longest: int = LONGEST_REPLY
    ) -> Received:
        """A response, whatever its status.

        Args:
            body: What to post; None gets.
            timeout_s: For all of it, in seconds in which this process was at work.

        Raises:
            AttemptFailed: There is none, or not a whole one (``timeout``, ``transport``, ``malformed``).
        """
        import aiohttp
        import httpx

        extensions = {"timeout": {"connect": min(CONNECT_S, timeout_s), "read": None, "write": None, "pool": None}}
        request = self._request(
            "GET" if body is None else "POST",
            self._address(url),
            headers=dict(headers),
            content=body,
            extensions=extensions,
        )
        try:
            async with self.awake.timeout(timeout_s):
                response = await self._transport.handle_async_request(request)
                try:
                    return Received(response.status_code, _lower(response), await _content(response, longest))
                finally:
                    await response.aclose()
        except TimeoutError:
            raise AttemptFailed("timeout", f"no whole reply within {timeout_s:g} s") from None
        except (httpx.HTTPError, aiohttp.ClientError, OSError) as error:
            raise _failure(error) from None


def _lower(response: httpx.Response) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}


async def _content(response: httpx.Response, longest: int) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise malformed("the reply is compressed although the request refused that")
    chunks: list[bytes] = []
    size = 0
    async for chunk in cast("httpx.AsyncByteStream", response.stream):
        size += len(chunk)
        if size > longest:
            raise malformed(f"the reply is longer than {longest} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _failure(error: Exception) -> AttemptFailed:
    """What an error of the transport means; aiohttp's own, behind httpx's, tells more."""
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
