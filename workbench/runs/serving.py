"""Judge with model servers: many items of a run concurrently, or single items for callers in an event loop."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Final, Protocol

from msgspec import structs

from workbench.config.models import prices_of
from workbench.core.database.connection import Database
from workbench.core.database.hashes import secret
from workbench.core.errors import RunError, StoreError, VerifierError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.caller import Filtered, StoredReply
from workbench.llm.records import Halt, Reply, Request
from workbench.runs.executor import TOO_LONG, ExecutorClosed, LocalExecutor
from workbench.runs.journal import NO_ITEM, RunJournal, Waiter, add_item
from workbench.runs.lease import Lease, LeaseLost, clock
from workbench.runs.session import RunServers, Session, TaskSource, opened_session
from workbench.runs.store.calls import MadeCall
from workbench.verifiers.base import Judged, Pending, ServedVerifier
from workbench.verifiers.judging import judged_by_server
from workbench.verifiers.stacks.stack import LocalJudge, Stack

OWN: Final = ("context_length", "content_filter")
"""Failures that the item itself may cause."""


def servers_of(
    database: Database, run: int, verifier: ServedVerifier, reader: str = "", *, in_batches: bool = False
) -> RunServers:
    """Return the servers of a verifier's run, at the prices in the file next to the database.

    Raises:
        UsageError: A price is wrong.
    """
    servers = verifier.servers()
    prices = prices_of(database.path, servers.values())
    if in_batches:
        prices = {model: price.in_batches() for model, price in prices.items()}
    stages = verifier.stage_limits() if isinstance(verifier, Stack) else ()
    return RunServers(run=run, servers=servers, limits=verifier.limits(), prices=prices, reader=reader, stages=stages)


def reader_of(verifier: ServedVerifier) -> str:
    """Return the identity of what parses a verifier's replies: the verifier's name and version, and its parser."""
    parser = verifier.config().get("parser")
    return f"{verifier.name} {verifier.version} {parser or ''}".rstrip()


async def verdict_of(
    verifier: ServedVerifier, item: VerifierInput, secret: bytes, client: ServerClient
) -> tuple[Judged, list[MadeCall]]:
    """Return the verdict on an item, and its calls with a reply.

    Raises:
        Halt: No call can succeed now, even if the verifier would have continued without the reply.
    """
    ask = _ItemCalls(client, item.item)
    judged = await judged_by_server(verifier, item, ask, secret)
    if ask.halt is not None:
        raise ask.halt
    return judged, ask.made()


class ServerClient(Protocol):
    async def call(self, item: int, role: str, request: Request, sample: int) -> StoredReply: ...


class _ItemCalls:
    """One item's access to the servers; remembers its replies, in the order of the calls."""

    def __init__(self, client: ServerClient, item: int) -> None:
        self._client = client
        self._item = item
        self._made: list[MadeCall | None] = []
        self.halt: Halt | None = None

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        place = len(self._made)
        self._made.append(None)
        try:
            answer = await self._client.call(self._item, role, request, sample)
        except Halt as halt:
            self.halt = halt
            raise
        except Filtered as filtered:
            self._made[place] = MadeCall(filtered.key, step, role, False)
            raise
        self._made[place] = MadeCall(answer.key, step, role, answer.reused)
        return answer.reply

    def made(self) -> list[MadeCall]:
        return [call for call in self._made if call is not None]


# -- A stack's local stages.


@contextmanager
def with_stage_workers(verifier: ServedVerifier, workers: int | None = None) -> Iterator[ServedVerifier]:
    """Yield the verifier, ready to judge: the local stages of a stack have worker processes during the block.

    Args:
        workers: Worker processes of each stage that needs them; by default one per core.
    """
    if not isinstance(verifier, Stack):
        yield verifier
        return
    with ExitStack() as exits:
        judges = {}
        for part in verifier.local_parts:
            executor = LocalExecutor(part.verifier, part.spec, workers or os.cpu_count() or 1)
            judges[part.name] = _judge_with(exits.enter_context(executor))
        yield verifier.with_judges(judges)


def _judge_with(executor: LocalExecutor) -> LocalJudge:
    async def judge(item: VerifierInput) -> Verdict:
        answer = executor.judge_first_stage(item)
        if not isinstance(answer, Pending):
            return answer
        try:
            return await asyncio.wrap_future(executor.later(item, answer))
        except (VerifierError, ExecutorClosed) as error:
            # The cause isn't the item.
            raise Halt("cancelled", str(error) or "The run stops.") from error

    return judge


# -- A run's verdicts.


Record = Callable[[RunJournal, int, Judged, Sequence[MadeCall]], Waiter]
"""Records the verdict on an item and its calls; the result is done once they are committed."""
Ending = Callable[[int], None]
"""Called ten times a second with the number of calls in flight that are awaited before the work ends."""


def judge_on_servers(
    database: Database,
    lease: Lease,
    servers: RunServers,
    verifier: ServedVerifier,
    chunks: Iterable[list[VerifierInput]],
    check: Callable[[], None],
    record: Record = RunJournal.record,
    ending: Ending | None = None,
    workers: int | None = None,
) -> int:
    """Judge every item; return how many verdicts were stored.

    Args:
        chunks: The items without a verdict.
        check: Raises to end the work early; called ten times a second, so it must not block.
        record: Stores verdicts.
        ending: Called with the number of calls that an early end waits for.
        workers: Worker processes of a stack's local stages; by default one per core.

    Raises:
        Halt: No call can succeed now; the remaining items have no verdict.
        Exception: The error that ``check`` raised, once the calls in flight have ended or timed out.
    """

    async def judge() -> int:
        with with_stage_workers(verifier, workers) as judge:
            async with opened_session(database, lease, [servers]) as session:
                run = _ServedRun(judge, secret(database.reader()), session, record, ending)
                await run.judge(chunks, check)
            return session.clients[0].journal.stored

    return asyncio.run(judge())


_PLACES_AN_ITEM_AHEAD: Final = 8


class _ServedRun:
    """One start of a run: one task for each call that may be in flight, and a few that prepare further calls."""

    def __init__(
        self, verifier: ServedVerifier, secret: bytes, session: Session, record: Record, ending: Ending | None
    ) -> None:
        self._verifier = verifier
        self._secret = secret
        self._session = session
        (self._client,) = session.clients
        self._journal = self._client.journal
        self._record = record
        self._ending = ending
        self._held: list[tuple[int, Judged, list[MadeCall]]] = []

    async def judge(self, chunks: Iterable[list[VerifierInput]], check: Callable[[], None]) -> None:
        async def look() -> None:
            check()

        feed = TaskSource(chunks)
        tasks = []
        places = self._client.places
        for _ in range(places + places // _PLACES_AN_ITEM_AHEAD):
            tasks.append(self._session.start(self._judge(feed)))
            # The first calls are sent before the others are prepared.
            await asyncio.sleep(0)
        try:
            await self._session.wait(tasks, look)
            if not self._client.has_any_reply and any(judged.verdict.reason not in OWN for _, judged, _ in self._held):
                self._client.halt_unless_answered()
            self._record_held()
        except BaseException:
            if (ending := self._ending) is not None:
                self._session.watch = lambda: ending(self._client.in_flight)
            await self._session.end()
            self._record_held(own=True)
            raise

    async def _judge(self, feed: TaskSource[VerifierInput]) -> None:
        recorded: Waiter | None = None
        async for item in feed:
            judged, made = await verdict_of(self._verifier, item, self._secret, self._client)
            if judged.verdict.outcome is Outcome.ERROR and self._client.in_doubt:
                # Perhaps the cause isn't the item, and every call would fail.
                self._held.append((item.item, judged, made))
                continue
            if not self._client.in_doubt:
                self._record_held()
            # The next item's first call shares this verdict's transaction, and is sent after it.
            if recorded is not None:
                await recorded
            recorded = self._record(self._journal, item.item, judged, made)
        if recorded is not None:
            await recorded

    def _record_held(self, *, own: bool = False) -> None:
        """Store the errors that were held back.

        Args:
            own: Whether to store only errors that the item itself may have caused; the other items get no verdict.
        """
        for item, judged, made in self._held:
            if not self._journal.broken and (not own or judged.verdict.reason in OWN):
                self._record(self._journal, item, judged, made)
        self._held = []


# -- Verdicts on single items, for waiting callers in an event loop.


_GO_ON: Final = "Received replies are stored; start the server again to continue."
_ASK_AGAIN: Final = "Send the request again: accepted items continue as soon as possible, and no call is made twice."
_PATIENCE_S: Final = 2.0
"""Seconds until a caller gets an error if verdicts can't be stored."""


class VerifierSession:
    """Judges single items with one verifier; created by `opened_verifier`.

    Attributes:
        trouble: Why items are no longer judged; None while they are.
    """

    def __init__(
        self, verifier: ServedVerifier, secret: bytes, lease: Lease, session: Session, timeout: float | None
    ) -> None:
        self._verifier = verifier
        self._lease = lease
        self._secret = secret
        self._session = session
        (self._client,) = session.clients
        self._journal = self._client.journal
        self._timeout = timeout
        self._places = asyncio.Semaphore(self._client.places)
        self._halted = asyncio.get_running_loop().create_future()
        self.trouble: RunError | None = None

    @property
    def waits_for(self) -> RunError | None:
        """Return why verdicts can't be stored at present; None if they can, or never will be."""
        trouble = self._lease.trouble
        if self.trouble is not None or trouble is None or trouble.lasted < _PATIENCE_S:
            return None
        return RunError(f"Nothing can be stored since {clock(trouble.since)}: {trouble.error}", _ASK_AGAIN)

    async def verdict(self, item: VerifierInput) -> Verdict:
        """Return the verdict on an item, once its replies are stored.

        After the timeout the verdict is the abstention "timeout"; the item's calls continue, and a later request uses
        their replies.

        Raises:
            RunError: No call can succeed now, or verdicts can't be stored at present; see `storage_error`.
        """
        await self._acquire_slot()
        task = self._session.start(self._judge(structs.replace(item, item=NO_ITEM)))
        task.add_done_callback(lambda _: self._places.release())
        until = None if self._timeout is None else time.monotonic() + self._timeout
        while True:
            left = None if until is None else until - time.monotonic()
            await asyncio.wait([task, self._halted], timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                break
            self._require_storage()
            if until is not None and time.monotonic() >= until:
                return TOO_LONG
        if task.cancelled():
            raise self._stop_judging(RunError("The calls to model servers have ended."))
        return task.result()

    async def _acquire_slot(self) -> None:
        taking = asyncio.ensure_future(self._places.acquire())
        try:
            while not taking.done():
                await asyncio.wait([taking, self._halted], return_when=asyncio.FIRST_COMPLETED)
                self._require_storage()
        except BaseException:
            if taking.done() and not taking.cancelled():
                self._places.release()
            taking.cancel()
            raise

    def _require_storage(self) -> None:
        """Check that verdicts can be stored.

        Raises:
            RunError: Verdicts can't be stored at present.
        """
        waits_for = self.waits_for
        if waits_for is not None:
            raise waits_for
        if self._halted.done():
            self._halted = asyncio.get_running_loop().create_future()

    async def attend(self, over: asyncio.Future[None]) -> None:
        """Renew the heartbeat until ``over`` is done, and detect when verdicts can't be stored any more."""
        try:
            await self._session.wait([over], self._check_storage)
        except (LeaseLost, StoreError) as error:
            self._stop_judging(_as_run_error(error))

    async def end(self, *, at_once: bool) -> None:
        """Stop judging.

        Args:
            at_once: Whether not to wait for calls in flight, although they are charged.
        """
        await self._session.end(at_once=at_once)

    async def _check_storage(self) -> None:
        if self.waits_for is not None and not self._halted.done():
            self._halted.set_result(None)

    async def _judge(self, item: VerifierInput) -> Verdict:
        if self.trouble is not None:
            raise self.trouble
        try:
            judged, made = await verdict_of(self._verifier, item, self._secret, self._client)
            add_item(self._journal.usage, made)
            await self._journal.flush()
        except (Halt, LeaseLost, StoreError) as error:
            raise self._stop_judging(_as_run_error(error)) from error
        return judged.verdict

    def _stop_judging(self, error: RunError) -> RunError:
        self._journal.begin_no_more()
        self.trouble = self.trouble or error
        return self.trouble


def _as_run_error(error: Halt | LeaseLost | StoreError) -> RunError:
    taken_over = isinstance(error, LeaseLost)
    return RunError("Another process has become the database's runner." if taken_over else str(error), _GO_ON)


@asynccontextmanager
async def answering(
    database: Database,
    lease: Lease,
    run: int,
    verifier: ServedVerifier,
    timeout: float | None,
    *,
    workers: int | None = None,
    settings: Database | None = None,
) -> AsyncIterator[VerifierSession]:
    """Make a verifier ready to judge single items in the running event loop.

    Args:
        database: The database for its calls.
        run: The run that counts its calls; the verifier's limits apply to all its starts together.
        timeout: Seconds an item may take, without its wait for a slot; None is unlimited.
        workers: Worker processes of a stack's local stages; by default one per core.
        settings: The project database whose prices and delimiters are used; by default ``database``.

    Raises:
        UsageError: A server's address or a price is wrong.
    """
    own = settings or database
    servers = servers_of(own, run, verifier, reader_of(verifier))
    with with_stage_workers(verifier, workers) as judge:
        async with opened_session(database, lease, [servers]) as session:
            answers = VerifierSession(judge, secret(own.reader()), lease, session, timeout)
            over = asyncio.get_running_loop().create_future()
            attending = asyncio.create_task(answers.attend(over))
            try:
                yield answers
            finally:
                lease.ending = True
                over.set_result(None)
                await attending
