"""Which verifier rewards: an installed kind with options, or a name that a project gives both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.project import opened_project
from workbench.runs import probes
from workbench.runs.choosing import choose, make
from workbench.runs.executor import LocalExecutor
from workbench.runs.trust import require_trust
from workbench.statistics.records.probe import ProbeReport
from workbench.statistics.records.study import JUDGES_NOTHING
from workbench.training.records import ProbeSummary
from workbench.verifiers.base import ServedVerifier, Verifier
from workbench.verifiers.registry import Registry, require_local

_NEVER_TO_ACCEPT = frozenset({"P1", "P2", "P3", "P4", "P5", "P6"})


class RewardVerifier(Struct, frozen=True, kw_only=True):
    """A verifier that is to reward.

    Attributes:
        name: What it is called: its kind, or the project's name for it.
        database: Where the calls of a verifier that asks model servers are stored; None for one that works here.
        probe: How it was last probed in the project; None if it never was, or there is no project.
        warnings: What speaks against training with it.
    """

    name: str
    kind: str
    options: dict[str, str]
    verifier: Verifier | ServedVerifier
    database: Path | None = None
    probe: ProbeSummary | None = None
    warnings: tuple[str, ...] = ()

    def desk(
        self, workers: int | None = None, timeout: float | None = None, *, yielding: bool = False
    ) -> LocalExecutor:
        """It, ready to judge; for the arguments see `LocalExecutor`.

        Args:
            workers: Worker processes; one a core by default.

        Raises:
            UsageError: It asks model servers.
        """
        verifier = require_local(self.verifier)
        return LocalExecutor(
            verifier, (self.kind, self.options), workers or os.cpu_count() or 1, timeout, yielding=yielding
        )


def chosen(
    name: str,
    options: Mapping[str, str] | None = None,
    database: Path | str | None = None,
    *,
    trust: bool = False,
    asking: bool = False,
) -> RewardVerifier:
    """The verifier of a name.

    Args:
        name: An installed kind; with a database also a name from ``workbench.toml`` or the database.
        options: Option values; over a project's name they stand before its own.
        trust: Whether the user accepts what the project's files name.
        asking: Whether it may be one that asks model servers; that takes a database.

    Raises:
        UsageError: There is no such kind or option, or it runs programs, or asks model servers and may not.
        NotTrustedError: The options come from a file or the database, and the user has not accepted them.
        VerifierError: It can't be used.
        StoreError: The database can't be opened.
    """
    given = dict(options or {})
    if database is None:
        return _checked(RewardVerifier(name=name, kind=name, options=given, verifier=Registry().local(name, given)))
    with opened_project(database) as project:
        choice = choose(project, name, given)
        verifier = make(choice)
        require_trust(project, verifier, choice.options, accept=trust or choice.own)
        asks = asking and verifier.isolation == "served"
        probe = probes.latest(project, choice.name)
        return _checked(
            RewardVerifier(
                name=choice.name,
                kind=choice.kind,
                options=choice.options,
                verifier=cast("ServedVerifier", verifier) if asks else require_local(verifier),
                database=project.path if asks else None,
                probe=None if probe is None else _summary(probe),
                warnings=_warnings(choice.name, verifier.version, probe),
            )
        )


def _checked(found: RewardVerifier) -> RewardVerifier:
    if found.kind in JUDGES_NOTHING:
        raise UsageError(f"{found.name!r} judges no completions; it can't reward them.")
    return found


def _summary(probe: ProbeReport) -> ProbeSummary:
    return ProbeSummary(
        suite=probe.suite,
        created_at=probe.created_at,
        control=probe.control.asr_all,
        accepted={family.family: family.asr for family in probe.families},
    )


def _warnings(name: str, version: str, probe: ProbeReport | None) -> tuple[str, ...]:
    """Why a policy could learn to hack it, as far as anybody has looked."""
    if probe is None:
        return (f"{name} was never probed here for what it accepts that answers nothing: workbench probe DB {name}",)
    found = [
        f"{name} accepted {family.accepted:,} of {family.n:,} probes of {family.family} ({family.name})."
        for family in probe.families
        if family.family in _NEVER_TO_ACCEPT and family.accepted
    ]
    if probe.version != version:
        found.append(f"{name} was probed at version {probe.version}; this is {version}.")
    return tuple(found)
