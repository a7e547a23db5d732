"""What works on a node of a cluster: that node's own workers, kept warm, for one run; it knows nothing of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from workbench.core.code import Execution, Level, Program, Provenance
from workbench.core.errors import WorkbenchError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.runs.executor import LocalExecutor
from workbench.verifiers.base import SandboxedVerifier, identity
from workbench.verifiers.registry import Registry


class NodeAbout(Struct, frozen=True, kw_only=True):
    """What a node has to say for itself before it is given any work.

    Attributes:
        version: Its verifier's.
        identity: A hash of its kind and configuration.
        trouble: Why it can't work; "" where it can.
        provenance: What outcomes of programs depend on there.
    """

    version: str
    identity: str
    trouble: str = ""
    provenance: Provenance | None = None


class ReadingNode:
    """A verifier that needs texts alone.

    Args:
        workers: Its worker processes.
    """

    def __init__(self, kind: str, options: dict[str, str], workers: int) -> None:
        self._verifier = Registry().local(kind, options)
        self._executor = LocalExecutor(self._verifier, (kind, options), workers)

    def about(self) -> NodeAbout:
        """See `NodeAbout`."""
        return NodeAbout(version=self._verifier.version, identity=identity(self._verifier))

    def work(self, items: Sequence[VerifierInput]) -> list[Verdict]:
        """The verdicts on items, in their order."""
        return self._executor.judge(items)


class SandboxNode:
    """A sandbox for solutions.

    Args:
        level: How solutions are kept in; a node where that doesn't hold says so.
        seed: The hash seed they run under.
    """

    def __init__(self, kind: str, options: dict[str, str], workers: int, level: Level, seed: int) -> None:
        from workbench.verifiers.execution.levels import level_of
        from workbench.verifiers.execution.pool import SandboxPool

        verifier = cast("SandboxedVerifier", Registry().load(kind, options))
        self._verifier, self._trouble = verifier, ""
        self._pool: SandboxPool | None = None
        try:
            # What the driver asks for, as the user has agreed to it; here it has to hold by itself.
            level_of(level, allow_unsafe=level == "L1", scratch=verifier.scratch > 0)
            self._pool = SandboxPool(level, workers, settings=verifier.settings(seed))
        except WorkbenchError as error:
            self._trouble = str(error)

    def about(self) -> NodeAbout:
        """See `NodeAbout`."""
        return NodeAbout(
            version=self._verifier.version,
            identity=identity(self._verifier),
            trouble=self._trouble,
            provenance=None if self._pool is None else self._pool.provenance(),
        )

    def work(self, programs: Sequence[Program]) -> list[Execution]:
        """What came of programs, in their order."""
        assert self._pool is not None
        found = dict(self._pool.run(enumerate(programs)))
        return [found[place] for place in range(len(programs))]
