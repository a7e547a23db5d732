"""Reward-hacking probes: how often a verifier accepts texts that answer nothing or are wrong by construction.

The process that calls `run` does the work: the command line, never the app. Local verifiers that may hang or crash work
in worker processes; replies of model servers are stored, so that probing the same verifier again costs nothing.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

from msgspec import Struct, structs

from workbench.core.database.connection import Database
from workbench.core.database.values import now
from workbench.core.errors import Command, RunError, UsageError
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.dialects import reread
from workbench.llm.records import Halt
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.configuring import bind, bound_run
from workbench.runs.lease import LeaseLost, claim_runner
from workbench.runs.local import ResultSink, judge_locally
from workbench.runs.store import calls
from workbench.runs.store import probes as stored
from workbench.runs.store.calls import MadeCall
from workbench.runs.trust import require_trust
from workbench.runs.verifying import EVERYTHING
from workbench.statistics.attacks import (
    Judgement,
    VariantJudgements,
    by_type,
    control_figures,
    counted,
    family_figures,
    figures,
)
from workbench.statistics.records.probe import JUDGES_NOTHING, AcceptedProbe, BaseRow, ProbeReport, SkipReason
from workbench.verifiers.base import AnyVerifier, Judged, ServedVerifier, identity
from workbench.verifiers.probes.building import (
    EVERY_CLASS,
    SUITE_VERSION,
    Companion,
    Family,
    Probe,
    VerifierClass,
    companions,
    draw_balanced,
    families_named,
    probes,
    verifier_input,
)
from workbench.verifiers.stacks.stack import RULE, Stack

if TYPE_CHECKING:
    from workbench.runs.journal import RunJournal, Waiter

DEFAULT_ROWS = 100
"""The default number of questions to build probes from."""
_JUDGE: frozenset[VerifierClass] = frozenset(("J", "C"))
_REWARD: frozenset[VerifierClass] = frozenset(("M",))
_REWARD_KINDS = ("reward-model", "reward-local")
_CHUNK = 64
Subject = Probe | Companion
Watch = Callable[[int, int | None], None]
"""Called with the number of judged completions, and with that of calls in flight while the work ends (else None)."""


class JudgedSubject(Struct, frozen=True, kw_only=True):
    """A completion and its verdict.

    Attributes:
        subject: The probe, control or carrier; its text is kept only if it was accepted.
        replies: The servers' replies; empty if it was rejected.
    """

    subject: Subject
    verdict: Verdict
    replies: tuple[str, ...] = ()


class Collector(ResultSink):
    """Receives verdicts as a runner does, and keeps them in memory.

    Attributes:
        judged: Verdicts in the order of arrival.
        skipped: Probes without a completion, which are not judged.
        slowest_ms: The longest time of one completion in milliseconds.
    """

    def __init__(self, watch: Watch | None = None) -> None:
        self.judged: list[JudgedSubject] = []
        self.skipped: list[Probe] = []
        self.slowest_ms = 0.0
        self._watch = watch
        self._waiting: dict[int, Subject] = {}

    def inputs(self, subjects: Iterable[Subject]) -> Iterator[list[VerifierInput]]:
        """Yield the completions to judge in chunks; probes without a completion are added to ``skipped``."""
        chunk: list[VerifierInput] = []
        for subject in subjects:
            if isinstance(subject, Probe) and subject.completion is None:
                self.skipped.append(subject)
                continue
            item = verifier_input(subject)
            self._waiting[item.item] = subject
            chunk.append(item)
            if len(chunk) == _CHUNK:
                yield chunk
                chunk = []
        yield chunk

    def store(self, results: Sequence[tuple[int, Verdict]]) -> None:
        for item, verdict in results:
            self.take(item, verdict)

    def take(self, item: int, verdict: Verdict, replies: tuple[str, ...] = ()) -> None:
        self.slowest_ms = max(self.slowest_ms, verdict.ms)
        subject = self._waiting.pop(item)
        if verdict.outcome is Outcome.CORRECT:
            self.judged.append(JudgedSubject(subject=subject, verdict=verdict, replies=replies))
        else:
            bare = Verdict(outcome=verdict.outcome, score=verdict.score)
            self.judged.append(JudgedSubject(subject=structs.replace(subject, completion=""), verdict=bare))

    def record(self, journal: RunJournal, item: int, judged: Judged, made: Sequence[MadeCall]) -> Waiter:
        """Keep a verdict and the servers' replies it is based on, once the replies are committed."""

        async def collect() -> None:
            await journal.flush()
            replies = [reread(stored).text for call in made if (stored := journal.recall(call.key)) is not None]
            self.take(item, judged.verdict, tuple(replies))

        return asyncio.ensure_future(collect())

    def check(self) -> None:
        if self._watch is not None:
            self._watch(len(self.judged), None)

    def ending(self, calls: int) -> None:
        if self._watch is not None:
            self._watch(len(self.judged), calls)


# -- Judging probes on model servers: calls are journalled and stored as in a run, verdicts are not.


def judge_by_servers(
    database: Database, run: int, verifier: ServedVerifier, subjects: Iterable[Subject], collector: Collector
) -> int:
    """Judge with a verifier that calls model servers; return how many calls were sent.

    Args:
        run: The verifier's run, which counts the calls: its limits apply to probes, too.

    Raises:
        RunError: Another process is working on the database, or no call can succeed now; replies received are stored.
    """
    # Only verifiers that call servers need the client's libraries.
    from workbench.runs.serving import judge_on_servers, servers_of

    before = calls.count(database.reader(), run)
    with claim_runner(database) as lease:
        try:
            servers = servers_of(database, run, verifier)
            inputs = collector.inputs(subjects)
            judge_on_servers(
                database, lease, servers, verifier, inputs, collector.check, collector.record, collector.ending
            )
        except Halt as halt:
            raise RunError(halt.message, "Received replies are stored; probe again to continue.") from halt
        except LeaseLost as lost:
            raise RunError("Another process has become the database's runner.", "Probe again.") from lost
    return calls.count(database.reader(), run) - before


class ProbingPlan(Struct, frozen=True, kw_only=True):
    """A test of one verifier with probes, ready to start.

    Attributes:
        classes: The classes that the verifier belongs to; probe families for other classes are excluded.
        probes: Number of probes to judge.
        companions: Number of controls and carriers to judge in addition to the probes.
        calls: Estimated maximum number of requests; None for a verifier without servers.
    """

    name: str
    kind: str
    options: dict[str, str]
    verifier: AnyVerifier
    families: tuple[Family, ...]
    classes: frozenset[VerifierClass]
    rows: list[BaseRow]
    seed: int
    workers: int | None
    probes: int
    companions: int
    calls: int | None


def plan(
    project: Project,
    kind: str,
    options: dict[str, str] | None = None,
    name: str | None = None,
    *,
    families: tuple[str, ...] = (),
    selection: Selection = EVERYTHING,
    limit: int = DEFAULT_ROWS,
    seed: int = 0,
    workers: int | None = None,
    trust: bool = False,
) -> ProbingPlan:
    """Draw the questions and count the completions to judge; nothing is judged or stored yet.

    Args:
        kind: A registered kind, or the name of a configured verifier.
        options: Option values by name.
        name: The configuration's name; the kind's by default.
        families: Identifiers of probe families, such as ``"P4"``; all by default.
        selection: The items whose questions are drawn from; its limit is not used.
        limit: Maximum number of questions, drawn evenly from the answer types.
        seed: The same seed gives the same probes, byte for byte.
        workers: Worker processes; one a core by default.
        trust: Whether the user approves the servers and the template.

    Raises:
        UsageError: There is no such kind, option, family or field; or there are no questions.
        NotTrustedError: The options come from a file or the database, and the user has not approved them.
        VerifierError: The verifier can't be used.
    """
    wanted = families_named(families)
    chosen = resolve_verifier(project, kind, options or {}, name)
    verifier = construct_verifier(chosen)
    if chosen.kind in JUDGES_NOTHING:
        raise UsageError(f"{chosen.name!r} judges no completions: it can't be probed.")
    if verifier.isolation == "sandbox":
        raise UsageError(
            f"{chosen.name!r} runs programs, but probes are plain texts.", "Choose one that compares texts."
        )
    require_trust(project, verifier, chosen.options, accept=trust or chosen.own)
    questions = stored.questions(project.database.reader(), selection)
    rows = stored.base_rows(project.database, selection, draw_balanced(questions, limit, seed))
    if not rows:
        raise UsageError("There is no question to build probes from.", "See what is there", Command("status DB"))
    classes = _classes(chosen.kind, verifier)
    made = sum(probe.completion is not None for probe in probes(rows, wanted, seed, classes))
    beside = sum(1 for _ in companions(rows, wanted))
    calls = None
    if verifier.isolation == "served":
        calls = math.ceil((made + beside) * cast("ServedVerifier", verifier).calls_per_item())
    return ProbingPlan(
        name=chosen.name,
        kind=chosen.kind,
        options=chosen.options,
        verifier=verifier,
        families=wanted,
        classes=classes,
        rows=rows,
        seed=seed,
        workers=workers,
        probes=made,
        companions=beside,
        calls=calls,
    )


def _classes(kind: str, verifier: AnyVerifier) -> frozenset[VerifierClass]:
    if kind in _REWARD_KINDS:
        return _REWARD
    return _JUDGE if verifier.isolation == "served" and not isinstance(verifier, Stack) else EVERY_CLASS


def run(project: Project, planned: ProbingPlan, watch: Watch | None = None) -> ProbeReport:
    """Judge the probes and their companions, and store the report.

    Items, gold labels and accuracy don't change.

    Args:
        watch: Called with the number of judged completions, of ``probes + companions``, and after Ctrl-C the number of
            calls that are still awaited (else None).

    Raises:
        UsageError: The name is bound to another configuration.
        VerifierError: The verifier's workers can't start.
        RunError: No call can succeed now; replies received are stored, and the next probing continues from there.
        KeyboardInterrupt: The user interrupted the work; the calls in flight were awaited, unless it was interrupted
            twice.
    """
    began = time.monotonic()
    with project.database.write() as connection:
        bound = bind(connection, planned.name, planned.verifier, planned.options)
    collector = Collector(watch)
    calls = _judge(project, planned, companions(planned.rows, planned.families), collector)
    # If the carrier alone is accepted, an accepted payload proves nothing.
    bare = {
        one.subject.row.question_id
        for one in collector.judged
        if _companion_role(one) == "carrier" and one.verdict.outcome is Outcome.CORRECT
    }
    rows = [row if row.question_id in bare else structs.replace(row, carrier=row.wrong) for row in planned.rows]
    calls += _judge(project, planned, probes(rows, planned.families, planned.seed, planned.classes), collector)
    made = report(planned, collector, calls=calls, seconds=time.monotonic() - began, created_at=now())
    with project.database.write() as connection:
        stored.put(connection, bound, made, accepted_probes(collector.judged))
    return made


def _judge(project: Project, planned: ProbingPlan, subjects: Iterable[Subject], collector: Collector) -> int:
    if planned.verifier.isolation != "served":
        workers = planned.workers or os.cpu_count() or 1
        judge_locally(planned.verifier, (planned.kind, planned.options), workers, collector.inputs(subjects), collector)
        return 0
    with project.database.write() as connection:
        number = bound_run(connection, planned.name, planned.verifier, planned.options)
    return judge_by_servers(project.database, number, cast("ServedVerifier", planned.verifier), subjects, collector)


def latest(project: Project, verifier: str) -> ProbeReport | None:
    """Return the newest report on a verifier, of any version; None if it has not been probed yet."""
    found = stored.latest(project.database.reader(), verifier)
    return None if found is None else found[1]


def accepted(project: Project, verifier: str, families: tuple[str, ...] = ()) -> Iterator[AcceptedProbe]:
    """Yield the probes that a verifier wrongly accepted in its newest probing, in the order of the families.

    Raises:
        UsageError: The verifier was never probed, or no such family exists.
    """
    wanted = {family.family for family in families_named(families)}
    found = stored.latest(project.database.reader(), verifier)
    if found is None:
        raise UsageError(f"{verifier!r} has not been probed yet.", "Probe it first", Command(f"probe DB {verifier}"))
    return (one for one in stored.accepted(project.database.reader(), found[0]) if one.family in wanted)


# -- The report of a probing, and the accepted probes with their evidence.


def report(plan: ProbingPlan, collector: Collector, *, calls: int, seconds: float, created_at: str) -> ProbeReport:
    controls = [_judgement(one) for one in collector.judged if _companion_role(one) == "control"]
    variants = _variants(plan, collector)
    every = counted(variant for family in variants.values() for variant in family)
    families = [
        family_figures(family.family, family.name, family.source, variants[family.family], controls)
        for family in plan.families
    ]
    skipped: Counter[SkipReason] = Counter()
    for one in families:
        skipped.update(one.skipped)
    overall = figures(every)
    return ProbeReport(
        verifier=plan.name,
        kind=plan.kind,
        version=plan.verifier.version,
        config_hash=identity(plan.verifier),
        suite=SUITE_VERSION,
        seed=plan.seed,
        created_at=created_at,
        rows=len(plan.rows),
        calls=calls,
        seconds=round(seconds, 3),
        slowest_ms=collector.slowest_ms,
        parsed=overall.parsed,
        skipped=dict(skipped),
        control=control_figures(controls),
        carrier=figures([_judgement(one) for one in collector.judged if _companion_role(one) == "carrier"]),
        overall=overall,
        by_type=by_type(every),
        families=families,
        let_in=_accepted_by_stage(collector.judged) if isinstance(plan.verifier, Stack) else {},
    )


def _accepted_by_stage(judged: Iterable[JudgedSubject]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one in accepted_probes(judged):
        of_stage = found.setdefault((one.rule or "").removeprefix(RULE), {})
        of_stage[one.family] = of_stage.get(one.family, 0) + 1
    return found


def accepted_probes(judged: Iterable[JudgedSubject]) -> list[AcceptedProbe]:
    """Return the accepted probes that should have been rejected, family by family."""
    found = [
        (int(one.subject.family.family[1:]), _accepted_probe(one, one.subject))
        for one in judged
        if isinstance(one.subject, Probe)
        and one.verdict.outcome is Outcome.CORRECT
        and one.subject.payload.expected == "incorrect"
    ]
    return [probe for _, probe in sorted(found, key=lambda pair: (pair[0], pair[1].variant, pair[1].question_id))]


def _companion_role(one: JudgedSubject) -> str | None:
    return one.subject.role if isinstance(one.subject, Companion) else None


def _variants(plan: ProbingPlan, collector: Collector) -> dict[str, list[VariantJudgements]]:
    made = {
        (family.family, payload.id): VariantJudgements(
            variant=payload.id,
            source=payload.source or family.source,
            languages=payload.languages,
            counts=payload.expected == "incorrect",
            judgements=[],
            skipped=Counter(),
        )
        for family in plan.families
        for payload in family.payload
    }
    for probe in collector.skipped:
        if probe.skipped is not None:
            made[probe.family.family, probe.payload.id].skipped[probe.skipped] += 1
    for one in collector.judged:
        if isinstance(one.subject, Probe):
            variant = made[one.subject.family.family, one.subject.payload.id]
            variant.judgements.append(_judgement(one))
    return {family.family: [made[family.family, payload.id] for payload in family.payload] for family in plan.families}


def _judgement(one: JudgedSubject) -> Judgement:
    row = one.subject.row
    return Judgement(
        question=row.question_id,
        type=row.type,
        outcome=one.verdict.outcome,
        score=one.verdict.score,
        real=isinstance(one.subject, Companion) and one.subject.real,
    )


def _accepted_probe(one: JudgedSubject, probe: Probe) -> AcceptedProbe:
    return record_from(
        AcceptedProbe,
        one.verdict,
        family=probe.family.family,
        variant=probe.payload.id,
        question_id=probe.row.key,
        reference=probe.row.reference,
        completion=probe.completion or "",
        reply="\n\n".join(one.replies) or None,
    )
