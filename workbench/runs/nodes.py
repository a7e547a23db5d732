"""The actor on a cluster's node: for one run, it keeps the node's worker processes running."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final, Generic, TypeVar

from msgspec import Struct

from workbench.core.code import Execution, Level, Program, Provenance
from workbench.core.errors import WorkbenchError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import LocalExecutor
from workbench.verifiers.base import identity
from workbench.verifiers.execution.levels import level_of
from workbench.verifiers.execution.pool import SandboxPool
from workbench.verifiers.execution.settings import PoolSettings
from workbench.verifiers.execution.verifier import HARNESS_VERSION
from workbench.verifiers.registry import Registry

LEASE_S: Final = 2.0
"""Seconds after which the unstarted work of a lease is returned."""
Result = TypeVar("Result")


class NodeAbout(Struct, frozen=True, kw_only=True):
    """A node's description of itself, before it gets work.

    Attributes:
        version: The version of its verifier or sandbox.
        identity: A hash of its verifier's kind and configuration.
        trouble: Why the node can't work; "" if it can.
        provenance: What the results of programs at this node depend on; None if it runs no programs.
    """

    version: str
    identity: str = ""
    trouble: str = ""
    provenance: Provenance | None = None


class NodeReply(Struct, Generic[Result]):
    """A node's results so far.

    Attributes:
        done: Pairs of a piece's number and its result, including those of earlier leases.
        back: Numbers of the pieces that were not begun within the lease, returned for other nodes.
    """

    done: list[tuple[int, Result]]
    back: list[int] = []


class ReadingNode:
    """The actor of a verifier that needs only texts.

    Args:
        workers: Number of worker processes.
    """

    def __init__(self, kind: str, options: dict[str, str], workers: int) -> None:
        self._verifier = Registry().local(kind, options)
        self._executor = LocalExecutor(self._verifier, (kind, options), workers)

    def about(self) -> NodeAbout:
        return NodeAbout(version=self._verifier.version, identity=identity(self._verifier))

    def work(self, items: Sequence[tuple[int, VerifierInput]]) -> NodeReply[Verdict]:
        verdicts = self._executor.judge([item for _, item in items])
        return NodeReply([(number, verdict) for (number, _), verdict in zip(items, verdicts, strict=True)])


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
