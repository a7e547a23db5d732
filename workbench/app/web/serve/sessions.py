"""People at work: one app process per person, up to a limit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from aiohttp import WSMsgType, web

from workbench.app.web.serve import app_process
from workbench.app.web.serve.app_process import AppProcess, Size
from workbench.core.text.inert import inert

LOG = logging.getLogger("workbench.serve")

CLOSING_S = 2.0
"""Seconds a browser may take to confirm the end of a connection."""


class Ending(IntEnum):
    """Reasons for closing a connection, sent to the page (WebSocket codes for applications; 1001 is standard)."""

    SHUTDOWN = 1001
    QUIT = 4000
    ELSEWHERE = 4001
    FULL = 4002
    ENDED = 4003
    REVOKED = 4004
    MALFORMED = 4005
    UNOPENED = 4006


class Connection:
    """One page of a person, and the process that runs the app for it.

    Attributes:
        name: The person's name.
        login: The login that was used.
        over: Event that is set when the process has ended.
    """

    def __init__(self, request: web.Request, socket: web.WebSocketResponse, name: str, login: str) -> None:
        self._transport = request.transport
        self._socket = socket
        self._ending: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self._tasks: list[asyncio.Task[None]] = []
        self.name = name
        self.login = login
        self.over = asyncio.Event()

    def dismiss(self, why: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(why)

    async def work(self, command: Sequence[str], size: Size) -> None:
        """Run the app until the page closes, the person quits, the process ends, or the connection is dismissed."""
        try:
            process = await AppProcess.start(command, size)
        except OSError as error:
            LOG.error("the app can't be started: %s", error)
            await self.close(Ending.UNOPENED)
            return
        reading = asyncio.create_task(self._read(process))
        drawing = asyncio.create_task(self._draw(process))
        try:
            waited: set[asyncio.Future[Any]] = {reading, drawing, self._ending}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            process.hang_up()
            self.dismiss(_ending_of(process))
            self._tasks = [reading, drawing, asyncio.create_task(self.close(self._ending.result()))]
            # What the app still draws is read and dropped: a full pipe would keep it from ending.
            await process.ended()
            reading.cancel()

    async def closed(self) -> None:
        for found in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(found, Exception):
                LOG.error("%s: the connection failed", inert(self.name), exc_info=found)

    async def _read(self, process: AppProcess) -> None:
        async for message in self._socket:
            if message.type is WSMsgType.ERROR:
                return
            try:
                given = app_process.parse(message.data if message.type is WSMsgType.TEXT else None)
            except ValueError:
                LOG.info("%s: a malformed message", inert(self.name))
                self.dismiss(Ending.MALFORMED)
                return
            match given:
                case app_process.KeysFrame(keys):
                    await process.type(keys)
                case app_process.Resized(size):
                    await process.resize(size)
                case app_process.Focused(has_it):
                    await process.focus(has_it)
                case app_process.Pinged(text):
                    await self._send(self._socket.send_json, ["pong", text])

    async def _draw(self, process: AppProcess) -> None:
        async for frame in process.frames():
            await self._send(self._socket.send_bytes, frame)

    async def _send(self, send: Callable[..., object], what: object) -> None:
        if not self._socket.closed:
            # The page may go at any moment.
            with contextlib.suppress(ConnectionError, RuntimeError):
                await send(what)  # type: ignore[misc]

    async def close(self, why: Ending) -> None:
        """Close the page's socket; abort it if the page no longer reads."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(self._socket.close(code=why, message=why.name.lower().encode()), CLOSING_S)
        if self._transport is not None:
            self._transport.abort()


def _ending_of(process: AppProcess) -> Ending:
    if process.has_quit:
        return Ending.QUIT
    return Ending.ENDED if process.has_drawn else Ending.UNOPENED


class Sessions:
    """Everyone at work.

    Args:
        command: Returns the command that runs the app for a person.
        most: Maximum number of people at work.
    """

    def __init__(self, command: Callable[[str], Sequence[str]], most: int) -> None:
        self._command = command
        self._most = most
        self._at_work: dict[str, Connection] = {}
        self._closing = False

    async def run(self, connection: Connection, size: Size) -> None:
        """Run the app for a person, after closing the page that they had open before.

        A person whose network failed can therefore connect again at once, even if the server has not noticed, and
        there is never more than one process for a person.
        """
        name, earlier = connection.name, self._at_work.get(connection.name)
        if self._closing or (earlier is None and len(self._at_work) >= self._most):
            LOG.warning("%s: no place is free", inert(name))
            await connection.close(Ending.SHUTDOWN if self._closing else Ending.FULL)
            return
        self._at_work[name] = connection
        try:
            if earlier is not None:
                earlier.dismiss(Ending.ELSEWHERE)
                await earlier.over.wait()
            if self._at_work[name] is connection and not self._closing:
                LOG.info("%s is at work", inert(name))
                await connection.work(self._command(name), size)
                LOG.info("%s has left", inert(name))
            else:
                await connection.close(Ending.SHUTDOWN if self._closing else Ending.ELSEWHERE)
        finally:
            connection.over.set()
            if self._at_work.get(name) is connection:
                del self._at_work[name]
        await connection.closed()

    def check(self, who: Callable[[str], str | None]) -> None:
        for connection in self._at_work.values():
            if who(connection.login) != connection.name:
                connection.dismiss(Ending.REVOKED)

    async def close(self) -> None:
        self._closing = True
        while self._at_work:
            connection = next(iter(self._at_work.values()))
            for one in self._at_work.values():
                one.dismiss(Ending.SHUTDOWN)
            await connection.over.wait()
            await asyncio.sleep(0)
