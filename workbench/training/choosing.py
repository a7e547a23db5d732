"""Choose the verifier that gives rewards: an installed kind with options, or a project's name for both."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar, cast

from msgspec import Struct, structs

from workbench.core.columns import is_number
from workbench.core.errors import UsageError, opt
from workbench.core.installed import require_app
from workbench.core.options import Options, option
from workbench.core.run import ClusterUse
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.runs.executor import LocalExecutor
from workbench.training.pay import SuitePay, SuiteVerdict
from workbench.training.records import ProbeSummary
from workbench.verifiers.base import AnyVerifier, ServedVerifier, identity
from workbench.verifiers.registry import Registry, require_local


class RewardVerifier(Struct, frozen=True, kw_only=True):
    """A verifier that gives rewards.

    Attributes:
        name: The verifier's kind, or its name in the project.
        database: The project with the settings of a verifier that calls model servers; None for a local verifier.
        journal: The database for the calls of a verifier that calls model servers; None for a local verifier.
        probe: The verifier's last probe in the project; None without a probe or a project.
        warnings: Messages to the user with reasons not to train with the verifier.
        cluster: The cluster that runs solutions for a server, instead of this machine.

    Raises:
        UsageError: A cluster is given, but the verifier runs no solutions.
    """

    name: str
    kind: str
    options: dict[str, str]
    verifier: AnyVerifier
    database: Path | None = None
    journal: Path | None = None
    probe: ProbeSummary | None = None
    warnings: tuple[str, ...] = ()
    cluster: ClusterUse | None = None

    def __post_init__(self) -> None:
        if self.cluster is not None and not self.by_tests:
            raise UsageError(
                f"{self.name!r} runs no solutions: only these go to the nodes of a cluster.",
                f"Leave {opt.on} out, and start a server on every node that trains.",
            )

    @property
    def identity(self) -> str:
        return identity(self.verifier)

    @property
    def by_tests(self) -> bool:
        return self.verifier.isolation == "sandbox"

    def executor(self, workers: int | None = None, timeout: float | None = None, *, spare: int = 0) -> LocalExecutor:
        """Return an executor of the verifier; for the arguments see `LocalExecutor`.

        Args:
            workers: Worker processes; by default one per core.

        Raises:
            UsageError: The verifier calls model servers, or runs programs.
        """
        verifier = require_local(self.verifier)
        return LocalExecutor(verifier, (self.kind, self.options), workers or os.cpu_count() or 1, timeout, spare=spare)


def load_reward_verifier(
    name: str,
    options: Mapping[str, str] | None = None,
    database: Path | str | None = None,
    *,
    trust: bool = False,
    asking: bool = False,
    journal: Path | str | None = None,
) -> RewardVerifier:
    """Return the verifier with a name.

    Args:
        name: An installed kind; with a database also a name from ``workbench.toml`` or the database.
        options: Option values; they override those that the project stores for the name.
        trust: Whether the user accepts the settings in the project's files.
        asking: Whether the verifier may call model servers; this requires a database or a journal.
        journal: The database that stores its calls to model servers; by default the project.

    Raises:
        UsageError: No such kind or option exists, or the verifier calls model servers without ``asking``.
        NotTrustedError: The options come from a file or the database, and the user has not accepted them.
        VerifierError: The verifier can't be used.
        StoreError: The database can't be opened.
    """
    given = dict(options or {})
    if database is None:
        return _load_without_project(name, given, None if journal is None or not asking else Path(journal))
    require_app("A database's verifiers")

    from workbench.training.named import load_named_verifier

    return load_named_verifier(database, name, given, trust=trust, asking=asking, journal=journal)


def _load_without_project(kind: str, given: dict[str, str], journal: Path | None) -> RewardVerifier:
    verifier = Registry().load(kind, given)
    if verifier.isolation != "served":
        local = verifier if verifier.isolation == "sandbox" else require_local(verifier)
        return RewardVerifier(name=kind, kind=kind, options=given, verifier=local, warnings=limitation_warnings(local))
    if journal is None:
        raise UsageError(
            f"{kind!r} asks a model server; its calls are stored in a database.",
            'Give a project, or in Python a file for the calls: journal="calls.db"',
        )
    require_app("A verifier that asks model servers")
    from workbench.runs.choosing import PANEL, STACK
    from workbench.statistics.records.probe import JUDGES_NOTHING

    if kind in (PANEL, STACK):
        raise UsageError(f"{kind!r} consists of a project's verifiers.", 'Name the project: database="p.db"')
    if kind in JUDGES_NOTHING:
        raise UsageError(f"{kind!r} judges no completions: it can't reward them.")
    served = cast("ServedVerifier", verifier)
    return RewardVerifier(name=kind, kind=kind, options=given, verifier=served, journal=journal)


def limitation_warnings(verifier: AnyVerifier) -> tuple[str, ...]:
    lack = getattr(verifier, "lack", None)
    return () if lack is None else (f"{verifier.name} works without computer algebra. {lack}",)


# -- The queue of items: limited in characters and, if a maximum is set, in items.


MAX_WAITING_CHARACTERS = 256 << 20
"""Maximum characters of waiting items."""


T = TypeVar("T")


class Busy(Exception):
    """The queue has no room for more items, or the time is up."""


class WaitingItems:
    """The queue of waiting items.

    Args:
        most: Maximum items in the queue and in one request; None limits only their characters.

    Attributes:
        count: Number of waiting items.
    """

    def __init__(self, most: int | None = None) -> None:
        self.count = 0
        self._most = most
        self._characters = 0

    def require_fit(self, items: Sequence[VerifierInput]) -> None:
        """Reject a request that can never fit.

        Raises:
            UsageError: The request has more items, or longer texts, than fit in the empty queue.
        """
        if self._most is not None and len(items) > self._most:
            raise UsageError(f"{len(items):,} items are too many for one request.", f"At most: {self._most:,}.")
        if (characters := sum(item.characters for item in items)) > MAX_WAITING_CHARACTERS:
            raise UsageError(f"{characters:,} characters are too many.", f"At most: {MAX_WAITING_CHARACTERS:,}.")

    @contextmanager
    def room(self, items: Sequence[VerifierInput]) -> Iterator[None]:
        """Reserve room in the queue for items during the block.

        Raises:
            Busy: There is no room for all items; none is queued.
        """
        characters = sum(item.characters for item in items)
        full = self._most is not None and self.count + len(items) > self._most
        if items and (full or self._characters + characters > MAX_WAITING_CHARACTERS):
            raise Busy
        self.count += len(items)
        self._characters += characters
        try:
            yield
        finally:
            self.count -= len(items)
            self._characters -= characters


async def gather_all(waited: Sequence[Awaitable[T]]) -> list[T]:
    results = await asyncio.gather(*waited, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


# -- From verdicts to rewards.


_REWARDS = {Outcome.CORRECT: 1.0, Outcome.INCORRECT: 0.0}


class Scale(Options, frozen=True, kw_only=True):
    """The reward of each verdict.

    A reward of None excludes the completion from training, if the trainer supports that.

    Raises:
        UsageError: ``undecided`` is not a finite number.
    """

    undecided: Annotated[
        float | None, option("Reward for an abstention or an error.  [default: no reward (null)]", metavar="REWARD")
    ] = None
    own_score: Annotated[bool, option("Return the verifier's score as the reward, if it gives one.")] = False
    tests: SuitePay = SuitePay()

    def __post_init__(self) -> None:
        if self.undecided is not None and not (is_number(self.undecided) and math.isfinite(self.undecided)):
            raise UsageError(
                f"undecided={self.undecided!r} is not a valid reward.", "Give a number, or None to leave it out."
            )

    def reward(self, verdict: Verdict) -> float | None:
        """Return a verdict's reward; None excludes the completion from training."""
        if isinstance(verdict, SuiteVerdict):
            as_share = self.own_score and self.tests.pay == "all"
            tests = structs.replace(self.tests, pay="share") if as_share else self.tests
            return tests.reward(verdict, self.undecided)
        if self.own_score and (score := finite(verdict.score)) is not None:
            return score
        return _REWARDS.get(verdict.outcome, self.undecided)

    def number(self, verdict: Verdict) -> float:
        """Return a verdict's reward for a trainer that accepts only numbers: 0.0 where `reward` returns None."""
        reward = self.reward(verdict)
        return 0.0 if reward is None else reward


def is_undecided(verdict: Verdict) -> bool:
    return verdict.outcome not in _REWARDS


def finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None
