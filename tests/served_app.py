"""What the tests of `workbench serve` share: a server in this process, and clients that behave like its page."""

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

STAND_IN = Path(__file__).resolve().parent / "servers" / "drawn.py"
SIZE = "width=120&height=40"
STILL_S = 0.5
"""Seconds without a frame after which the app counts as still."""


def stand_in(name: str) -> list[str]:
    """A process that behaves like the app, and starts in no time."""
    return [sys.executable, "-S", str(STAND_IN), name]


def real_app(database: Path) -> Callable[[str], Sequence[str]]:
    """The app itself."""
    return lambda name: [
        *(sys.executable, "-P", "-m", "workbench", "open", str(database)),
        *(f"--as={name}", "--at=annotate"),
    ]


@asynccontextmanager
async def served(
    project: Project, command: Callable[[str], Sequence[str]] = stand_in, *, most: int = 16, **address: Any
) -> AsyncIterator[Address]:
    """A server on a free port of this machine."""
    async with serving(project, Address(**{"host": "127.0.0.1", "port": 0, **address}), command, most) as found:
        yield found


@asynccontextmanager
async def browser(address: Address, link: str | None = None) -> AsyncIterator[aiohttp.ClientSession]:
    """A client with cookies of its own, come in by a link."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{address.port}", cookie_jar=jar) as client:
        if link is not None:
            async with client.post("/enter", data=link, headers={"Origin": origin(address)}) as answer:
                assert answer.status == 204, await answer.text()
        yield client


@asynccontextmanager
async def come_in(project: Project, address: Address, name: str) -> AsyncIterator[aiohttp.ClientSession]:
    """A client of a person who has used a link."""
    async with browser(address, tokens.new_link(project, name)) as client:
        yield client


def origin(address: Address) -> str:
    """What a page of the server says it is from."""
    return f"http://127.0.0.1:{address.port}"


class Tab:
    """The app's page, as far as the server can tell."""

    def __init__(self, socket: ClientWebSocketResponse) -> None:
        self.socket = socket
        self.seen = b""

    async def press(self, keys: str) -> None:
        """Type."""
        await self.say(["stdin", keys])

    async def press_until(self, keys: str, condition: Callable[[], object]) -> None:
        """Press again and again until something is so, reading what is drawn meanwhile."""
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
        """Read on until the app has drawn a text; what came before it is left behind."""
        wanted = text.encode()
        async with asyncio.timeout(PATIENCE_S):
            while wanted not in self.seen:
                message = await self.socket.receive()
                assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), (message, self.seen[-300:])
                self.seen += message.data if message.type is WSMsgType.BINARY else message.data.encode()
        self.seen = self.seen.partition(wanted)[2]

    async def be_still(self) -> None:
        """Read on until nothing more is drawn: the app ignores a key pressed before it has noted what it has drawn."""
        with suppress(TimeoutError):
            while True:
                await asyncio.wait_for(self.socket.receive(), STILL_S)

    async def end(self) -> int | None:
        """Read until the server ends it; the code it gives."""
        async with asyncio.timeout(PATIENCE_S):
            async for _ in self.socket:
                pass
        return self.socket.close_code


@asynccontextmanager
async def tab(client: aiohttp.ClientSession, address: Address, *, autoping: bool = True) -> AsyncIterator[Tab]:
    """Open the page's socket; leaving the context closes the page."""
    headers = {"Origin": origin(address)}
    async with client.ws_connect(f"/ws?{SIZE}", headers=headers, max_msg_size=0, autoping=autoping) as socket:
        yield Tab(socket)


async def until(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.01)


async def at_hand(project: Project, name: str) -> str:
    """Wait until a person has an item before them, and the one after it is made ready; the first one's question."""
    await until(lambda: len(held(project, name)) == 2)
    return held(project, name)[0]


@asynccontextmanager
async def server_process(
    project: Project, *options: str, **environment: str
) -> AsyncIterator[tuple[Process, Address, dict[str, str]]]:
    """`workbench serve` as a person starts it; gives its address and everyone's token."""
    with log_place(project).open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "workbench", "serve", str(project.path), "--port", "0", "--json", *options),
            stdout=PIPE,
            stderr=log,
            env=os.environ | environment,
        )
    assert process.stdout is not None
    try:
        said = b""
        async with asyncio.timeout(PATIENCE_S):
            while not said.rstrip().endswith(b"}\n}"):
                line = await process.stdout.readline()
                assert line, log_of(project)
                said += line
        found = json.loads(said)
        address = Address(host="127.0.0.1", port=int(found["url"].rpartition(":")[2]))
        yield process, address, {name: url.partition("#")[2] for name, url in found["links"].items()}
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def log_place(project: Project) -> Path:
    """Where a server's narration goes."""
    return project.path.with_name("serve.log")


def log_of(project: Project) -> str:
    """What a server has said on stderr."""
    return log_place(project).read_text(encoding="utf-8")


def labels(project: Project) -> list[tuple[str, int, str]]:
    """Who labelled which item how, in the order it happened."""
    rows = project.database.reader().execute(
        "SELECT a.name, e.subject, e.verdict FROM label_events AS e JOIN annotators AS a ON a.id = e.annotator_id "
        "WHERE e.kind = 'label' AND e.task = 'correctness' ORDER BY e.id"
    )
    return [tuple(row) for row in rows]


def held(project: Project, name: str) -> list[str]:
    """The items a person holds, oldest first, as the app shows them."""
    rows = project.database.reader().execute(
        "SELECT t.text FROM assignments AS s JOIN annotators AS a ON a.id = s.annotator_id "
        "JOIN completions AS c ON c.id = s.subject JOIN question_text AS t ON t.id = c.question_id "
        "WHERE a.name = ? AND s.task = 'correctness' AND s.state = 'leased' ORDER BY s.claimed_at, s.position",
        (name,),
    )
    return [row[0] for row in rows]
