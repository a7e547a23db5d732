"""The kind ``judge-panel``: a panel of verifiers that call model servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from msgspec import Struct

from workbench.config.verifiers import MEMBERS, MEMBERS_MADE, members_in
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, CallFailed, Reply, Request
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.base import Isolation, Judged, ServedVerifier, identity
from workbench.verifiers.judges.panel import ReducerOptions, reducer_from
from workbench.verifiers.judges.verifier import LlmJudge
from workbench.verifiers.judges.voting import run_concurrently
from workbench.verifiers.option_record import choices, meanings
from workbench.verifiers.serving import LIMIT_OPTIONS, limits_from, required

_PACES = ("concurrency", "rpm", "tpm")


class _ServedMember(Struct, frozen=True):
    name: str
    verifier: ServedVerifier


class JudgePanel:
    """A panel of a project's named verifiers; an option that is filled in when it starts describes each of them."""

    description: ClassVar[str] = "Panel of this project's judges: one verdict by vote"
    options: ClassVar[dict[str, str]] = {
        MEMBERS: "names of the panel's judges, as in workbench.toml or the database, such as qwen,mistral,gpt",
        **meanings(ReducerOptions, Limits),
    }
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(ReducerOptions)
    filled_in: ClassVar[frozenset[str]] = frozenset({MEMBERS_MADE})
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "judge-panel"
    isolation: Isolation = "served"

    def __init__(self, **options: str) -> None:
        # A direct import would be circular: the registry imports this package.
        from workbench.verifiers.registry import Registry

        names = list(dict.fromkeys(part.strip() for part in required(options, MEMBERS).split(",") if part.strip()))
        if len(names) < 2:
            raise ValueError(f"{MEMBERS}: a panel has two or more judges")
        registry = Registry()
        loaded = [
            _ServedMember(one.name, _require_served(registry.load(one.kind, one.options)))
            for one in members_in(options)
        ]
        self._members = loaded
        graded = all(isinstance(one.verifier, LlmJudge) and one.verifier.is_graded for one in loaded)
        self._reducer = reducer_from(options, len(names), graded=graded and bool(loaded))
        self._limits = _combine_limits([one.verifier.limits() for one in loaded], limits_from(options), options)
        self.version = "-".join(("1", *(one.verifier.version for one in loaded)))

    def config(self) -> dict[str, object]:
        members = {one.name: identity(one.verifier) for one in self._members}
        return {MEMBERS: members, **self._reducer.config()}

    def servers(self) -> dict[str, ModelServer]:
        return {
            _member_role(one.name, role): server
            for one in self._members
            for role, server in one.verifier.servers().items()
        }

    def limits(self) -> Limits:
        """Return the panel's budget, or the sum of the members' budgets if it has none, and the strictest of their
        rates."""
        return self._limits

    def calls_per_item(self) -> float:
        return sum(one.verifier.calls_per_item() for one in self._members)

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """Return the panel's verdict; the votes are the members' verdicts in their order, "error" for failed calls."""
        if not self._members:
            raise ValueError(f"{MEMBERS}: the members are looked up when a run starts")
        judged = await run_concurrently(_member_verdict(one, item, ask, secret) for one in self._members)
        votes = tuple(one.verdict for one in judged)
        if all(vote.outcome is Outcome.ERROR for vote in votes):
            return Judged(verdict=votes[0], votes=votes)
        traces = {one.name: vote.trace for one, vote in zip(self._members, judged, strict=True) if vote.trace}
        verdict = self._reducer.reduced(votes)
        return Judged(verdict=verdict, votes=votes, trace={"judge": self.name, "members": traces} if traces else None)


async def _member_verdict(member: _ServedMember, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
    async def ask_as_member(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        return await ask(request, step=step, role=_member_role(member.name, role), sample=sample)

    try:
        return await member.verifier.judge(item, ask_as_member, secret)
    except CallFailed as failed:
        return Judged(verdict=Verdict(outcome=Outcome.ERROR, reason=failed.code, detail=failed.detail))


def _member_role(name: str, role: str) -> str:
    return name if role == "judge" else f"{name}/{role}"


def _require_served(verifier: object) -> ServedVerifier:
    if getattr(verifier, "isolation", None) != "served":
        raise ValueError(f"{MEMBERS}: {getattr(verifier, 'name', '')} asks no model server")
    return cast("ServedVerifier", verifier)


def _combine_limits(members: Sequence[Limits], own: Limits, options: dict[str, str]) -> Limits:
    if not members:
        return own
    found: dict[str, Any] = {}
    for name in Limits.__struct_fields__:
        given = [value for one in members if (value := getattr(one, name)) is not None]
        found[name] = (min if name in _PACES else sum)(given) if given else None
    return Limits(**{**found, **{name: getattr(own, name) for name in options.keys() & LIMIT_OPTIONS.keys()}})
