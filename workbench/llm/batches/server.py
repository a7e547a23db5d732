"""Send requests about files, batches and results of batches to a provider."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

from workbench.llm import server as urls
from workbench.llm.dialects.openai import decoded, mapping
from workbench.llm.endpoint import Endpoint, without_secrets
from workbench.llm.failures import classify_response, malformed
from workbench.llm.transport import Received, Transport
from workbench.llm.waits import Clock

MAX_RESULTS_BYTES: Final = 4 * 2**30
"""Maximum size of a file of results, in bytes."""
_CHUNK: Final = 2**20
_MIN_BYTES_PER_SECOND: Final = 64 * 1024
"""The slowest accepted transfer of a file in bytes a second; it extends the server's timeout."""


class BatchServer:
    """An endpoint as its batches use it.

    Args:
        base: The base URL to use.
    """

    def __init__(self, endpoint: Endpoint, base: str, transport: Transport, clock: Clock) -> None:
        self.endpoint = endpoint
        self._base = base
        self._transport = transport
        self._clock = clock

    @property
    def origin(self) -> str:
        parts = urlsplit(self._base)
        return f"{parts.scheme}://{parts.netloc}"

    def url(self, path: str) -> str:
        """Return the URL of a path after the base URL; its query precedes that of the base URL."""
        path, _, query = path.partition("?")
        return urls.join_url(self._base, path, query)

    async def send(
        self,
        url: str,
        body: bytes | BinaryIO | None = None,
        headers: Mapping[str, str] | None = None,
        sink: BinaryIO | None = None,
    ) -> Received:
        """Send a request and return its successful response.

        Args:
            url: An address on the server's own host: the key must not be sent elsewhere.
            body: The content to POST; None sends a GET.
            headers: Headers that override the endpoint's.
            sink: Receives the response's body.

        Raises:
            AttemptFailed: The response is an error.
            Halt: There is no key.
        """
        if not url.startswith(f"{self.origin}/"):
            raise malformed("it names an address on another host, which is not followed: a key must not go elsewhere")
        secrets = await self.endpoint.secrets(os.environ)
        sent = {**self.endpoint.headers(secrets), **(headers or {})}
        timeout = self.endpoint.server.timeout_s
        content: bytes | AsyncIterator[bytes] | None
        if body is None or isinstance(body, bytes):
            content = body
        else:
            length = body.seek(0, os.SEEK_END)
            sent["content-length"] = str(length)
            timeout += length / _MIN_BYTES_PER_SECOND
            content = _read_chunks(body)
        longest = MAX_RESULTS_BYTES if sink is not None else 2**26
        timeout += 0 if sink is None else 3600
        received = await self._transport.send(
            url, sent, content, timeout, longest=longest, route=self.endpoint.server.route, sink=sink
        )
        received = without_secrets(secrets, received)
        if not 200 <= received.status < 300:
            raise classify_response(received.status, received.headers, received.body, self._clock.date())
        return received

    async def json(self, path: str, body: bytes | BinaryIO | None = None) -> dict[str, Any]:
        """Return the JSON object at a path; raises as `send` does."""
        received = await self.send(self.url(path), body)
        return mapping(decoded(received.body), "the reply")

    def date(self) -> float:
        return self._clock.date()


async def _read_chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    file.seek(0)
    while piece := file.read(_CHUNK):
        yield piece
