"""Interfaces of verifiers, and the identity of their configurations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, NamedTuple, Protocol

from msgspec import Struct, structs

from workbench.core.code import Execution, Problem, Program, SolutionForm
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.execution.settings import PoolSettings

Isolation = Literal["inline", "process", "staged", "served", "sandbox"]
"""Where a verifier works: in the runner, in worker processes, first in the runner and then in workers, on a server, or
in the sandbox.
"""


class Identified(Protocol):
    """An object that a name can be bound to.

    Attributes:
        name: The kind's name.
        version: The kind's version; a new version makes a new run.
    """

    name: str
    version: str

    def config(self) -> dict[str, object]:
        """Return the effective options as plain JSON data, without options that change no verdict."""
        ...


class Configured(Identified, Protocol):
    """Attributes of every kind of verifier.

    A class is one kind of verifier; an object is that kind with its options. The class is called with its options as
    keyword arguments, all of them text.

    Attributes:
        description: One line for lists.
        options: Every option's name and description.
        choices: Options with a fixed set of values -> these values; optional.
        filled_in: Options that users don't set: they are filled in with the project's data when a name is bound;
            optional.
        preload: Modules worth importing once for all worker processes.
        name: The kind's name in the registry, such as ``"math-verify"``.
        version: Version of the rules, parser or library; a new one makes a new run.
        isolation: ``"inline"`` only for code that can neither hang nor crash on any text; ``"staged"`` for a
            `StagedVerifier`, ``"served"`` for a `ServedVerifier`, ``"sandbox"`` for a `SandboxedVerifier`.
    """

    description: ClassVar[str]
    options: ClassVar[dict[str, str]]
    preload: ClassVar[tuple[str, ...]] = ()
    isolation: Isolation


class Verifier(Configured, Protocol):
    """Question, reference answer and completion in, verdict out."""

    def verify(self, item: VerifierInput) -> Verdict: ...


class Pending(NamedTuple):
    """An item that the first stage defers to a worker.

    Attributes:
        key: A hash of everything the second stage's result depends on (both final answers, the type ...): items with
            equal keys get the same result; None if the item needs a separate result.
        verdict: The first stage's partial result, mainly final answers and spans; the second stage replaces outcome,
            score, reason, rule and detail. None if the second stage's verdict is the whole result.
    """

    key: bytes | None = None
    verdict: Verdict | None = None

    def merged(self, found: Verdict) -> Verdict:
        """Return the partial result completed by the second stage's."""
        if self.verdict is None:
            return found
        return structs.replace(
            self.verdict,
            outcome=found.outcome,
            score=found.score,
            reason=found.reason,
            rule=found.rule,
            detail=found.detail,
            ms=self.verdict.ms + found.ms,
        )


class StagedVerifier(Verifier, Protocol):
    """A verifier that decides most items at once and defers the others to worker processes.

    Its `verify` decides any item, in a worker.
    """

    def quick(self, item: VerifierInput) -> Verdict | Pending:
        """Return the verdict, or the deferred comparison; this must neither hang nor crash on any text."""
        ...


class Judged(Struct, frozen=True, kw_only=True):
    """A `ServedVerifier`'s result on one item.

    Attributes:
        votes: The verdicts that were combined (the samples of a vote), in their order; empty for a single verdict.
        trace: How the verdict was reached (a tree, a list of tests ...), as plain JSON data.
    """

    verdict: Verdict
    votes: tuple[Verdict, ...] = ()
    trace: dict[str, Any] | None = None

    def samples(self, item: int) -> list[tuple[int, int, Verdict]]:
        """Return the rows to store: the item's verdict as sample 0, then its votes."""
        return [(item, sample, verdict) for sample, verdict in enumerate((self.verdict, *self.votes))]


class ServedVerifier(Configured, Protocol):
    """A verifier that calls model servers.

    It judges many items at a time in the runner's event loop, and may wait only in ``ask``.
    """

    def servers(self) -> dict[str, ModelServer]: ...

    def limits(self) -> Limits: ...

    def calls_per_item(self) -> float:
        """Return the average number of calls for an item if no reply is stored yet."""
        ...

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """Return the verdict on one completion.

        Args:
            item: The item.
            ask: Calls a server; its exceptions must not be caught.
            secret: The database's secret, from which delimiters are derived.
        """
        ...


class SandboxedVerifier(Configured, Protocol):
    """A verifier that runs solutions of code problems against tests in a sandbox.

    Attributes:
        suites: Names of the suites of tests, in order.
        seeds: Hash seeds of the interpreter; the first decides, the others show whether the verdict depends on it.
        wanted: The requested isolation: a `Level`, or ``"best"`` for the highest that this machine supports.
        interpreter: The path of another Python interpreter; None for the current one.
        scratch: Size of a writable folder for solutions in bytes; 0 for none.
        extractor: How code is extracted from a reply: name and version.
    """

    suites: tuple[str, ...]
    seeds: tuple[int, ...]
    wanted: str
    interpreter: str | None
    scratch: int
    extractor: str

    def settings(self, seed: int) -> PoolSettings: ...

    def programs(self, problem: Problem, text: str, form: SolutionForm | None) -> dict[str, Program]:
        """Return the programs to run, by suite; empty if the problem has no tests of these suites.

        Args:
            problem: The problem with its suites' tests.
            text: The stored solution.
            form: The form of the text, if known.
        """
        ...

    def verdict(
        self, problem: Problem | None, text: str, form: SolutionForm | None, runs: Sequence[Mapping[str, Execution]]
    ) -> Judged:
        """Return the verdict on a solution.

        Args:
            problem: The code problem; None for an item that isn't code.
            runs: Results of its programs by suite, for each seed; empty if it had no programs.
        """
        ...


AnyVerifier = Verifier | ServedVerifier | SandboxedVerifier


SERVER_AT: Final = "server_at"
"""The configuration's key for what identifies a server's replies: `ModelServer.places`."""

TEST_SERVER_AT: Final = "test_server_at"
"""The same key for a separate server that writes tests."""


def identity(verifier: Identified) -> str:
    """Return a hash of the kind and its configuration; the version is excluded and stored separately."""
    return _hash(verifier.name, verifier.config())


def is_identity(verifier: Identified, known: str) -> bool:
    """Return whether a hash is this verifier's; a hash from before configurations named the server matches any
    server."""
    return known in (identity(verifier), _hash(verifier.name, _without_servers(verifier.config())))


def _without_servers(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_servers(one) for name, one in value.items() if name not in (SERVER_AT, TEST_SERVER_AT)}


def _hash(kind: str, config: dict[str, object]) -> str:
    canonical = json.dumps({"kind": kind, "config": config}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()
