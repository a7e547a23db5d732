"""A run's work where verdicts come from model servers: many items wait at a time, in one thread.

One feeder reads items into a short queue; as many tasks as calls may be in flight take them from there, so memory is
the same at any number of items.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct

from workbench.config.models import prices_of
from workbench.core.database.connection import Database
from workbench.core.database.hashes import secret
from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.caller import Caller, Filtered
from workbench.llm.records import Halt, Reply, Request
from workbench.runs.journal import RunJournal, Waiter
from workbench.runs.store.calls import MadeCall
from workbench.verifiers.base import Judged, ServedVerifier
from workbench.verifiers.serving import judged_by_server

GRACE_S = 10.0
"""A run that is to stop waits so long for the replies to calls in flight: they are paid for."""

_LOOK_S = 0.1
_QUEUE = 128
_OWN = ("context_length", "content_filter")
"""Failures that may well be one item's own."""


class ServingWork(Struct, frozen=True, kw_only=True):
    """What a run on model servers needs of the runner.

    Attributes:
        chunks: The items without a verdict.
        secret: The database's own.
        journal: Makes the run's journal, inside the event loop.
        caller: Makes its client.
        look_up: Raises whatever ends the work early; called ten times a second, it must not wait.
    """

    verifier: ServedVerifier
    chunks: Iterable[list[VerifierInput]]
    secret: bytes
    journal: Callable[[], RunJournal]
    caller: Callable[[RunJournal], Caller]
    look_up: Callable[[], None]


def work_on(
    database: Database,
    verifier: ServedVerifier,
    chunks: Iterable[list[VerifierInput]],
    journal: Callable[[], RunJournal],
    look_up: Callable[[], None],
) -> ServingWork:
    """Work on a database: with its secret, and with the prices that stand beside it."""
    return ServingWork(
        verifier=verifier,
        chunks=chunks,
        secret=secret(database.reader()),
        journal=journal,
        caller=partial(caller_of, database, verifier),
        look_up=look_up,
    )


def caller_of(database: Database, verifier: ServedVerifier, journal: RunJournal) -> Caller:
    """A verifier's client, with the prices that stand beside the database.

    Raises:
        UsageError: A server's address or a price is wrong.
    """
    servers = verifier.servers()
    prices = prices_of(database.path, (server.model for server in servers.values()))
    return Caller(servers, verifier.limits(), journal, prices)


def reader_of(verifier: ServedVerifier) -> str:
    """Who reads a verifier's replies: its parser, or itself at its version."""
    said = verifier.config().get("parser")
    return f"{verifier.name} {verifier.version} {said or ''}".rstrip()


async def verdict_of(
    verifier: ServedVerifier, item: VerifierInput, secret: bytes, caller: Caller, journal: RunJournal
) -> tuple[Judged, list[MadeCall]]:
    """The verdict on an item, and the calls with a reply that it rests on.

    Raises:
        Halt: No call can succeed now; a verifier that goes on without a reply has no verdict.
    """
    ask = _ItemCalls(caller, journal, item.item)
    judged = await judged_by_server(verifier, item, ask, secret)
    if ask.halt is not None:
        raise ask.halt
    return judged, ask.made()


def judge_on_servers(work: ServingWork) -> int:
    """Judge every item; returns how many verdicts were stored.

    Raises:
        Halt: No call can succeed now; items without a verdict stay so.
        Exception: Whatever ``look_up`` raises, once the calls in flight have had their time.
    """
    return asyncio.run(_serve(work))


async def _serve(work: ServingWork) -> int:
    journal = work.journal()
    try:
        async with work.caller(journal) as caller:
            await _ServingSession(work, journal, caller).serve()
    finally:
        journal.close()
    return journal.stored


class _ServingSession:
    """The tasks of one start of a run."""

    def __init__(self, work: ServingWork, journal: RunJournal, caller: Caller) -> None:
        self._work = work
        self._journal = journal
        self._caller = caller
        self._queue: asyncio.Queue[VerifierInput | None] = asyncio.Queue(_QUEUE)
        self._places = work.verifier.limits().concurrency
        self._held: list[tuple[int, Judged, list[MadeCall]]] = []

    async def serve(self) -> None:
        """Judge every item, or as many as can be."""
        tasks = [asyncio.create_task(self._feed())]
        tasks += [asyncio.create_task(self._judge()) for _ in range(self._places)]
        try:
            await self._attend(tasks)
            if not self._has_answered() and any(judged.verdict.reason not in _OWN for _, judged, _ in self._held):
                self._caller.halt_unless_answered()
            self._land_held()
        except Exception:
            await self._drain(tasks)
            self._land_held(own=True)
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._journal.note(self._caller)
            if not self._journal.broken:
                await self._journal.flush()

    async def _feed(self) -> None:
        for chunk in self._work.chunks:
            for item in chunk:
                await self._queue.put(item)
            # Where a long stretch of items is done, nothing is put: others get their turn all the same.
            await asyncio.sleep(0)
        for _ in range(self._places):
            await self._queue.put(None)

    async def _judge(self) -> None:
        landing: Waiter | None = None
        while (item := await self._queue.get()) is not None:
            judged, made = await verdict_of(self._work.verifier, item, self._work.secret, self._caller, self._journal)
            if judged.verdict.outcome is Outcome.ERROR and self._caller.in_doubt:
                # Perhaps no item is to blame, and every call would fail.
                self._held.append((item.item, judged, made))
                continue
            if not self._caller.in_doubt:
                self._land_held()
            # The next item's first call shares this verdict's transaction, and is sent after it.
            if landing is not None:
                await landing
            landing = self._journal.land(item.item, judged, made)
        if landing is not None:
            await landing

    async def _attend(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Wait for the tasks; raises what ends them, or what a person asks for."""
        pending = set(tasks)
        while pending:
            done, pending = await asyncio.wait(pending, timeout=_LOOK_S, return_when=asyncio.FIRST_EXCEPTION)
            ends = [error for task in done if (error := task.exception()) is not None]
            if ends:
                # A budget that failing calls have used up, or the stop that follows, is not what was wrong.
                raise min(ends, key=_follows)
            self._journal.note(self._caller)
            self._journal.beat()
            self._work.look_up()

    async def _drain(self, tasks: Iterable[asyncio.Task[None]]) -> None:
        """Begin nothing more, and give the calls in flight their time."""
        self._journal.begin_no_more()
        pending = {task for task in tasks if not task.done()}
        idle = False
        # Rounds are counted, not seconds: a process that is stopped meanwhile has not read what came.
        for _ in range(round(GRACE_S / _LOOK_S)):
            if not pending or idle or self._journal.broken:
                break
            idle = not self._caller.in_flight
            self._journal.beat()
            _, pending = await asyncio.wait(pending, timeout=_LOOK_S)

    def _has_answered(self) -> bool:
        """Whether any call of the run had a reply, in this start or before."""
        used = self._journal.usage
        return bool(used.answered or used.reused or self._caller.reused)

    def _land_held(self, *, own: bool = False) -> None:
        """Store the errors that were held back.

        Args:
            own: Only those that may be the item's own fault; the others have no verdict.
        """
        for item, judged, made in self._held:
            if not self._journal.broken and (not own or judged.verdict.reason in _OWN):
                self._journal.land(item, judged, made)
        self._held = []


def _follows(error: BaseException) -> int:
    """How likely an end only follows from another."""
    codes = ("budget", "cancelled")
    return codes.index(error.code) + 1 if isinstance(error, Halt) and error.code in codes else 0


class _ItemCalls:
    """One item's way to the servers; remembers what it was answered, in the order it asked."""

    def __init__(self, caller: Caller, journal: RunJournal, item: int) -> None:
        self._caller = caller
        self._journal = journal
        self._item = item
        self._made: list[MadeCall | None] = []
        self.halt: Halt | None = None

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        place = len(self._made)
        self._made.append(None)
        try:
            self._journal.require_open()
            answer = await self._caller.call(self._item, role, request, sample)
        except Halt as halt:
            self.halt = halt
            raise
        except Filtered as filtered:
            self._made[place] = MadeCall(filtered.key, step, role, False)
            raise
        self._made[place] = MadeCall(answer.key, step, role, answer.reused)
        return answer.reply

    def made(self) -> list[MadeCall]:
        """The calls with a reply."""
        return [call for call in self._made if call is not None]
