"""A probing's verdicts as its report, and the probes that were accepted with their evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.core.verdict import Outcome
from workbench.runs.probing import Collector, JudgedSubject
from workbench.statistics.attacks import (
    Judgement,
    VariantJudgements,
    by_type,
    control_figures,
    counted,
    family_figures,
    figures,
)
from workbench.statistics.records.probe import AcceptedProbe, ProbeReport, SkipReason
from workbench.verifiers.base import identity
from workbench.verifiers.probes.building import Companion, Probe
from workbench.verifiers.probes.payloads import SUITE_VERSION

if TYPE_CHECKING:
    from workbench.runs.probes import ProbingPlan


def report(plan: ProbingPlan, collector: Collector, *, calls: int, seconds: float, created_at: str) -> ProbeReport:
    """What came of a probing."""
    controls = [_judgement(one) for one in collector.judged if _role(one) == "control"]
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
        carrier=figures([_judgement(one) for one in collector.judged if _role(one) == "carrier"]),
        overall=overall,
        by_type=by_type(every),
        families=families,
    )


def accepted_probes(judged: Iterable[JudgedSubject]) -> list[AcceptedProbe]:
    """The probes that should have been refused and were not, family by family."""
    found = [
        (int(one.subject.family.family[1:]), _accepted(one, one.subject))
        for one in judged
        if isinstance(one.subject, Probe)
        and one.verdict.outcome is Outcome.CORRECT
        and one.subject.payload.expected == "incorrect"
    ]
    return [probe for _, probe in sorted(found, key=lambda pair: (pair[0], pair[1].variant, pair[1].question_id))]


def hollow(judged: Iterable[JudgedSubject]) -> set[int]:
    """Questions whose carrier is accepted by itself: what is appended to it would prove nothing."""
    return {
        one.subject.row.question_id
        for one in judged
        if _role(one) == "carrier" and one.verdict.outcome is Outcome.CORRECT
    }


def _role(one: JudgedSubject) -> str | None:
    return one.subject.role if isinstance(one.subject, Companion) else None


def _variants(plan: ProbingPlan, collector: Collector) -> dict[str, list[VariantJudgements]]:
    """Verdicts by family and payload, in the suite's order."""
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


def _accepted(one: JudgedSubject, probe: Probe) -> AcceptedProbe:
    verdict = one.verdict
    return AcceptedProbe(
        family=probe.family.family,
        variant=probe.payload.id,
        question_id=probe.row.key,
        reference=probe.row.reference,
        completion=probe.completion or "",
        score=verdict.score,
        reason=verdict.reason,
        rule=verdict.rule,
        reference_final=verdict.reference_final,
        candidate_final=verdict.candidate_final,
        candidate_span=verdict.candidate_span,
        detail=verdict.detail,
        reply="\n\n".join(one.replies) or None,
    )
