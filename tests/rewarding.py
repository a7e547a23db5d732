"""A reward server as users start it, and a cheap client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from tests.background import PATIENCE_S, until


class Answer(NamedTuple):
    """The response, and the seconds it took."""

    status: int
    headers: dict[str, str]
    document: Any
    seconds: float


class Launched(NamedTuple):
    """A reward server in a separate process."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def health(self) -> dict[str, Any]:
        """Return the server's health document."""
        answer = httpx.get(f"{self.url}/health", headers={"Host": "localhost"}, timeout=PATIENCE_S)
        found: dict[str, Any] = answer.json()
        return found

    def until_ready(self) -> None:
        until(lambda: self.health()["ready"])


@contextmanager
def launched(folder: Path, *arguments: object, **environment: str) -> Iterator[Launched]:
    """Run ``workbench reward-server`` with these arguments, on a free port unless they name one; kill it at the end."""
    log = folder / "server.log"
    words = list(map(str, arguments))
    port = [] if "--port" in words else ["--port", "0"]
    with log.open("a") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "reward-server", *port, "--json", *words],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=os.environ | environment,
        )
    try:
        assert process.stdout is not None
        lines = list(iter(process.stdout.readline, "}\n"))
        assert lines, log.read_text()
        yield Launched(process, json.loads("".join(lines) + "}")["url"], log)
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


class Client:
    """A persistent connection that is reopened after the server has closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: bytes, **headers: str) -> Answer:
        """Send a body.

        Raises:
            OSError: The connection failed; whether the request was processed is unknown.
            asyncio.IncompleteReadError: It failed while the response arrived.
        """
        lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{''.join(lines)}\r\n"
        )
        began = time.perf_counter()
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        try:
            writer.write(head.encode() + body)
            await writer.drain()
            status, found = _head(await reader.readuntil(b"\r\n\r\n"))
            content = await reader.readexactly(int(found["content-length"]))
        except BaseException:
            self.close()
            raise
        if found.get("connection") == "close":
            self.close()
        return Answer(status, found, json.loads(content), time.perf_counter() - began)

    def close(self) -> None:
        """Close the connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def post_reward(port: int, body: bytes) -> Answer:
    """Return the response to ``POST /reward`` over a new connection."""
    client = Client(port)
    try:
        return await client.post("/reward", body)
    finally:
        client.close()
        await asyncio.sleep(0)


def _head(raw: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = raw.decode("latin-1").rstrip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}
