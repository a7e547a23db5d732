"""Clients for model servers in this environment: ours, and the alternatives considered.

Usage: python -m bench.clients NAME URL AT_ONCE REQUESTS [TEXTS]
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import httpx

from bench.load import MODEL, Ask, measure, prompt, take_texts
from workbench.llm.caller import Caller
from workbench.llm.records import CallFailed, Chat, FailureCode, JournaledCall, PromptMessage, Response, RunUsed
from workbench.llm.server import Limits, ModelServer

HEADERS = {"content-type": "application/json", "authorization": "Bearer key"}


def _body(number: int) -> bytes:
    return json.dumps({"model": MODEL, "messages": [{"role": "user", "content": prompt(number)}]}).encode()


def _content(body: bytes) -> str:
    content: str = json.loads(body)["choices"][0]["message"]["content"]
    return content


class Forgetful:
    """A journal that keeps nothing: only the client is measured."""

    def refused(self, key: bytes) -> CallFailed | None:
        """Return none."""
        return None

    def recall(self, key: bytes) -> Response | None:
        """Return nothing."""
        return None

    def spent(self) -> RunUsed:
        """Return zero."""
        return RunUsed()

    def require_open(self) -> None:
        """Never raise: the run is always open."""

    async def begin(self, item: int, call: JournaledCall) -> int:
        """Return no number."""
        return 0

    def fail(self, attempt: int, code: FailureCode, status: int | None, detail: str, *, sent: bool = True) -> None:
        """Fail: a benchmark with failed calls is meaningless."""
        raise RuntimeError(f"{code}: {detail}")

    def done(self, attempt: int, call: JournaledCall, response: Response) -> None:
        """Discard the response."""


@asynccontextmanager
async def ours(url: str, at_once: int) -> AsyncIterator[Ask]:
    """The project's client, with its cache look-up, gate and parsing."""
    server = ModelServer(profile="vllm", base_url=url, model=MODEL)
    async with Caller({"judge": server}, Limits(concurrency=at_once), Forgetful()) as caller:

        async def ask(number: int) -> object:
            return await caller.call(number, "judge", Chat(messages=(PromptMessage("user", prompt(number)),)))

        yield ask


@asynccontextmanager
async def sockets(url: str, at_once: int) -> AsyncIterator[Ask]:
    """asyncio's streams and a minimum of HTTP: the upper bound."""
    parts = urlsplit(url)
    free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    for _ in range(at_once):
        free.append(await asyncio.open_connection(parts.hostname, parts.port))
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\ncontent-length: "

    async def ask(number: int) -> object:
        reader, writer = free.pop()
        body = _body(number)
        writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body)
        length = 0
        while (line := await reader.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        content = _content(await reader.readexactly(length))
        free.append((reader, writer))
        return content

    yield ask
    for _, writer in free:
        writer.close()


def _asking(clients: list[httpx.AsyncClient], url: str) -> Ask:
    """Return a function that takes a client from the list for each call and puts it back afterwards."""
    alone = clients[0] if len(clients) == 1 else None

    async def ask(number: int) -> object:
        client = alone or clients.pop()
        response = await client.post(f"{url}/chat/completions", content=_body(number), headers=HEADERS)
        if alone is None:
            clients.append(client)
        return _content(response.content)

    return ask


@asynccontextmanager
async def httpx_one(url: str, at_once: int) -> AsyncIterator[Ask]:
    """One AsyncClient for all."""
    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(limits=limits, timeout=None, trust_env=False) as client:
        yield _asking([client], url)


@asynccontextmanager
async def httpx_shards(url: str, at_once: int) -> AsyncIterator[Ask]:
    """An AsyncClient for each call in flight, one SSL context for all of them."""
    context = httpx.create_ssl_context(trust_env=False)
    async with AsyncExitStack() as stack:
        clients = [httpx.AsyncClient(verify=context, timeout=None, trust_env=False) for _ in range(at_once)]
        for client in clients:
            await stack.enter_async_context(client)
        yield _asking(clients, url)


@asynccontextmanager
async def httpx_aiohttp(url: str, at_once: int) -> AsyncIterator[Ask]:
    """One AsyncClient over aiohttp."""
    from httpx_aiohttp import AiohttpTransport

    limits = httpx.Limits(max_connections=at_once, max_keepalive_connections=at_once)
    async with httpx.AsyncClient(transport=AiohttpTransport(limits=limits), timeout=None, trust_env=False) as client:
        yield _asking([client], url)


CLIENTS: dict[str, Callable[[str, int], AbstractAsyncContextManager[Ask]]] = {
    "sockets": sockets,
    "ours": ours,
    "httpx_one": httpx_one,
    "httpx_shards": httpx_shards,
    "httpx_aiohttp": httpx_aiohttp,
}


async def main() -> None:
    """Measure one client."""
    name, url, at_once, requests, *texts = sys.argv[1:]
    for path in texts:
        take_texts(path)
    async with CLIENTS[name](url, int(at_once)) as ask:
        await measure(ask, int(at_once), int(requests))


if __name__ == "__main__":
    asyncio.run(main())
