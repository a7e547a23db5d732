"""What a verifier is, and what tells its configurations apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, Protocol

from msgspec import Struct

from workbench.core.code import Execution, Problem, Program, SolutionForm
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.execution.settings import PoolSettings

Isolation = Literal["inline", "process", "staged", "served", "sandbox"]
"""Where a verifier works: in the runner, in worker processes, first in one and then the other, on a server, or in the
sandbox."""


class Identified(Protocol):
    """What a name is bound to.

    Attributes:
        name: The kind's name.
        version: What it is at; a new one makes a new run.
    """

    name: str
    version: str

    def config(self) -> dict[str, object]:
        """The options in force, as plain data that JSON can hold; what changes no verdict is left out."""
        ...


class Configured(Identified, Protocol):
    """What every kind of verifier has.

    A class is one kind of verifier; an object is that kind with its options. The class is called with
    its options as keyword arguments, all of them text.

    Attributes:
        description: One line for lists.
        options: Every option's name and what it does.
        choices: Options that take a few words only -> these words; a verifier need not have it.
        filled_in: Options that nobody gives: they hold what a project had when the name was bound; a verifier need not
            have it.
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

    def verify(self, item: VerifierInput) -> Verdict:
        """The verdict on one completion."""
        ...


class Pending(Struct, frozen=True, kw_only=True):
    """An item that the first stage leaves to a worker.

    Attributes:
        key: A hash of all that the second stage's answer depends on (both final answers, the type ...): items of
            equal keys get the same answer.
        verdict: What the first stage knows of this item, final answers and spans above all; outcome, score,
            reason, rule and detail will be the second stage's.
    """

    key: bytes
    verdict: Verdict


class StagedVerifier(Verifier, Protocol):
    """A verifier that decides most items at once and leaves the rest to worker processes.

    Its `verify` decides any item by itself, in a worker.
    """

    def quick(self, item: VerifierInput) -> Verdict | Pending:
        """The verdict, or what is left to compare; it may neither hang nor crash on any text."""
        ...


class Judged(Struct, frozen=True, kw_only=True):
    """What a `ServedVerifier` makes of one item.

    Attributes:
        votes: The verdicts it was made of (the samples of a vote), in their order; empty for a single one.
        trace: How it came about (a tree, a list of tests ...), as plain data that JSON can hold.
    """

    verdict: Verdict
    votes: tuple[Verdict, ...] = ()
    trace: dict[str, Any] | None = None

    def samples(self, item: int) -> list[tuple[int, int, Verdict]]:
        """As the store takes them: the item's verdict as sample 0, then its votes."""
        return [(item, sample, verdict) for sample, verdict in enumerate((self.verdict, *self.votes))]


class ServedVerifier(Configured, Protocol):
    """A verifier that asks model servers.

    It runs in the runner, many items at a time; all its waiting is in ``ask``.
    """

    def servers(self) -> dict[str, ModelServer]:
        """The servers it asks, by role; ``"judge"`` is always there."""
        ...

    def limits(self) -> Limits:
        """How much it may ask."""
        ...

    def calls_per_item(self) -> float:
        """How many calls an item takes, on average and without a stored reply."""
        ...

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """The verdict on one completion.

        Args:
            item: What to judge.
            ask: Asks a server; its failures are not to be caught.
            secret: The database's own secret, for delimiters that no author of a text can guess.
        """
        ...


class SandboxedVerifier(Configured, Protocol):
    """A verifier that runs solutions of code problems against tests, where they can do no harm.

    Attributes:
        suites: Names of the suites of tests, in order.
        seeds: Hash seeds of the interpreter; the first decides, the others tell whether the verdict holds.
        wanted: How solutions are to be kept in: a `Level`, or ``"best"`` for the highest that holds here.
        interpreter: The path of an interpreter other than this one; None for this one.
        scratch: Bytes of a folder that solutions may write in; 0 for none.
        extractor: How code is taken from a reply: name and version.
    """

    suites: tuple[str, ...]
    seeds: tuple[int, ...]
    wanted: str
    interpreter: str | None
    scratch: int
    extractor: str

    def settings(self, seed: int) -> PoolSettings:
        """What the sandbox is told."""
        ...

    def programs(self, problem: Problem, text: str, form: SolutionForm | None) -> dict[str, Program]:
        """What is to be run, by suite; nothing where the problem has no tests of these suites.

        Args:
            problem: With the tests of the suites that it has.
            text: The stored solution.
            form: What the text is, if that is known.
        """
        ...

    def verdict(
        self, problem: Problem | None, text: str, form: SolutionForm | None, runs: Sequence[Mapping[str, Execution]]
    ) -> Judged:
        """The verdict on a solution.

        Args:
            problem: None for an item that is no code.
            runs: What came of its programs by suite, for each seed; empty where there was nothing to run.
        """
        ...


AnyVerifier = Verifier | ServedVerifier | SandboxedVerifier


SERVER_AT: Final = "server_at"
"""The name in a configuration of what tells a server's replies from those of others: `ModelServer.places`."""

TEST_SERVER_AT: Final = "test_server_at"
"""The same for the server that writes tests, where that is another one."""


def identity(verifier: Identified) -> str:
    """A hash of the kind and its configuration; the version is kept beside it, not in it."""
    return _hash(verifier.name, verifier.config())


def is_identity(verifier: Identified, known: str) -> bool:
    """Whether a hash is this verifier's; one that was stored before configurations named the server is so at any."""
    return known in (identity(verifier), _hash(verifier.name, _placeless(verifier.config())))


def _placeless(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _placeless(one) for name, one in value.items() if name not in (SERVER_AT, TEST_SERVER_AT)}


def _hash(kind: str, config: dict[str, object]) -> str:
    canonical = json.dumps(
        {"kind": kind, "config": config},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(canonical.encode()).hexdigest()
