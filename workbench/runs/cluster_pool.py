"""The sandboxes of all nodes of a cluster as one pool, for a run or for the calling process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from msgspec import structs

from workbench.core.code import Execution, Level, Program, Provenance
from workbench.core.database.connection import Database
from workbench.core.errors import RunError, WorkbenchError
from workbench.core.run import ClusterUse
from workbench.llm.records import Halt
from workbench.runs.cluster import Feed, NodeAbout, NodeReply, Nodes, connected
from workbench.runs.local import ResultSink
from workbench.runs.store import runs as stored_runs
from workbench.runs.store.runs import RunRow
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.execution.verifier import HARNESS_VERSION

LEASE_S: Final = 2.0
"""Seconds after which the unstarted work of a lease is returned."""
PROGRAMS_PER_WORKER: Final = 100
"""Maximum number of programs in a lease, for each worker of the node."""

Key = TypeVar("Key")


class SandboxNode:
    """The actor that runs solutions in sandboxes.

    Args:
        level: The isolation level; a node that doesn't support it reports that.
        workers: Number of solutions that run at a time.
        settings: Settings of the sandbox.
    """

    def __init__(self, level: Level, workers: int, settings: PoolSettings) -> None:
        self._trouble = ""
        self._pool: SandboxPool | None = None
        try:
            # The level that the user has approved at the driver must hold on this node, too.
            level_of(level, allow_unsafe=level == "L1", scratch=settings.scratch_bytes > 0)
            self._pool = SandboxPool(level, workers, settings=settings)
        except WorkbenchError as error:
            self._trouble = str(error)

    def about(self) -> NodeAbout:
        found = None if self._pool is None else self._pool.provenance()
        return NodeAbout(version=HARNESS_VERSION, trouble=self._trouble, provenance=found)

    def work(self, programs: Sequence[tuple[int, Program]]) -> NodeReply[Execution]:
        """Return the results so far, as soon as all programs have begun or the lease is over.

        Programs in progress continue during the next lease, so that no sandbox waits for another; without new programs
        this waits for them.
        """
        assert self._pool is not None
        waiting, done, until = deque(programs), list[tuple[int, Execution]](), time.monotonic() + LEASE_S
        while time.monotonic() < until and (waiting or (self._pool.is_busy and not programs and not done)):
            done += self._pool.turn(_pop_programs(waiting))
        return NodeReply(done, [number for number, _ in waiting])

    def drop(self, numbers: Sequence[int]) -> None:
        """Abandon programs that are no longer needed, whether queued or running."""
        assert self._pool is not None
        self._pool.drop(set(numbers).__contains__)


def _pop_programs(waiting: deque[tuple[int, Program]]) -> Iterator[tuple[int, Program]]:
    while waiting:
        yield waiting.popleft()


class ClusterPool(Nodes):
    """The sandboxes of all nodes, as one `SandboxPool`.

    Args:
        level: The isolation level; nodes that don't support it are rejected.
        settings: Settings of the sandboxes.
        use: Counts of the nodes' work, also in earlier starts of the run; updated in place.
    """

    def __init__(
        self,
        ray: Any,
        level: Level,
        settings: PoolSettings,
        use: ClusterUse,
        sink: ResultSink,
        look_s: float | None = None,
    ) -> None:
        def made(on_node: Callable[[Any], Any], processors: int) -> Any:
            return on_node(SandboxNode).remote(level, processors, settings)

        super().__init__(ray, made, self._rejection_reason, use, sink, look_s)
        self._first: Provenance | None = None

    def provenance(self) -> Provenance:
        """Return what test results depend on besides the texts; it is the same on every usable node."""
        if self._first is None:
            self.wait_for_first_node()
        assert self._first is not None
        return self._first

    @property
    def is_ready(self) -> bool:
        return self._first is not None

    def run(
        self, jobs: Iterable[tuple[Key, Program]], raise_if_cancelled: Callable[[], None] | None = None
    ) -> Generator[tuple[Key, Execution], None, None]:
        feed = Feed(jobs, _count_characters, PROGRAMS_PER_WORKER)
        for found in self.work(feed, raise_if_cancelled or (lambda: None)):
            yield from found

    def _rejection_reason(self, about: NodeAbout) -> str:
        if about.version != HARNESS_VERSION:
            return f"its sandbox has version {about.version}, and this one {HARNESS_VERSION}"
        if self._first is None:
            self._first = about.provenance
        if about.provenance == self._first:
            return ""
        assert about.provenance is not None
        assert self._first is not None
        before, after = structs.asdict(self._first), structs.asdict(about.provenance)
        names = ", ".join(
            f"{name} is {after[name]}, not {before[name]}" for name in after if before[name] != after[name]
        )
        return f"programs run under something else there: {names}"


@contextmanager
def cluster_sandbox(
    level: Level,
    settings: PoolSettings,
    use: ClusterUse,
    run: tuple[Database, str] | None = None,
    *,
    look_s: float | None = None,
) -> Iterator[ClusterPool]:
    """Open the sandboxes of a cluster for the calling process.

    Args:
        use: The cluster's address; counts of its nodes' work are recorded in it.
        run: The database and name of a run that also records that work; it may not have started yet.
        look_s: See `Nodes`.

    Raises:
        RunError: No cluster runs at the address, it has no usable node, or its nodes have died.
    """
    try:
        with (
            connected(use.address) as ray,
            ClusterPool(ray, level, settings, use, _CallerSink(use, run), look_s) as pool,
        ):
            yield pool
    except Halt as halt:
        raise RunError(halt.message) from halt


class _CallerSink(ResultSink):
    def __init__(self, use: ClusterUse, run: tuple[Database, str] | None) -> None:
        self._run = run
        before = None if (row := self._run_row()) is None else row.cluster
        if before is not None and before.address == use.address:
            use.nodes = before.nodes

    def note_cluster(self, use: ClusterUse) -> None:
        if self._run is not None and (row := self._run_row()) is not None:
            with self._run[0].write() as connection:
                stored_runs.put_cluster(connection, row.id, use)

    def _run_row(self) -> RunRow | None:
        return None if self._run is None else stored_runs.newest_of(self._run[0].reader(), self._run[1])


def _count_characters(program: Program) -> int:
    return len(program.source) + sum(len(test.source) + len(test.expected or "") for test in program.tests)
