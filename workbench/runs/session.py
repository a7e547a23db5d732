"""A session of calls to model servers: it holds a journal and a client for each run, in one event loop.

Each attempt is stored before it is sent, replies are kept, and equal requests are sent only once. `Session.wait`
renews the heartbeat. When a session ends, it waits for the calls in flight: they are charged.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any, Final, Generic, Self, TypeVar

from msgspec import Struct

from workbench.core.database.connection import Database
from workbench.llm.caller import Caller, StoredReply
from workbench.llm.gate import Budget
from workbench.llm.records import Halt, Request, RunUsed
from workbench.llm.server import Limits, ModelServer, Price, StageLimits
from workbench.runs.journal import NO_ITEM, RunJournal
from workbench.runs.lease import Lease
from workbench.runs.store import calls

GRACE_S = 10.0
"""Seconds that an ending session waits for the replies to calls in flight."""
POLL_S: Final = 0.1
"""Interval of the heartbeat and of the check whether to continue."""
Result = TypeVar("Result")
Wanted = TypeVar("Wanted")


class RunServers(Struct, frozen=True, kw_only=True):
    """A run that calls model servers.

    Attributes:
        run: The run's number.
        servers: Servers by role.
        limits: Limits on all starts of the run together.
        prices: Prices by model, if known.
        reader: See `RunJournal`.
        stages: Stages of a stack that have their own limits.
    """

    run: int
    servers: Mapping[str, ModelServer]
    limits: Limits
    prices: Mapping[str, Price]
    reader: str = ""
    stages: tuple[StageLimits, ...] = ()


class Client(Caller):
    """One run's calls to its servers.

    Attributes:
        places: Maximum calls in flight.
    """

    journal: RunJournal

    def __init__(
        self,
        run: RunServers,
        journal: RunJournal,
        shared: Budget | None = None,
        stages: Sequence[tuple[StageLimits, RunUsed]] = (),
    ) -> None:
        super().__init__(run.servers, run.limits, journal, run.prices, shared=shared, stages=stages)
        self.places = run.limits.concurrency

    async def ask(self, role: str, request: Request, sample: int) -> StoredReply:
        """Return the reply to a request that is about no item; raises as `call` does."""
        answer = await self.call(NO_ITEM, role, request, sample)
        if answer.reused:
            self.journal.usage.reused += 1
            # Nothing was awaited: let other tasks run.
            await asyncio.sleep(0)
        return answer

    @property
    def has_any_reply(self) -> bool:
        """Return whether any call of the run has been answered, in this start or an earlier one."""
        return bool(self.journal.usage.answered or self.journal.usage.reused or self.reused)

    def renew_heartbeat(self) -> None:
        """Renew the heartbeat.

        Raises:
            LeaseLost: This process is no longer the runner.
            StoreError: Entries can't be stored any more.
        """
        self.journal.note(self)
        self.journal.beat()

    async def flush(self) -> None:
        self.journal.note(self)
        if not self.journal.broken:
            await self.journal.flush()


class Session:
    """Tasks that call model servers, of one run or several; created by `opened_session`.

    Attributes:
        clients: One client for each run, in the order of the runs.
        watch: Called with every heartbeat, also while the session ends.
    """

    def __init__(self, clients: Sequence[Client]) -> None:
        self.clients = clients
        self.watch: Callable[[], None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._discard_task)
        return task

    async def wait(
        self, tasks: Collection[asyncio.Future[Any]], check: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """Wait for tasks, and renew the heartbeat.

        Args:
            check: Awaited ten times a second; an exception it raises ends the wait.

        Raises:
            Exception: The error of a task; if several tasks fail, the error that isn't a consequence of the others.
            LeaseLost: This process is no longer the runner.
            StoreError: Entries can't be stored any more.
        """
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=POLL_S, return_when=asyncio.FIRST_EXCEPTION)
            ends = [error for task in done if (error := task.exception()) is not None]
            if ends:
                raise min(ends, key=_consequence_rank)
            self.renew_heartbeats()
            if check is not None:
                await check()

    def renew_heartbeats(self) -> None:
        for client in self.clients:
            client.renew_heartbeat()
        if self.watch is not None:
            self.watch()

    async def end(self, *, at_once: bool = False) -> None:
        """Begin no more calls, wait for the calls in flight, and then end all tasks.

        Args:
            at_once: Whether not to wait for calls in flight.
        """
        for client in self.clients:
            client.journal.begin_no_more()
        try:
            if self._tasks and not at_once:
                await self._wait_for_calls()
        finally:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def flush(self) -> None:
        for client in self.clients:
            await client.flush()

    async def _wait_for_calls(self) -> None:
        idle = False
        # Rounds are counted instead of seconds: a process that was suspended has not read received data.
        for _ in range(round(GRACE_S / POLL_S)):
            if not self._tasks or idle or any(client.journal.broken for client in self.clients):
                break
            idle = not any(client.in_flight for client in self.clients)
            self.renew_heartbeats()
            await asyncio.wait(self._tasks, timeout=POLL_S)

    def _discard_task(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Its result isn't needed.
            task.exception()


def _consequence_rank(error: BaseException) -> int:
    codes = ("budget", "cancelled")
    return codes.index(error.code) + 1 if isinstance(error, Halt) and error.code in codes else 0


@asynccontextmanager
async def opened_session(
    database: Database, lease: Lease, runs: Sequence[RunServers], max_cost: float | None = None
) -> AsyncIterator[Session]:
    """Open the servers of runs in the running event loop; all entries are committed at the end.

    Args:
        max_cost: Maximum cost of all runs over all starts, in US dollars.

    Raises:
        UsageError: A server's address is wrong.
    """
    numbers = count(calls.next_attempt(database.reader()))
    journals: list[RunJournal] = []
    try:
        journals += (RunJournal(database, lease, one.run, numbers, one.reader) for one in runs)
        shared = None if max_cost is None else _shared_budget(max_cost, [journal.spent() for journal in journals])
        async with AsyncExitStack() as stack:
            clients = []
            for one, journal in zip(runs, journals, strict=True):
                stages = [(stage, _stage_usage(database, one, stage)) for stage in one.stages]
                client = Client(one, journal, shared, stages)
                await stack.enter_async_context(client)
                clients.append(client)
            made = Session(clients)
            try:
                yield made
            finally:
                await made.end()
                await made.flush()
    finally:
        for journal in journals:
            journal.close()


def _stage_usage(database: Database, run: RunServers, stage: StageLimits) -> RunUsed:
    used = calls.used_by_server(database.reader(), run.run)
    mine = (one.used for one in used if any(one.is_of(run.servers[role]) for role in stage.roles))
    return sum(mine, RunUsed())


def _shared_budget(max_cost: float, before: Sequence[RunUsed]) -> Budget:
    spent = RunUsed(cost=sum(one.cost for one in before))
    return Budget(Limits(max_cost=max_cost), spent)


class TaskSource(Generic[Wanted]):
    """Values that several tasks take one by one; read in chunks, so that memory is bounded."""

    def __init__(self, chunks: Iterable[Iterable[Wanted]]) -> None:
        self._chunks = iter(chunks)
        self._read: deque[Wanted] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Wanted:
        while not self._read:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise StopAsyncIteration
            self._read.extend(chunk)
            # Over a long range of finished items the chunks are empty: let other tasks run.
            await asyncio.sleep(0)
        return self._read.popleft()


# -- An event loop in another thread, for synchronous callers.


Held = TypeVar("Held")
Hold = Callable[[Callable[[Held], None], asyncio.Future[None]], Coroutine[Any, Any, None]]
"""Opens what the loop holds, passes it to its first argument, and keeps it open until the second one is done."""


class LoopThread(Generic[Held]):
    """A thread with an event loop that holds something open.

    Attributes:
        opened: What it holds, or why that can't be opened.
        error: Why the loop has ended, if it has failed.
    """

    def __init__(self, name: str, hold: Hold[Held]) -> None:
        self.opened: Future[Held] = Future()
        self.error: BaseException | None = None
        self._hold = hold
        self._thread = threading.Thread(target=self._run_thread, name=name, daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def submit(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self) -> None:
        """Let the loop end; `join` waits for that."""
        if self.is_alive and self.opened.exception() is None:
            self._loop.call_soon_threadsafe(self._over.set_result, None)

    def join(self, timeout: float | None = None) -> None:
        self._thread.join(timeout)

    def _run_thread(self) -> None:
        try:
            asyncio.run(self._run_loop())
        except BaseException as error:
            self.error = error
            if not self.opened.done():
                self.opened.set_exception(error)

    async def _run_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._over = self._loop.create_future()
        await self._hold(self.opened.set_result, self._over)
