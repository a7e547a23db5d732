"""One request over HTTP: bytes out, bytes back, within bounds of time and size.

httpx's own connection pool walks all connections at every request, so aiohttp carries the requests under httpx's
interface (``bench/calling.py`` compares). The transport is called without httpx's client around it: that would add
cookies, redirects and proxies from the environment, none of which a call with a key may follow.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from workbench.llm.clock import Awake
from workbench.llm.records import CallFailed, FailureCode

if TYPE_CHECKING:
    import httpx


# -- Why an attempt failed: from a server's status, headers and words to one of `FailureCode`.


REPEATED: frozenset[FailureCode] = frozenset({"rate_limit", "server", "timeout", "transport", "malformed"})
"""What may go better the next time; everything else is final."""
_LONGEST_DETAIL = 300
_CONTEXT = re.compile(
    r"context[ _](?:length|window|size)|maximum model length|max_model_len|prompt too long|too many (?:input )?tokens"
    r"|(?:prompt|input|request) is too (?:long|large)|longer than the (?:model's )?(?:maximum|context)",
    re.IGNORECASE,
)
_FILTER = re.compile(r"content_filter|ResponsibleAI|content management policy|moderation|flagged", re.IGNORECASE)
_QUOTA = re.compile(
    r"insufficient_quota|insufficient credits|credit balance|billing_hard_limit|\b(?:per|a)[ -]?day\b"
    r"|daily (?:limit|quota)|\b[RT]PD\b",
    re.IGNORECASE,
)
_BUSY = re.compile(
    r"^loading(?: the)? model"
    r"|\bmodel\b[^.]{0,120}\b(?:is|are|being) (?:currently |still |not yet )*(?:being )?load(?:ing|ed)\b"
    r"|\bstill (?:loading|starting|warming)|\b(?:warming|starting) up\b"
    r"|\bmodel (?:is )?not (?:yet )?(?:ready|loaded yet)"
    r"|\boverloaded(?:_error)?\b|\bwaiting for (?:the )?model\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:fail(?:ed|ure|s)?|unable|cannot|can't|could not|error loading|out of memory|no such)\b", re.I
)
_LONG_KEY = re.compile(r"\b(?:sk|pk|key|rk)[-_][\w*.…-]{6,}|\bBearer\s+\S+")


class AttemptFailed(CallFailed):
    """One attempt failed.

    Attributes:
        status: The HTTP status, if the server answered.
        wait: How many seconds the server asks to wait.
        unreachable: Nothing listens at the address; no item is to blame.
        everywhere: Every call would fail like this one if none has succeeded yet (a wrong key, path or model).
        busy: The server is not ready or has too much to do, and says so: it is waited for.
    """

    def __init__(
        self,
        code: FailureCode,
        detail: str,
        *,
        status: int | None = None,
        wait: float | None = None,
        unreachable: bool = False,
        everywhere: bool = False,
        busy: bool = False,
    ) -> None:
        super().__init__(code, detail)
        self.status = status
        self.wait = wait
        self.unreachable = unreachable
        self.everywhere = everywhere
        self.busy = busy

    @property
    def may_be_repeated(self) -> bool:
        """Whether another attempt may succeed."""
        return self.code in REPEATED


def malformed(detail: str) -> AttemptFailed:
    """A reply that can't be understood; never stored, so that it can be asked for again."""
    return AttemptFailed("malformed", detail, status=200)


def of_response(status: int, headers: Mapping[str, str], body: bytes, wait: float | None) -> AttemptFailed:
    """What a response that is no success means.

    Args:
        headers: By lower-case name.
        wait: The waiting time that the headers ask for, in seconds.
    """
    words = words_of(body)
    if 300 <= status < 400:
        words = f"it sends calls on to {_host(headers)}, which is not followed: a key must not go elsewhere"
    detail = f"HTTP {status}" + (f": {words}" if words else "")
    code = "server" if (busy := _is_busy(status, words)) else _code(status, words)
    return AttemptFailed(
        code,
        detail,
        status=status,
        wait=wait,
        everywhere=not busy and code != "content_filter" and (status in {401, 403, 404, 405} or status < 400),
        busy=busy,
    )


def _host(headers: Mapping[str, str]) -> str:
    try:
        return one_line(urlsplit(headers.get("location", "")).hostname or "another path")
    except ValueError:
        return "another place"


def of_error_object(error: Any) -> AttemptFailed:
    """What an ``error`` inside a response of status 200 means (OpenRouter sends such)."""
    status = error.get("code") if isinstance(error, dict) else None
    status = status if isinstance(status, int) and 400 <= status < 600 else 500
    words = _words(error)
    busy = _is_busy(status, words)
    code = "server" if busy else _code(status, words)
    return AttemptFailed(code, f"error {status} in the reply: {words}", status=200, busy=busy)


def _is_busy(status: int, words: str) -> bool:
    """Whether a server that loads its model, or has too much to do, asks to be waited for."""
    return status == 529 or (
        status >= 400
        and status not in {401, 403, 429}
        and _BUSY.search(words) is not None
        and not _BROKEN.search(words)
    )


def _code(status: int, words: str) -> FailureCode:
    if status == 402 or (status in {400, 403, 429} and _QUOTA.search(words)):
        return "quota"
    if status == 429:
        return "rate_limit"
    if status in {400, 403, 413, 422} and _FILTER.search(words):
        return "content_filter"
    if status == 413 or (status in {400, 422} and _CONTEXT.search(words)):
        return "context_length"
    if status in {401, 403}:
        return "auth"
    if status == 408:
        return "timeout"
    return "server" if status == 409 or status >= 500 else "bad_request"


def words_of(body: bytes) -> str:
    """What an error's body says, in one line; servers put it in half a dozen places."""
    try:
        return _words(msgspec.json.decode(body))
    except (ValueError, RecursionError):
        return one_line(body[:2000].decode("utf-8", "replace"))


def _words(data: Any) -> str:
    while isinstance(data, dict):
        inner = next((data[name] for name in ("error", "message", "detail") if data.get(name)), None)
        if inner is None:
            break
        if isinstance(inner, str):
            kind = data.get("code") if isinstance(data.get("code"), str) else data.get("type")
            return one_line(inner if not isinstance(kind, str) else f"{inner} ({kind})")
        data = inner
    return one_line(data if isinstance(data, str) else msgspec.json.encode(data)[:2000].decode("utf-8", "replace"))


def one_line(text: str) -> str:
    """A short line of somebody else's words, without what looks like a key."""
    return _LONG_KEY.sub("[key]", " ".join(text.split()))[:_LONGEST_DETAIL]


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
