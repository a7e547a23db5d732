"""Calls to model servers that are about no item: texts that are written for whoever asks, in synchronous code.

They go through a run's journal as a judge's do: each attempt is stored before it is sent, each reply for ever, and
equal requests are asked once. A thread of its own keeps the calls going and shows life while the caller does other
things, such as executing what was written.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack, suppress
from itertools import count
from typing import Final, Protocol, Self

from msgspec import Struct

from workbench.config.models import prices_of
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, StoreError, WorkbenchError
from workbench.llm.caller import Caller
from workbench.llm.pace import Budget
from workbench.llm.records import CallFailed, Chat, Halt, Reply, Request, RunUsed, ending
from workbench.llm.server import Limits, ModelServer, Price
from workbench.runs.journal import NO_ITEM, RunJournal
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.serving import GRACE_S
from workbench.runs.store import calls

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


# -- Many models that write completions at a time, each at its own pace, and their replies put in one order.


MOST_DETAILS: Final = 5
"""Failed calls of a model that are spelled out."""


class CompletionWriter(Struct, frozen=True, kw_only=True):
    """A model that writes completions.

    Attributes:
        name: What it is called here.
        run: Its run.
        price: None where it is not known.
    """

    name: str
    run: int
    server: ModelServer
    limits: Limits
    price: Price | None


class CompletionWish(Struct, frozen=True):
    """A completion that is to be written.

    Attributes:
        question: Row id.
        key: The completion's id.
        sample: Tells apart independent replies, from 0.
    """

    question: int
    key: str
    request: Chat
    sample: int


class CompletionWork(Protocol):
    """What is to be written, part by part."""

    @property
    def parts(self) -> int:
        """How many parts the questions come in."""
        ...

    def wishes(self, model: str, part: int) -> list[CompletionWish]:
        """What a model is to write for a part and hasn't; the same list until the part is stored."""
        ...

    def size(self, model: str, part: int) -> int:
        """How many completions of a model there are when a part is done."""
        ...

    def store(self, replies: Iterator[tuple[str, CompletionWish, Reply]]) -> int:
        """Store what was written, in its order; returns how many completions are new.

        Raises:
            StoreError: It can't be now.
        """
        ...


class ModelProgress(Struct, kw_only=True):
    """How far a model is.

    Attributes:
        done: Completions that are there, or failed.
        failed: Calls of this start that failed for good, by code.
        details: What was said about the first of them.
        halted: Why no call of it can succeed now.
        over: It has nothing left to do.
    """

    done: int = 0
    failed: Counter[str]
    details: list[str]
    halted: str | None = None
    over: bool = False


Watch = Callable[[Mapping[str, ModelProgress]], None]
"""Is told a few times a second how far each model is."""


def complete(
    database: Database,
    lease: Lease,
    writers: Sequence[CompletionWriter],
    work: CompletionWork,
    *,
    max_cost: float | None = None,
    watch: Watch | None = None,
) -> tuple[dict[str, ModelProgress], int]:
    """Have every model write what it is to write; returns how far each came, and how many completions are new.

    Args:
        max_cost: US dollars of all models together, over all their starts.

    Raises:
        KeyboardInterrupt: Somebody wants it to end; the calls in flight had their time.
        LeaseLost: This process is no longer the runner.
        StoreError: Nothing can be stored.
        UsageError: A server's address is wrong.
    """
    return asyncio.run(_complete(database, lease, writers, work, max_cost, watch))


async def _complete(
    database: Database,
    lease: Lease,
    writers: Sequence[CompletionWriter],
    work: CompletionWork,
    max_cost: float | None,
    watch: Watch | None,
) -> tuple[dict[str, ModelProgress], int]:
    numbers = count(calls.next_attempt(database.reader()))
    journals = [RunJournal(database, lease, writer.run, numbers) for writer in writers]
    shared = None if max_cost is None else _shared(max_cost, [journal.spent() for journal in journals])
    try:
        async with AsyncExitStack() as stack:
            models = []
            for writer, journal in zip(writers, journals, strict=True):
                prices = {} if writer.price is None else {writer.server.model: writer.price}
                caller = Caller({writer.name: writer.server}, writer.limits, journal, prices, shared=shared)
                models.append(_ModelAtWork(writer, work, journal, await stack.enter_async_context(caller)))
            crew = _Crew(models, work, watch)
            await crew.write()
            return {model.name: model.standing for model in models}, crew.stored
    finally:
        for journal in journals:
            journal.close()


def _shared(max_cost: float, before: Sequence[RunUsed]) -> Budget:
    spent = RunUsed(cost=sum(one.cost for one in before))
    return Budget(Limits(max_cost=max_cost), spent)


class _ModelAtWork:
    """One model at work: as many tasks as calls may be in flight take wishes from one iterator."""

    def __init__(self, writer: CompletionWriter, work: CompletionWork, journal: RunJournal, caller: Caller) -> None:
        self.name = writer.name
        self.standing = ModelProgress(failed=Counter(), details=[])
        self.caller = caller
        self._places = writer.limits.concurrency
        self._work = work
        self._journal = journal
        self._wishes = self._wanted()
        self._part = 0
        self._open: Counter[int] = Counter()

    async def write(self) -> None:
        """Ask for everything, until there is no hope for this model."""
        tasks = [asyncio.create_task(self._ask_on()) for _ in range(self._places)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self.standing.over = True

    def through(self, part: int) -> bool:
        """Whether no reply to a part will come any more."""
        return self.standing.over or (self._part > part and all(one > part for one in self._open))

    def begin_no_more(self) -> None:
        """The calls in flight are the last ones."""
        self._journal.begin_no_more()

    def look(self) -> None:
        """Show life."""
        self._journal.note(self.caller)
        self._journal.beat()

    async def flush(self) -> None:
        """Commit all that has come."""
        self._journal.note(self.caller)
        if not self._journal.broken:
            await self._journal.flush()

    def recall(self, wish: CompletionWish) -> Reply | None:
        """The reply that is stored, unless it is no completion."""
        try:
            return self.caller.recall(self.name, wish.request, wish.sample)
        except CallFailed:
            return None

    def _wanted(self) -> Iterator[tuple[int, CompletionWish]]:
        for part in range(self._work.parts):
            wishes = self._work.wishes(self.name, part)
            self.standing.done += self._work.size(self.name, part) - len(wishes)
            for wish in wishes:
                yield part, wish
            self._part = part + 1

    async def _ask_on(self) -> None:
        for part, wish in self._wishes:
            self._open[part] += 1
            try:
                await self._ask(wish)
            except Halt as halt:
                if halt.code != "cancelled":
                    self.standing.halted = self.standing.halted or halt.message
                self.begin_no_more()
                return
            finally:
                self._open[part] -= 1
                if not self._open[part]:
                    del self._open[part]
            self.standing.done += 1

    async def _ask(self, wish: CompletionWish) -> None:
        self._journal.require_open()
        try:
            answer = await self.caller.call(NO_ITEM, self.name, wish.request, wish.sample)
        except CallFailed as failed:
            self.standing.failed[failed.code] += 1
            if len(self.standing.details) < MOST_DETAILS:
                self.standing.details.append(str(failed))
            return
        self._journal.usage.reused += answer.reused
        if answer.reused:
            # Nothing was waited for: others get their turn all the same.
            await asyncio.sleep(0)


class _Crew:
    """All models at work, and what stores their replies in order.

    Attributes:
        stored: Completions that are new.
    """

    def __init__(self, models: Sequence[_ModelAtWork], work: CompletionWork, watch: Watch | None) -> None:
        self.stored = 0
        self._models = models
        self._work = work
        self._watch = watch
        self._next = 0

    async def write(self) -> None:
        """Until every model is through and everything is stored."""
        tasks = [asyncio.create_task(model.write()) for model in self._models]
        try:
            await self._attend(tasks)
            while self._next < self._work.parts:
                await self._store_ready(patient=True)
        except BaseException:
            # Calls in flight are paid for: their replies are worth waiting for.
            await self._drain(tasks)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for model in self._models:
                await model.flush()

    async def _attend(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=_LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            self._look()
            await self._store_ready(patient=False)

    async def _store_ready(self, *, patient: bool) -> None:
        """Store the parts that all models are through with.

        Args:
            patient: Raise what keeps a part from being stored; else it is tried again at the next look.
        """
        while self._next < self._work.parts and all(model.through(self._next) for model in self._models):
            try:
                self.stored += self._work.store(self._replies(self._next))
            except StoreError:
                if patient:
                    raise
                return
            self._next += 1
            # Calls go on between two parts.
            await asyncio.sleep(0)
            self._look()

    def _replies(self, part: int) -> Iterator[tuple[str, CompletionWish, Reply]]:
        """What was answered to a part: by question, then by model as the plan has them, then by sample."""
        wishes = [
            (wish, place) for place, model in enumerate(self._models) for wish in self._work.wishes(model.name, part)
        ]
        wishes.sort(key=lambda pair: (pair[0].question, pair[1], pair[0].sample))
        for wish, place in wishes:
            model = self._models[place]
            reply = model.recall(wish)
            if reply is not None:
                yield model.name, wish, reply

    async def _drain(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        for model in self._models:
            model.begin_no_more()
        for _ in range(round(GRACE_S / _LOOK_S)):
            if not any(model.caller.in_flight for model in self._models):
                break
            self._look()
            await asyncio.wait(tasks, timeout=_LOOK_S)

    def _look(self) -> None:
        for model in self._models:
            model.look()
        if self._watch is not None:
            self._watch({model.name: model.standing for model in self._models})
