"""Verifiers that call model servers, for callers in any thread: one thread makes the calls."""

from __future__ import annotations

import asyncio
import atexit
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial

from workbench.core.errors import RunError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import TOO_LONG, ExecutorClosed
from workbench.runs.session import LoopThread
from workbench.training.choosing import Busy, RewardVerifier
from workbench.training.serving import AsyncJudge, open_judge


class CallingExecutor:
    """Runs a verifier that calls model servers in a separate event loop; other processes can't open its journal
    meanwhile.

    Args:
        workers: Worker processes of a stack's local stages; by default one per core.
        timeout: Seconds an item may take on model servers; by default unlimited.
    """

    def __init__(self, chosen: RewardVerifier, workers: int | None = None, timeout: float | None = None) -> None:
        self._chosen, self._workers, self._timeout = chosen, workers, timeout
        self._lock = threading.Lock()
        self._calls: LoopThread[AsyncJudge] | None = None
        self._closed = False
        self._at_exit = partial(_close_if_alive, weakref.ref(self))
        atexit.register(self._at_exit)

    def judge(self, items: Sequence[VerifierInput], deadline: float | None = None) -> list[Verdict]:
        """Return the verdicts on several items, in order.

        Args:
            deadline: Seconds of wall time for all items; items without a verdict by then get the abstention "timeout".
                Their calls continue, and later requests find the stored replies.

        Raises:
            RunError: No call can succeed now, calls can't be stored, or another process has locked the journal.
            UsageError: A server's address or a price is wrong.
            ExecutorClosed: The executor was closed while items waited.
        """
        calls = self._start()
        judge = calls.opened.result()
        try:
            return calls.submit(_verdicts(judge, items, deadline)).result()
        except Busy as error:
            raise RunError("Too many items wait for model servers.", "Send fewer at a time.") from error
        except asyncio.CancelledError as error:
            raise ExecutorClosed from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            calls = self._calls
        atexit.unregister(self._at_exit)
        if calls is not None:
            calls.end()
            calls.join()

    def _start(self) -> LoopThread[AsyncJudge]:
        with self._lock:
            if self._closed:
                raise ExecutorClosed
            if self._calls is None or (self._calls.opened.done() and self._calls.opened.exception() is not None):
                self._calls = LoopThread("workbench-calls", self._hold_judge)
            return self._calls

    async def _hold_judge(self, begin: Callable[[AsyncJudge], None], over: asyncio.Future[None]) -> None:
        async with open_judge(self._chosen, None, self._workers, self._timeout) as judge:
            begin(judge)
            await over
            await judge.close()


async def _verdicts(judge: AsyncJudge, items: Sequence[VerifierInput], deadline: float | None) -> list[Verdict]:
    if deadline is None:
        return (await judge.verdicts(items))[0]
    waiting = [asyncio.ensure_future(judge.verdicts([item])) for item in items]
    if waiting:
        await asyncio.wait(waiting, timeout=deadline)
    late = [one for one in waiting if not one.done()]
    for one in late:
        one.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return [TOO_LONG if one in late else one.result()[0][0] for one in waiting]


def _close_if_alive(executor: weakref.ref[CallingExecutor]) -> None:
    found = executor()
    if found is not None:
        found.close()
