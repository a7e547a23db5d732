"""Helpers for tests of `workbench serve`: a server in this process, and clients that behave like its page."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import ClientWebSocketResponse, WSMsgType

from tests.background import PATIENCE_S
from workbench.app.web.serve.addresses import Address
from workbench.app.web.serve.server import serving
from workbench.core.project import Project
from workbench.labelling import tokens

FAKE_APP = Path(__file__).resolve().parent / "servers" / "drawn.py"
SIZE = "width=120&height=40"
STILL_S = 0.5
"""Seconds without a frame after which the app counts as idle."""


def fake_app(name: str) -> list[str]:
    """Return the command of a fast process that behaves like the app."""
    return [sys.executable, "-S", str(FAKE_APP), name]


def real_app(database: Path) -> Callable[[str], Sequence[str]]:
    """Return the command of the real app."""
    return lambda name: [
        *(sys.executable, "-P", "-m", "workbench", "open", str(database)),
        *(f"--as={name}", "--at=annotate"),
    ]


@asynccontextmanager
async def served(
    project: Project, command: Callable[[str], Sequence[str]] = fake_app, *, most: int = 16, **address: Any
) -> AsyncIterator[Address]:
    """Run a server on a free port of this machine."""
    async with serving(project, Address(**{"host": "127.0.0.1", "port": 0, **address}), command, most) as found:
        yield found


@asynccontextmanager
async def browser(address: Address, link: str | None = None) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a client with a separate cookie jar; log it in if a link is given."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{address.port}", cookie_jar=jar) as client:
        if link is not None:
            async with client.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
                assert answer.status == 204, await answer.text()
        yield client


@asynccontextmanager
async def sign_in(project: Project, address: Address, name: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Open a client of an annotator who has used a link."""
    async with browser(address, tokens.new_link(project, name)) as client:
        yield client


def origin(address: Address) -> str:
    """Return the origin of the server's page."""
    return f"http://127.0.0.1:{address.port}"


class Tab:
    """The app's page, as the server sees it."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.seen = b""

    async def press(self, keys: str) -> None:
        """Type keys."""
        await self.say(["stdin", keys])

    async def press_until(self, keys: str, condition: Callable[[], object]) -> None:
        """Press keys repeatedly until a condition holds, reading frames in between."""
        reading = asyncio.create_task(self.end())
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self.press(keys)
                await asyncio.sleep(0.05)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

    async def say(self, message: object) -> None:
        """Send a message."""
        await self.socket.send_str(json.dumps(message))

    async def wait_for(self, text: str) -> None:
        """Read until the app has drawn a text; earlier frames are discarded."""
        needle = text.encode()
        async with asyncio.timeout(PATIENCE_S):
            while needle not in self.seen:
                message = await self.socket.receive()
                assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), (message, self.seen[-300:])
                self.seen += message.data if message.type is WSMsgType.BINARY else message.data.encode()
        self.seen = self.seen.partition(needle)[2]

    async def be_still(self) -> None:
        """Read until no more frames arrive: the app ignores a key pressed before the last frame is acknowledged."""
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self.socket.receive(), STILL_S)

    async def end(self) -> int | None:
        """Read until the server closes the socket; return the close code."""
        async with asyncio.timeout(PATIENCE_S):
            async for _ in self.socket:
                pass
        return self.socket.close_code


@asynccontextmanager
async def tab(client: aiohttp.ClientSession, address: Address, *, autoping: bool = True) -> AsyncIterator[Tab]:
    """Open the page's socket; close the page at the end of the block."""
    headers = {"Origin": origin(address)}
    async with client.ws_connect(f"/ws?{SIZE}", headers=headers, max_msg_size=0, autoping=autoping) as socket:
        yield Tab(socket)


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


async def at_hand(project: Project, name: str) -> str:
    """Wait until an annotator has an item and the next one is prefetched; return the first one's question."""
    await until(lambda: len(held(project, name)) == 2)
    return held(project, name)[0]


@asynccontextmanager
async def server_process(
    project: Project, *options: str, **environment: str
) -> AsyncIterator[tuple[Process, Address, dict[str, str]]]:
    """Run `workbench serve` as a user starts it; yield its address and everyone's token."""
    with log_path(project).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "workbench", "serve", str(project.path), "--port", "0", "--json", *options),
            stdout=PIPE,
            stderr=log,
            env=os.environ | environment,
        )
    assert process.stdout is not None
    try:
        output = b""
        async with asyncio.timeout(PATIENCE_S):
            while not output.rstrip().endswith(b"}\n}"):
                line = await process.stdout.readline()
                assert line, log_of(project)
                output += line
        found = json.loads(output)
        address = Address(host="127.0.0.1", port=int(found["url"].rpartition(":")[2]))
        yield process, address, {name: url.partition("#")[2] for name, url in found["links"].items()}
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def log_path(project: Project) -> Path:
    """Return the path of the server's log."""
    return project.path.with_name("serve.log")


def log_of(project: Project) -> str:
    """Return the server's log."""
    return log_path(project).read_text(encoding="utf-8")


def labels(project: Project) -> list[tuple[str, int, str]]:
    """Return the annotator, item and label of every event, in order."""
    rows = project.database.reader().execute(
        "SELECT a.name, e.subject, e.verdict FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind = 'label' AND e.task = 'correctness' ORDER BY e.id"
    )
    return [tuple(row) for row in rows]


def held(project: Project, name: str) -> list[str]:
    """Return the items assigned to an annotator, oldest first, as the app shows them."""
    rows = project.database.reader().execute(
        "SELECT t.text FROM assignments AS s JOIN annotators AS a ON a.id = s.annotator_id "
        "JOIN completions AS c ON c.id = s.subject JOIN question_text AS t ON t.id = c.question_id "
        "WHERE a.name = ? AND s.task = 'correctness' AND s.state = 'leased' ORDER BY s.claimed_at, s.position",
        (name,),
    )
    return [row[0] for row in rows]
