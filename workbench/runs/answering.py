"""Verdicts of model servers on single items, for callers in an event loop that wait for them.

Each is made as in a run: every call is journalled and its reply kept for ever. The verdicts themselves aren't stored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from msgspec import structs

from workbench.core.database.connection import Database
from workbench.core.database.secrets import secret
from workbench.core.errors import RunError, StoreError
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.caller import Caller
from workbench.llm.records import Halt
from workbench.runs.accounting import add_item
from workbench.runs.journal import NO_ITEM, RunJournal
from workbench.runs.lease import Lease, LeaseLost
from workbench.runs.serving import GRACE_S, caller_of, reader_of, verdict_of
from workbench.runs.trouble import clock
from workbench.verifiers.base import ServedVerifier

_GO_ON: Final = "What was answered is stored; start the server again to go on."
_ASK_AGAIN: Final = "Ask again: what was accepted goes on as soon as it can, and no call is made twice."
_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 2.0
"""Whoever asks is told after so long that nothing can be stored."""

_TOO_LONG: Final = Verdict(outcome=Outcome.ABSTAIN, reason="timeout")


class VerifierSession:
    """A verifier at work; made by `answering`.

    Attributes:
        trouble: Why nothing is judged any more; None while it is.
    """

    def __init__(
        self,
        verifier: ServedVerifier,
        secret: bytes,
        lease: Lease,
        journal: RunJournal,
        caller: Caller,
        timeout: float | None,
    ) -> None:
        self._verifier = verifier
        self._lease = lease
        self._secret = secret
        self._journal = journal
        self._caller = caller
        self._timeout = timeout
        self._places = asyncio.Semaphore(verifier.limits().concurrency)
        self._tasks: set[asyncio.Task[Verdict]] = set()
        self._halted = asyncio.get_running_loop().create_future()
        self.trouble: RunError | None = None

    @property
    def waits_for(self) -> RunError | None:
        """What nothing can be stored for now, so that nobody is answered; None where it can, or never will be."""
        trouble = self._lease.trouble
        if self.trouble is not None or trouble is None or trouble.lasted < _PATIENCE_S:
            return None
        return RunError(f"Nothing can be stored since {clock(trouble.since)}: {trouble.error}", _ASK_AGAIN)

    async def verdict(self, item: VerifierInput) -> Verdict:
        """The verdict on an item, once the replies it rests on are stored.

        What takes too long is the abstention "timeout"; its calls go on, and whoever asks again has their replies.

        Raises:
            RunError: No call can succeed now, or nothing can be stored for the time being; see `waits_for`.
        """
        await self._take_place()
        task = asyncio.create_task(self._judge(structs.replace(item, item=NO_ITEM)))
        self._tasks.add(task)
        task.add_done_callback(self._leave)
        awake = self._caller.awake
        until = None if self._timeout is None else awake.now() + self._timeout
        while True:
            left = None if until is None else until - awake.now()
            await awake.wait([task, self._halted], left, asyncio.FIRST_COMPLETED)
            if task.done():
                break
            self._require_storing()
            if until is not None and awake.now() >= until:
                return _TOO_LONG
        if task.cancelled():
            raise self._end(RunError("The calls to model servers have ended."))
        return task.result()

    async def _take_place(self) -> None:
        taking = asyncio.ensure_future(self._places.acquire())
        try:
            while not taking.done():
                await asyncio.wait([taking, self._halted], return_when=asyncio.FIRST_COMPLETED)
                self._require_storing()
        except BaseException:
            if taking.done() and not taking.cancelled():
                self._places.release()
            taking.cancel()
            raise

    def _require_storing(self) -> None:
        """Make sure that something may come of waiting.

        Raises:
            RunError: Nothing can be stored for the time being.
        """
        waits_for = self.waits_for
        if waits_for is not None:
            raise waits_for
        if self._halted.done():
            self._halted = asyncio.get_running_loop().create_future()

    async def attend(self) -> None:
        """Show life, and find out when nothing can be stored any more."""
        try:
            while True:
                self._journal.note(self._caller)
                self._journal.beat()
                if self.waits_for is not None and not self._halted.done():
                    self._halted.set_result(None)
                await asyncio.sleep(_LOOK_S)
        except (LeaseLost, StoreError) as error:
            self._end(_explained(error))

    async def end(self, *, at_once: bool) -> None:
        """Judge nothing more.

        Args:
            at_once: Don't even wait for the replies to calls in flight, which are paid for.
        """
        self._journal.begin_no_more()
        if self._tasks and not at_once:
            await self._caller.awake.wait(self._tasks, GRACE_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _judge(self, item: VerifierInput) -> Verdict:
        if self.trouble is not None:
            raise self.trouble
        try:
            judged, made = await verdict_of(self._verifier, item, self._secret, self._caller, self._journal)
            add_item(self._journal.usage, made)
            await self._journal.flush()
        except (Halt, LeaseLost, StoreError) as error:
            if isinstance(error, StoreError) and not self._journal.broken and not self._lease.gives_up(error):
                # It may be put right.
                raise RunError(str(error), _ASK_AGAIN) from error
            raise self._end(_explained(error)) from error
        return judged.verdict

    def _end(self, error: RunError) -> RunError:
        """Make no more calls; returns what was wrong first."""
        self._journal.begin_no_more()
        self.trouble = self.trouble or error
        return self.trouble

    def _leave(self, task: asyncio.Task[Verdict]) -> None:
        self._places.release()
        self._tasks.discard(task)
        if not task.cancelled():
            # Whoever has given up need not hear it.
            task.exception()


def _explained(error: Halt | LeaseLost | StoreError) -> RunError:
    taken_over = isinstance(error, LeaseLost)
    return RunError("Another process has taken over the database's runs." if taken_over else str(error), _GO_ON)


@asynccontextmanager
async def answering(
    database: Database, lease: Lease, run: int, verifier: ServedVerifier, timeout: float | None
) -> AsyncIterator[VerifierSession]:
    """Have a verifier judge in the running event loop.

    Args:
        run: What calls are counted in; the verifier's limits hold over all its starts.
        timeout: Seconds an item may take, its wait for a place aside; None for as long as its calls take.

    Raises:
        UsageError: A server's address or a price is wrong.
    """
    journal = RunJournal(database, lease, run, reader=reader_of(verifier))
    lease.attended = True
    try:
        async with caller_of(database, verifier, journal) as caller:
            answers = VerifierSession(verifier, secret(database.reader()), lease, journal, caller, timeout)
            attending = asyncio.create_task(answers.attend())
            try:
                yield answers
            finally:
                attending.cancel()
                await asyncio.gather(attending, return_exceptions=True)
                journal.note(caller)
                lease.ending = True
                if not journal.broken:
                    await journal.flush()
    finally:
        journal.close()
