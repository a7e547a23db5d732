"""Find a verifier for rewards by its name in a project, with its last probe."""

from __future__ import annotations

from pathlib import Path

from workbench.core.errors import Command, UsageError
from workbench.core.project import opened_project
from workbench.runs import probes
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.trust import require_trust
from workbench.statistics.records.probe import JUDGES_NOTHING, ProbeReport
from workbench.training.choosing import RewardVerifier, limitation_warnings
from workbench.training.records import ProbeSummary
from workbench.verifiers.registry import require_local

_NEVER_TO_ACCEPT = frozenset({"P1", "P2", "P3", "P4", "P5", "P6"})


def load_named_verifier(
    database: Path | str,
    name: str,
    given: dict[str, str],
    *,
    trust: bool = False,
    asking: bool = False,
    journal: Path | str | None = None,
) -> RewardVerifier:
    """Return the verifier with a name in a project; see `workbench.training.choosing.load_reward_verifier`."""
    with opened_project(database) as project:
        choice = resolve_verifier(project, name, given)
        verifier = construct_verifier(choice)
        if choice.kind in JUDGES_NOTHING:
            raise UsageError(f"{choice.name!r} judges no completions: it can't reward them.")
        require_trust(project, verifier, choice.options, accept=trust or choice.own)
        asks = asking and verifier.isolation == "served"
        chosen = verifier if asks or verifier.isolation == "sandbox" else require_local(verifier)
        probe = probes.latest(project, choice.name)
        return RewardVerifier(
            name=choice.name,
            kind=choice.kind,
            options=choice.options,
            verifier=chosen,
            database=project.path if asks else None,
            journal=Path(journal or project.path) if asks else None,
            probe=None if probe is None else _summarise_probe(probe),
            warnings=(*limitation_warnings(chosen), *_probe_warnings(choice.name, verifier.version, probe)),
        )


def _summarise_probe(probe: ProbeReport) -> ProbeSummary:
    return ProbeSummary(
        suite=probe.suite,
        created_at=probe.created_at,
        control=probe.control.asr_all,
        accepted={family.family: family.asr for family in probe.families},
    )


def _probe_warnings(name: str, version: str, probe: ProbeReport | None) -> tuple[str, ...]:
    if probe is None:
        return (f"{name} was never probed here for what it accepts wrongly: {Command(f'probe DB {name}')}",)
    found = [
        f"{name} accepted {family.accepted:,} of {family.n:,} probes of {family.family} ({family.name})."
        for family in probe.families
        if family.family in _NEVER_TO_ACCEPT and family.accepted
    ]
    if probe.version != version:
        found.append(f"{name} was probed at version {probe.version}; this is {version}.")
    return tuple(found)
