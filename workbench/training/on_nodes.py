"""Run solutions against their tests on the nodes of a cluster."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final

from workbench.core.code import Execution, Program
from workbench.core.errors import VerifierError
from workbench.core.run import ClusterUse
from workbench.core.verdict import Verdict
from workbench.runs.cluster import require_cluster
from workbench.runs.cluster_pool import ClusterPool, cluster_sandbox
from workbench.runs.executor import ExecutorClosed
from workbench.training.testing import SolutionExecutor, SolutionJob, fail, internal_error_verdict
from workbench.verifiers.base import SandboxedVerifier

_SOLUTIONS_PER_PROCESSOR: Final = 4
"""Solutions assigned for each processor of the nodes: running, queued there, and in transit."""
_POLL_S: Final = 0.01
_IDLE_S: Final = 0.5
_RETRY_S: Final = 5.0
_Piece = tuple[tuple[SolutionJob, str], Program]


class _Closed(Exception):
    """The executor was closed."""


class NodesExecutor(SolutionExecutor):
    """A `SolutionExecutor` on a cluster: one thread distributes solutions and receives the results.

    The solutions of a node that dies are run on another one, and a node with a weaker sandbox is rejected, as in runs.

    Args:
        use: The cluster; it also records the work of its nodes.
        timeout: See `SolutionExecutor`.
        connected: Called in that thread each time Ray is connected; see `runs.cluster.own_signals`.

    Raises:
        UsageError: The cluster's address is invalid, or Ray is not installed; other errors are those of
            `SolutionExecutor`.
    """

    def __init__(
        self,
        verifier: SandboxedVerifier,
        use: ClusterUse,
        timeout: float | None = None,
        connected: Callable[[], object] = lambda: None,
    ) -> None:
        require_cluster(use.address, None)
        super().__init__(verifier, 1, timeout)
        self._use, self._connected = use, connected
        self._missing: dict[SolutionJob, dict[str, Execution | None]] = {}

    @property
    def workers(self) -> int:
        return _SOLUTIONS_PER_PROCESSOR * max(1, sum(node.workers for node in self._use.nodes if not node.refused))

    def _work(self) -> None:
        settings = self._verifier.settings(self._verifier.seeds[0])
        while not self._over.is_set():
            try:
                with cluster_sandbox(self.level, settings, self._use, look_s=_POLL_S) as pool:
                    self._connected()
                    while not pool.is_ready:
                        self._drop_gone(pool)
                        pool.attend()
                    self.state, self.trouble = "ready", None
                    self._run_queued_jobs(pool)
            except _Closed:
                self._fail_unfinished(ExecutorClosed())
            except Exception as error:
                self.trouble = f"{self._verifier.name!r} can't run solutions: {error}"
                self.state = "failed"
                self._fail_unfinished(VerifierError(self.trouble))
                self._fail_jobs_until(self.trouble, time.monotonic() + _RETRY_S)

    def _fail_jobs_until(self, trouble: str, until: float) -> None:
        while not self._over.is_set() and (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                if (job := self._jobs.get(timeout=left)) is not None:
                    fail(job, VerifierError(trouble))

    def _run_queued_jobs(self, pool: ClusterPool) -> None:
        arrivals = _Arrivals(self)
        while True:
            try:
                arrivals.add(self._jobs.get(timeout=_IDLE_S))
            except queue.Empty:
                # Nodes also join and leave while there is no work.
                pool.attend()
                continue
            for (job, suite), execution in pool.run(arrivals, partial(self._drop_gone, pool)):
                if job in self._missing:
                    self._record_execution(job, suite, execution)

    def _drop_gone(self, pool: ClusterPool) -> None:
        if self._over.is_set():
            raise _Closed
        if gone := {job for job in self._missing if job.is_abandoned}:
            pool.drop(lambda key: key[0] in gone)
            for job in gone:
                del self._missing[job]
                job.answer.set_exception(ExecutorClosed())

    def arrived(self) -> SolutionJob | None:
        """Return a queued solution; None if the executor is closed.

        Raises:
            queue.Empty: No solution is queued.
        """
        return self._jobs.get_nowait()

    def pieces(self, job: SolutionJob) -> Iterator[_Piece]:
        """Yield a solution's programs if a caller still waits for it; a solution without programs is answered at
        once."""
        if not job.answer.set_running_or_notify_cancel():
            return
        try:
            programs = self._programs(job)
        except Exception as error:
            programs = internal_error_verdict(error)
        if isinstance(programs, Verdict):
            job.answer.set_result(programs)
            return
        self._missing[job] = dict.fromkeys(programs)
        yield from (((job, suite), program) for suite, program in programs.items())

    def _record_execution(self, job: SolutionJob, suite: str, execution: Execution) -> None:
        runs = self._missing[job]
        runs[suite] = execution
        found = {suite: one for suite, one in runs.items() if one is not None}
        if len(found) < len(runs):
            return
        del self._missing[job]
        try:
            verdict = self._judged(job, found)
        except Exception as error:
            verdict = internal_error_verdict(error)
        job.answer.set_result(verdict)

    def _fail_unfinished(self, error: Exception) -> None:
        for job in self._missing:
            job.answer.set_exception(error)
        self._missing.clear()


class _Arrivals(Iterator[_Piece]):
    """Iterates over the programs of queued solutions; exhausted while no solution is queued, it can be read again
    later."""

    def __init__(self, executor: NodesExecutor) -> None:
        self._executor = executor
        self._ready: deque[_Piece] = deque()

    def add(self, job: SolutionJob | None) -> None:
        if job is None:
            raise _Closed
        self._ready.extend(self._executor.pieces(job))

    def __next__(self) -> _Piece:
        while not self._ready:
            try:
                self.add(self._executor.arrived())
            except queue.Empty:
                raise StopIteration from None
        return self._ready.popleft()
