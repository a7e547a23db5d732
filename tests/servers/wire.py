"""As much HTTP/1.1 as a stub server needs, on plain asyncio so that it is never the bottleneck."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import msgspec

REASONS = {200: "OK", 307: "Temporary Redirect", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Received:
    """A request; header names are lower case, ``body`` is None unless it is JSON."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        try:
            return msgspec.json.decode(self.raw)
        except msgspec.DecodeError:
            return None


@dataclass(frozen=True)
class Scripted:
    """A complete response.

    ``hold`` delays it until the event is set (for ever if it never is); ``cut`` closes the connection after so many
    bytes of the body, although the head promises all of it.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = ""
    hold: Event | None = None
    cut: int | None = None

    def content(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return self.body.encode() if isinstance(self.body, str) else msgspec.json.encode(self.body)


Handler = Callable[[Received], Awaitable[Scripted]]


class Connection(asyncio.Protocol):
    """A client's persistent connection, one request at a time."""

    def __init__(self, handle: Handler, open_connections: set[Connection]) -> None:
        self._handle = handle
        self._open = open_connections
        self._buffer = bytearray()
        self._answering: set[asyncio.Task[None]] = set()
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open.discard(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            lines = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
            whole = end + 4 + int(headers.get("content-length", 0))
            if len(self._buffer) < whole:
                return
            method, path, _ = lines[0].split(" ", 2)
            received = Received(method, path, headers, bytes(self._buffer[end + 4 : whole]))
            del self._buffer[:whole]
            task = asyncio.get_running_loop().create_task(self._answer(received))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)

    async def _answer(self, received: Received) -> None:
        response = await self._handle(received)
        while response.hold is not None and not response.hold.is_set() and not self.transport.is_closing():
            await asyncio.sleep(0.002)
        if self.transport.is_closing():
            return
        content = response.content()
        headers = {"content-type": "application/json", "content-length": str(len(content)), **response.headers}
        head = f"HTTP/1.1 {response.status} {REASONS.get(response.status, 'Status')}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(head.encode("latin-1") + b"\r\n" + content[: response.cut])
        if response.cut is not None:
            self.transport.close()

    def close(self) -> None:
        for task in self._answering:
            task.cancel()
        self.transport.abort()


async def serve(handle: Handler, open_connections: set[Connection]) -> asyncio.Server:
    """Serve on a free port of the loopback interface."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: Connection(handle, open_connections), "127.0.0.1", 0, backlog=2048)


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
