"""Calls to model servers that are about no item: texts that are written for whoever asks, in synchronous code.

They go through a run's journal as a judge's do: each attempt is stored before it is sent, each reply for ever, and
equal requests are asked once. A thread of its own keeps the calls going and shows life while the caller does other
things, such as executing what was written.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Self

from msgspec import Struct

from workbench.config.prices import prices_of
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, WorkbenchError
from workbench.llm.caller import Caller
from workbench.llm.endings import ending
from workbench.llm.records import CallFailed, Halt, Reply, Request
from workbench.llm.server import Limits, ModelServer
from workbench.runs.journal import NO_ITEM, RunJournal
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.serving import GRACE_S

_LOOK_S = 0.1
_GO_ON = "What was answered is stored; the same command goes on from there."


class ReplyRequest(Struct, frozen=True):
    """A reply that is wanted: of which server, to what, and which of several."""

    role: str
    request: Request
    sample: int


Found = Reply | CallFailed
"""A reply, or why there will be none."""


class Servers:
    """A run's model servers, asked from one thread that waits for the replies; open in a ``with`` block.

    Args:
        lease: The claim to be the database's runner.
        run: Its number; limits hold over all its starts.
        servers: By the names that `ReplyRequest` uses.

    Raises:
        UsageError: A server's address or a price is wrong.
    """

    def __init__(
        self, database: Database, lease: Lease, run: int, servers: Mapping[str, ModelServer], limits: Limits
    ) -> None:
        self._database, self._lease, self._run = database, lease, run
        self._servers, self._limits = servers, limits
        self._prices = prices_of(database.path, (server.model for server in servers.values()))
        self._opened: Future[_GenerationSession] = Future()
        self._ended: BaseException | None = None
        self._thread = threading.Thread(target=self._live, name="generating", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._opened.result()
        return self

    def __exit__(self, *_: object) -> None:
        desk = self._opened.result()
        if self._thread.is_alive():
            desk.loop.call_soon_threadsafe(desk.over.set)
        self._thread.join()

    def ask(self, wanted: Sequence[ReplyRequest], watch: Callable[[int], None] | None = None) -> list[Found]:
        """What came of each, in the order of what is wanted.

        Args:
            watch: Is told a few times a second how many have come.

        Raises:
            RunError: No call can succeed now; what was answered is stored.
            StoreError: Nothing can be stored.
        """
        desk = self._opened.result()
        found: list[Found | None] = [None] * len(wanted)
        if not self._thread.is_alive():
            raise self._over()
        try:
            asked = asyncio.run_coroutine_threadsafe(desk.ask(wanted, found), desk.loop)
            while self._waits(asked):
                if watch is not None:
                    watch(sum(one is not None for one in found))
        except Halt as halt:
            raise RunError(halt.message, _GO_ON) from halt
        except LeaseLost as lost:
            raise RunError("Another process has taken over the database's runs.", _GO_ON) from lost
        except CancelledError as ended:
            raise self._over() from ended
        return [one for one in found if one is not None]

    def _over(self) -> RunError:
        if isinstance(self._ended, WorkbenchError):
            return RunError(self._ended.message, _GO_ON)
        return RunError("The calls to model servers have ended.", _GO_ON)

    def _waits(self, asked: Future[None]) -> bool:
        """Wait a moment; whether there is still something to wait for."""
        alive = self._thread.is_alive()
        try:
            asked.result(_LOOK_S)
        except TimeoutError:
            if not alive:
                asked.cancel()
            return True
        return False

    def _live(self) -> None:
        try:
            asyncio.run(self._open())
        except BaseException as error:
            self._ended = error
            if not self._opened.done():
                self._opened.set_exception(error)

    async def _open(self) -> None:
        journal = RunJournal(self._database, self._lease, self._run)
        try:
            async with Caller(self._servers, self._limits, journal, self._prices) as caller:
                desk = _GenerationSession(journal, caller, self._limits.concurrency)
                self._opened.set_result(desk)
                await desk.attend()
        finally:
            journal.close()


class _GenerationSession:
    """What goes on inside the event loop.

    Attributes:
        over: Set when nothing more is wanted.
    """

    def __init__(self, journal: RunJournal, caller: Caller, places: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.over = asyncio.Event()
        self._journal = journal
        self._caller = caller
        self._places = places

    async def ask(self, wanted: Sequence[ReplyRequest], found: list[Found | None]) -> None:
        """Fill in what comes of each; when one can't succeed now, calls in flight still have their time."""
        rest = enumerate(wanted)
        tasks = [asyncio.create_task(self._work(rest, found)) for _ in range(min(self._places, len(wanted)))]
        try:
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION) if tasks else ((), ())
            if pending:
                self._journal.begin_no_more()
                await self._caller.awake.wait(pending, GRACE_S)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._journal.note(self._caller)
            if not self._journal.broken:
                await self._journal.flush()

    async def attend(self) -> None:
        """Show life until nothing more is wanted, then give calls in flight their time."""
        while not self.over.is_set():
            self._look()
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), _LOOK_S)
        self._journal.begin_no_more()
        end = self._caller.awake.now() + GRACE_S
        while self._caller.in_flight and self._caller.awake.now() < end:
            self._look()
            await asyncio.sleep(_LOOK_S)
        self._journal.note(self._caller)
        await self._journal.flush()

    async def _work(self, rest: Iterator[tuple[int, ReplyRequest]], found: list[Found | None]) -> None:
        for place, one in rest:
            found[place] = await self._one(one)

    async def _one(self, one: ReplyRequest) -> Found:
        self._journal.require_open()
        try:
            answer = await self._caller.call(NO_ITEM, one.role, one.request, one.sample)
        except CallFailed as failed:
            return failed
        self._journal.usage.reused += answer.reused
        if ending(answer.reply) == "refused":
            return CallFailed("content_filter", "the server says that the model refused")
        return answer.reply

    def _look(self) -> None:
        self._journal.note(self._caller)
        self._journal.beat()
