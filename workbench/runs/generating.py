"""Call model servers for texts that are not about an item, on behalf of synchronous code.

The calls go through a run's journal as a judge's do: each attempt is stored before it is sent, replies are kept, and
equal requests are sent only once. A separate thread makes the calls and renews the heartbeat while the caller does
other work, such as executing written programs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Final, Protocol, Self

from msgspec import Struct

from workbench.config.models import prices_of
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, StoreError, WorkbenchError
from workbench.llm.records import CallFailed, Chat, Halt, Reply, Request, ending
from workbench.llm.server import Limits, ModelServer
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.session import POLL_S, Client, LoopThread, RunServers, Session, TaskSource, opened_session

_GO_ON = "Received replies are stored; run the same command again to continue."


class ReplyRequest(Struct, frozen=True):
    role: str
    request: Request
    sample: int


Found = Reply | CallFailed
"""A reply, or why there will be none."""


class Servers:
    """A run's model servers, called from one thread that waits for the replies; a context manager.

    Args:
        lease: The claim to be the database's runner.
        run: The run's number; limits apply to all its starts together.
        servers: Servers by role, the role being that of a `ReplyRequest`.

    Raises:
        UsageError: A server's address or a price is wrong.
    """

    def __init__(
        self, database: Database, lease: Lease, run: int, servers: Mapping[str, ModelServer], limits: Limits
    ) -> None:
        self._database, self._lease = database, lease
        prices = prices_of(database.path, servers.values())
        self._run = RunServers(run=run, servers=servers, limits=limits, prices=prices)
        self._interrupted: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        self._thread = LoopThread("generating", self._hold_session)
        self._thread.opened.result()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.end()
        while self._thread.is_alive:
            if self._interrupted is not None:
                self._interrupted()
            self._thread.join(POLL_S)

    def ask(self, wanted: Sequence[ReplyRequest], watch: Callable[[int, bool], None] | None = None) -> list[Found]:
        """Return the result of each request, in their order.

        Args:
            watch: Called a few times a second with the number of results, and whether the work is ending and only waits
                for calls in flight.

        Raises:
            RunError: No call can succeed now; replies received are stored.
            StoreError: Replies can't be stored.
        """
        found: list[Found | None] = [None] * len(wanted)

        def tell(*, ending: bool) -> None:
            if watch is not None:
                watch(sum(one is not None for one in found), ending)

        if not self._thread.is_alive:
            raise self._ended_error()
        try:
            asked = self._thread.submit(_request_replies(self._thread.opened.result(), wanted, found))
            while self._is_waiting(asked):
                tell(ending=False)
        except KeyboardInterrupt:
            self._interrupted = partial(tell, ending=True)
            raise
        except Halt as halt:
            # A call that may not begin any more fails because of the error that ended the other calls.
            raise self._ended_error() if halt.code == "cancelled" else RunError(halt.message, _GO_ON) from halt
        except LeaseLost as lost:
            raise RunError("Another process has become the database's runner.", _GO_ON) from lost
        except CancelledError as ended:
            raise self._ended_error() from ended
        return [one for one in found if one is not None]

    def _ended_error(self) -> RunError:
        if isinstance(self._thread.error, WorkbenchError):
            return RunError(self._thread.error.message, _GO_ON)
        return RunError("The calls to model servers have ended.", _GO_ON)

    def _is_waiting(self, asked: Future[None]) -> bool:
        alive = self._thread.is_alive
        try:
            asked.result(POLL_S)
        except TimeoutError:
            if not alive:
                asked.cancel()
            return True
        return False

    async def _hold_session(self, begin: Callable[[Session], None], over: asyncio.Future[None]) -> None:
        async with opened_session(self._database, self._lease, [self._run]) as session:
            begin(session)
            await session.wait([over])


async def _request_replies(session: Session, wanted: Sequence[ReplyRequest], found: list[Found | None]) -> None:
    (client,) = session.clients
    feed = TaskSource([enumerate(wanted)])
    tasks = [session.start(_answer_requests(client, feed, found)) for _ in range(min(client.places, len(wanted)))]
    try:
        await session.wait(tasks)
    except BaseException:
        await session.end()
        raise
    finally:
        await session.flush()


async def _answer_requests(
    client: Client, feed: TaskSource[tuple[int, ReplyRequest]], found: list[Found | None]
) -> None:
    async for place, one in feed:
        try:
            reply = (await client.ask(one.role, one.request, one.sample)).reply
        except CallFailed as failed:
            found[place] = failed
            continue
        refused = ending(reply) == "refused"
        found[place] = CallFailed("content_filter", "the server reports that the model refused") if refused else reply


# -- Several models write completions at the same time, each at its own pace; replies are stored in one order.


MAX_SHOWN_FAILURES: Final = 5
"""Maximum failed calls of a model whose messages are shown."""


class CompletionRequest(Struct, frozen=True):
    """A completion to write.

    Attributes:
        question: Row id.
        key: The completion's id.
        sample: Index that distinguishes independent replies to the same request, from 0.
    """

    question: int
    key: str
    request: Chat
    sample: int


class CompletionWork(Protocol):
    @property
    def parts(self) -> int: ...

    def missing(self, model: str, part: int) -> list[CompletionRequest]: ...

    def size(self, model: str, part: int) -> int: ...

    def store(self, replies: Iterator[tuple[str, CompletionRequest, Reply]]) -> int:
        """Store written completions, in order; return how many are new.

        Raises:
            StoreError: The completions can't be stored now.
        """
        ...


class ModelProgress(Struct, kw_only=True):
    """Progress of a model.

    Attributes:
        done: Completions that exist or failed.
        failed: Calls of this start that failed for good, by code.
        details: Messages of the first failed calls, at most `MAX_SHOWN_FAILURES`.
        halted: Why no call of the model can succeed now.
        over: Whether the model has finished.
        awaited: Calls in flight to wait for before the end; None while calls may begin.
    """

    done: int = 0
    failed: Counter[str]
    details: list[str]
    halted: str | None = None
    over: bool = False
    awaited: int | None = None


Watch = Callable[[Mapping[str, ModelProgress]], None]
"""Called a few times a second with each model's progress."""


async def complete(
    database: Database,
    lease: Lease,
    runs: Sequence[RunServers],
    work: CompletionWork,
    *,
    max_cost: float | None = None,
    watch: Watch | None = None,
) -> tuple[dict[str, ModelProgress], int]:
    """Have every model write its completions; return each model's progress, and the number of new completions.

    Args:
        runs: The run of each model, whose role is its name.
        max_cost: Maximum cost of all models over all starts, in US dollars.

    Raises:
        KeyboardInterrupt: The user interrupted it; the calls in flight were waited for.
        LeaseLost: This process is no longer the runner.
        StoreError: Completions can't be stored.
        UsageError: A server's address is wrong.
    """
    async with opened_session(database, lease, runs, max_cost) as session:
        models = [
            _ModelCompletions(name, work, client)
            for run, client in zip(runs, session.clients, strict=True)
            for name in run.servers
        ]
        completions = _Completions(models, work, session, watch)
        await completions.write()
        return {model.name: model.progress for model in models}, completions.stored


class _ModelCompletions:
    def __init__(self, name: str, work: CompletionWork, client: Client) -> None:
        self.name = name
        self.progress = ModelProgress(failed=Counter(), details=[])
        self._work = work
        self._client = client
        self._part = 0
        self._open: Counter[int] = Counter()
        self._tasks = client.places

    def start(self, session: Session) -> list[asyncio.Task[None]]:
        feed = TaskSource(self._pending_batches())
        return [session.start(self._write_completions(feed)) for _ in range(self._tasks)]

    def look(self) -> ModelProgress:
        if self._client.journal.closing:
            self.progress.awaited = self._client.in_flight
        return self.progress

    def has_finished_part(self, part: int) -> bool:
        return self.progress.over or (self._part > part and all(one > part for one in self._open))

    def recall(self, wanted: CompletionRequest) -> Reply | None:
        try:
            return self._client.recall(self.name, wanted.request, wanted.sample)
        except CallFailed:
            return None

    def _pending_batches(self) -> Iterator[list[tuple[int, CompletionRequest]]]:
        for part in range(self._work.parts):
            wanted = self._work.missing(self.name, part)
            self.progress.done += self._work.size(self.name, part) - len(wanted)
            yield [(part, one) for one in wanted]
            self._part = part + 1

    async def _write_completions(self, feed: TaskSource[tuple[int, CompletionRequest]]) -> None:
        try:
            async for part, wanted in feed:
                await self._request_replies(part, wanted)
        except Halt as halt:
            if halt.code != "cancelled":
                self.progress.halted = self.progress.halted or halt.message
            self._client.journal.begin_no_more()
        self._tasks -= 1
        self.progress.over = not self._tasks

    async def _request_replies(self, part: int, wanted: CompletionRequest) -> None:
        self._open[part] += 1
        try:
            await self._client.ask(self.name, wanted.request, wanted.sample)
        except CallFailed as failed:
            self.progress.failed[failed.code] += 1
            if len(self.progress.details) < MAX_SHOWN_FAILURES:
                self.progress.details.append(str(failed))
        finally:
            self._open[part] -= 1
            if not self._open[part]:
                del self._open[part]
        self.progress.done += 1


class _Completions:
    """All models' completions, stored in order.

    Attributes:
        stored: Number of new completions.
    """

    def __init__(
        self, models: Sequence[_ModelCompletions], work: CompletionWork, session: Session, watch: Watch | None
    ) -> None:
        self.stored = 0
        self._models = models
        self._work = work
        self._session = session
        self._next = 0
        if watch is not None:
            session.watch = lambda: watch({model.name: model.look() for model in models})

    async def write(self) -> None:
        tasks = [task for model in self._models for task in model.start(self._session)]
        await self._session.wait(tasks, partial(self._store_ready, patient=False))
        while self._next < self._work.parts:
            await self._store_ready(patient=True)

    async def _store_ready(self, *, patient: bool) -> None:
        """Store the parts that all models have finished.

        Args:
            patient: Whether to raise an error that prevents storing; else retry at the next check.
        """
        while self._next < self._work.parts and all(model.has_finished_part(self._next) for model in self._models):
            try:
                self.stored += self._work.store(self._replies(self._next))
            except StoreError:
                if patient:
                    raise
                return
            self._next += 1
            # Calls continue between two parts.
            await asyncio.sleep(0)
            self._session.renew_heartbeats()

    def _replies(self, part: int) -> Iterator[tuple[str, CompletionRequest, Reply]]:
        wanted = [
            (one, place) for place, model in enumerate(self._models) for one in self._work.missing(model.name, part)
        ]
        wanted.sort(key=lambda pair: (pair[0].question, pair[1], pair[0].sample))
        for one, place in wanted:
            model = self._models[place]
            reply = model.recall(one)
            if reply is not None:
                yield model.name, one, reply
