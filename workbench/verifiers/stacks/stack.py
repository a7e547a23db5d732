"""The kind ``stack``: verifiers in sequence; each judges the items that the earlier ones left undecided.

A stage names the verdicts that decide an item: ``rules:correct``, ``qwen:score>=0.9/score<=0.1@A/B2``, ``gpt``.
"""

from __future__ import annotations

import copy
import math
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, cast

from msgspec import Struct, structs

from workbench.config.verifiers import STAGES_MADE, PanelMember, stages_in
from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask, Reply, Request
from workbench.llm.server import Limits, ModelServer, StageLimits
from workbench.verifiers.base import AnyVerifier, Isolation, Judged, ServedVerifier, Verifier, identity
from workbench.verifiers.judging import judged_by_server
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.serving import LIMIT_OPTIONS, limits_from

if TYPE_CHECKING:
    from workbench.verifiers.registry import Registry


STAGES = "stages"
"""The option with a stack's stages."""
MAX_STAGES = 20
_WORDS = {
    "correct": (Outcome.CORRECT,),
    "incorrect": (Outcome.INCORRECT,),
    "both": (Outcome.CORRECT, Outcome.INCORRECT),
}
_SCORE = re.compile(r"score\s*(>=|<=)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)")
_TYPE = re.compile(r"[A-Z]\d{0,2}")
_SETTLES = "correct, incorrect, both, score>=NUMBER or score<=NUMBER, several with /"


class Stage(Struct, frozen=True, kw_only=True):
    """A verifier in a stack.

    Attributes:
        name: The verifier's name.
        outcomes: The verifier's verdicts that decide an item.
        least: Minimum score at which an item is correct, whatever the verdict; None without one.
        most: Maximum score at which an item is incorrect, whatever the verdict; None without one.
        types: Answer types or subtypes that the stage is called for; empty for all items.
    """

    name: str
    outcomes: frozenset[Outcome] = frozenset()
    least: float | None = None
    most: float | None = None
    types: tuple[str, ...] = ()

    def is_for(self, subtype: str | None) -> bool:
        """Return whether the stage is called for items of a subtype; a stage with types ignores untyped items.

        The type ``A`` includes the subtype ``A1``.
        """
        return not self.types or (subtype is not None and not {subtype, subtype[:1]}.isdisjoint(self.types))

    def settled(self, verdict: Verdict) -> Outcome | None:
        """Return the stack's outcome by this stage's verdict; None if the item is passed on to the next stage."""
        if verdict.outcome is Outcome.ERROR:
            return None
        score = verdict.score
        if score is not None and self.least is not None and score >= self.least:
            return Outcome.CORRECT
        if score is not None and self.most is not None and score <= self.most:
            return Outcome.INCORRECT
        return verdict.outcome if verdict.outcome in self.outcomes else None

    def __str__(self) -> str:
        found = [word for word, outcomes in _WORDS.items() if self.outcomes == frozenset(outcomes)]
        found += [f"score>={_format_score(self.least)}"] if self.least is not None else []
        found += [f"score<={_format_score(self.most)}"] if self.most is not None else []
        return f"{self.name}:{'/'.join(found)}{'@' if self.types else ''}{'/'.join(self.types)}"


def _format_score(score: float) -> str:
    short = f"{score:g}"
    return short if float(short) == score else repr(float(score))


def stages(text: str) -> tuple[Stage, ...]:
    """Parse the stages of an option, in their order.

    Raises:
        ValueError: No stage is given, or one has another format.
    """
    found = tuple(_parse_stage(part.strip()) for part in text.split(",") if part.strip())
    if not found:
        raise ValueError(f"{STAGES}: it is missing")
    if len(found) > MAX_STAGES:
        raise ValueError(f"{STAGES}: {MAX_STAGES} at most, not {len(found)}")
    return found


def format_stages(found: Iterable[Stage]) -> str:
    return ", ".join(map(str, found))


def _parse_stage(text: str) -> Stage:
    name, colon, rule = text.partition(":")
    if not name.strip():
        raise ValueError(f"{STAGES}: {text!r} doesn't name a verifier")
    said, at, types = rule.partition("@")
    conditions = [part.strip() for part in said.split("/")] if said.strip() else []
    if colon and not conditions and not at:
        raise ValueError(f"{STAGES}: {text!r}: write the deciding rule after the colon: {_SETTLES}")
    stage = Stage(name=name.strip(), types=_parse_types(text, types) if at else ())
    outcomes: frozenset[Outcome] = frozenset()
    least, most = None, None
    for condition in conditions or ["both"]:
        if condition in _WORDS:
            outcomes |= frozenset(_WORDS[condition])
        elif scored := _SCORE.fullmatch(condition):
            number = _parse_score(text, scored[2])
            if (least if scored[1] == ">=" else most) is not None:
                raise ValueError(f"{STAGES}: {text!r} has two conditions with {scored[1]}; give one of them")
            least, most = (number, most) if scored[1] == ">=" else (least, number)
        else:
            raise ValueError(f"{STAGES}: {condition!r} decides nothing; write {_SETTLES}")
    if least is not None and most is not None and most >= least:
        raise ValueError(
            f"{STAGES}: {text!r}: a score from {most:g} down can't be incorrect and from {least:g} up correct"
        )
    return Stage(name=stage.name, outcomes=outcomes, least=least, most=most, types=stage.types)


def _parse_score(text: str, written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{STAGES}: {text!r}: {written} is too large")
    return number


def _parse_types(text: str, written: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(part.strip() for part in written.split("/")))
    for one in found:
        if not _TYPE.fullmatch(one):
            raise ValueError(f"{STAGES}: {text!r}: write answer types after @, such as A/B2")
    return found


LocalJudge = Callable[[VerifierInput], Awaitable[Verdict]]
"""Has a local verifier judge an item, in a process where it may hang or crash without harm."""
WHEN_SPENT: Final = "when_spent"
NO_STAGE: Final = "no_stage"
"""The reason of the verdict on an item whose answer type has no stage."""
RULE: Final = "stage."
"""The rule of a verdict that a stage decided or deferred; the stage's name follows."""
_PACES = ("rpm", "tpm")


class LocalPart(Struct, frozen=True):
    name: str
    verifier: Verifier
    spec: tuple[str, dict[str, str]]


class StageOptions(Options, frozen=True, kw_only=True):
    stages: Annotated[str, option("stages in order, such as rules:correct, qwen:score>=0.9/score<=0.1@A/B2, gpt")]
    when_spent: Annotated[
        Literal["pause", "next"],
        option("what happens if a stage's own budget is used up: pause the run, or go to the next stage"),
    ] = "pause"


class Stack:
    """Stages in order; an option that is filled in when it starts defines their verifiers."""

    description: ClassVar[str] = "Sequence of verifiers: each judges the items that earlier ones deferred"
    options: ClassVar[dict[str, str]] = {
        **meanings(StageOptions),
        **{name: f"{about}, all stages together" for name, about in LIMIT_OPTIONS.items() if name not in _PACES},
    }
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(StageOptions)
    filled_in: ClassVar[frozenset[str]] = frozenset({STAGES_MADE})
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "stack"
    isolation: Isolation = "served"

    def __init__(self, **options: str) -> None:
        # A direct import would be circular: the registry imports this package.
        from workbench.verifiers.registry import Registry

        own = parse_record(StageOptions, options)
        self.stages, self._when_spent = stages(own.stages), own.when_spent
        registry = Registry()
        self._made = {one.name: (one, _load_stage(one, registry)) for one in stages_in(options)}
        if self._made and self._made.keys() != {stage.name for stage in self.stages}:
            raise ValueError(f"{STAGES}: some stages were not found")
        self._limits = limits_from({name: value for name, value in options.items() if name in self.options})
        if "concurrency" not in options and (served := self._served_stages()):
            most = max(one.limits().concurrency for one in served.values())
            self._limits = structs.replace(self._limits, concurrency=most)
        self._judges: Mapping[str, LocalJudge] = {}
        self.version = "-".join(("1", *(verifier.version for _, verifier in self._made.values())))

    @property
    def parts(self) -> tuple[AnyVerifier, ...]:
        return tuple(verifier for _, verifier in self._made.values())

    @property
    def local_parts(self) -> tuple[LocalPart, ...]:
        """Return the local stages; a caller must start them and pass them to `with_judges` before it uses the stack."""
        return tuple(
            LocalPart(name, cast("Verifier", verifier), (made.kind, made.options))
            for name, (made, verifier) in self._made.items()
            if verifier.isolation != "served"
        )

    def with_judges(self, judges: Mapping[str, LocalJudge]) -> Stack:
        """Return a copy of the stack that calls these local verifiers, by name."""
        found = copy.copy(self)
        found._judges = judges
        return found

    def config(self) -> dict[str, object]:
        made = {name: identity(verifier) for name, (_, verifier) in self._made.items()}
        spent = {WHEN_SPENT: self._when_spent} if self._when_spent != "pause" else {}
        return {STAGES: format_stages(self.stages), "verifiers": made, **spent}

    def servers(self) -> dict[str, ModelServer]:
        """Return all stages' servers, by the stage's name and the role there; empty if all stages are local."""
        return {
            _stage_role(name, role): server
            for name, one in self._served_stages().items()
            for role, server in one.servers().items()
        }

    def limits(self) -> Limits:
        """Return the stack's own limits; each stage's limits apply in addition."""
        return self._limits

    def stage_limits(self) -> tuple[StageLimits, ...]:
        """Return each stage's budget and rate, over the servers that it calls."""
        return tuple(
            StageLimits(
                name=name,
                roles=tuple(_stage_role(name, role) for role in one.servers()),
                limits=one.limits(),
                goes_on=self._when_spent == "next",
            )
            for name, one in self._served_stages().items()
        )

    def calls_per_item(self) -> float:
        return sum(one.calls_per_item() for one in self._served_stages().values())

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """Return the first stage's verdict that decides the item, else the last one's.

        The votes are the verdicts of the called stages, in their order; the rule and the trace name the deciding stage.
        """
        if not self._made:
            raise ValueError(f"{STAGES}: the stages are looked up when a run starts")
        results: dict[str, Judged] = {}
        passed: list[dict[str, Any]] = []
        verdict = Verdict(outcome=Outcome.ABSTAIN, reason=NO_STAGE)
        for number, stage in enumerate(self.stages, 1):
            if not stage.is_for(item.subtype):
                continue
            if stage.name not in results:
                results[stage.name] = await self._ask_stage(stage, item, ask, secret)
            found = results[stage.name].verdict
            settled = stage.settled(found)
            passed.append({"stage": number, "verifier": stage.name, "verdict": found.outcome.word, "rule": found.rule})
            verdict = self._name_deciding_stage(number, stage, found, settled)
            if settled is not None:
                break
        votes = tuple(one.verdict for one in results.values())
        traces = {name: one.trace for name, one in results.items() if one.trace}
        trace: dict[str, Any] = {"judge": self.name, "passed": passed, "votes": list(results)}
        return Judged(verdict=verdict, votes=votes, trace={**trace, **({"stages": traces} if traces else {})})

    def _name_deciding_stage(self, number: int, stage: Stage, found: Verdict, settled: Outcome | None) -> Verdict:
        place = f"{stage.name}, stage {number} of {len(self.stages)}"
        text = f"settled by {place}" if settled is not None else f"left by all stages; what {place} said"
        return structs.replace(
            found,
            outcome=found.outcome if settled is None else settled,
            rule=f"{RULE}{stage.name}",
            detail=f"{text}: {found.detail}" if found.detail else text,
        )

    async def _ask_stage(self, stage: Stage, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        made, verifier = self._made[stage.name]
        if verifier.isolation == "served":

            async def ask_stage(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
                return await ask(request, step=step, role=_stage_role(made.name, role), sample=sample)

            return await judged_by_server(cast("ServedVerifier", verifier), item, ask_stage, secret)
        if (judge := self._judges.get(stage.name)) is None:
            # A preview of the calls includes those of later stages.
            return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason="unjudged"))
        started = time.perf_counter()
        verdict = await judge(item)
        return Judged(verdict=structs.replace(verdict, ms=verdict.ms or (time.perf_counter() - started) * 1000))

    def _served_stages(self) -> dict[str, ServedVerifier]:
        return {name: cast("ServedVerifier", one) for name, (_, one) in self._made.items() if one.isolation == "served"}


def _stage_role(name: str, role: str) -> str:
    return f"{name}:{role}"


def _load_stage(made: PanelMember, registry: Registry) -> AnyVerifier:
    verifier = registry.load(made.kind, made.options)
    if verifier.isolation == "sandbox" or isinstance(verifier, Stack):
        does = "runs programs" if verifier.isolation == "sandbox" else "is a stack itself"
        raise ValueError(f"{STAGES}: {made.name!r} {does}; it can be a stage in simulations only, not in a run")
    return verifier
