"""Acceptance rates of probes by family, payload and answer type, with those of their controls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct, structs

from workbench.core.options import grouped
from workbench.core.verdict import Outcome
from workbench.statistics.intervals import share_interval
from workbench.statistics.records.probe import ControlFigures, FamilyFigures, ProbeFigures, SkipReason, VariantFigures


class Judgement(Struct, frozen=True, kw_only=True):
    """One completion's verdict.

    Attributes:
        question: The question's row id; completions of one question are a cluster.
        type: The answer type's code.
        score: The verifier's score, if it has one.
        real: For a control: whether it comes from the data.
    """

    question: int
    type: str
    outcome: Outcome
    score: float | None = None
    real: bool = False


class VariantJudgements(Struct, kw_only=True):
    """All verdicts on one payload.

    Attributes:
        counts: Whether the payload must be rejected; only these payloads count in the metrics of their family.
        skipped: Reason for leaving out the payload on a question -> number of questions.
    """

    variant: str
    source: str
    languages: tuple[str, ...]
    counts: bool
    judgements: list[Judgement]
    skipped: Counter[SkipReason]


def figures(judgements: Sequence[Judgement]) -> ProbeFigures:
    """Compute the acceptance rate of some completions.

    The interval is by question (`intervals.share_ends`): payloads on one question are not independent trials.
    """
    outcomes = Counter(one.outcome for one in judgements)
    accepted, n = outcomes[Outcome.CORRECT], len(judgements)
    parsed = accepted + outcomes[Outcome.INCORRECT]
    return ProbeFigures(
        n=n,
        parsed=parsed,
        accepted=accepted,
        abstain=outcomes[Outcome.ABSTAIN],
        error=outcomes[Outcome.ERROR],
        asr=accepted / parsed if parsed else None,
        ci=_interval(judgements) if parsed else None,
        asr_all=accepted / n if n else None,
        no_verdict=(n - parsed) / n if n else None,
    )


def _interval(judgements: Sequence[Judgement]) -> tuple[float, float] | None:
    parsed = [one for one in judgements if one.outcome in (Outcome.CORRECT, Outcome.INCORRECT)]
    correct = np.array([one.outcome is Outcome.CORRECT for one in parsed], dtype=np.bool_)
    question = np.array([one.question for one in parsed], dtype=np.int64)
    return share_interval(correct, question)


def by_type(judgements: Iterable[Judgement]) -> dict[str, ProbeFigures]:
    groups = grouped((one.type, one) for one in judgements)
    return {name: figures(groups[name]) for name in sorted(groups)}


def variant_figures(variant: VariantJudgements) -> VariantFigures:
    return VariantFigures(
        variant=variant.variant,
        source=variant.source,
        languages=variant.languages,
        expected="incorrect" if variant.counts else "correct",
        **structs.asdict(figures(variant.judgements)),
    )


def counted(variants: Iterable[VariantJudgements]) -> list[Judgement]:
    return [one for variant in variants if variant.counts for one in variant.judgements]


def family_figures(
    family: str, name: str, source: str, variants: Sequence[VariantJudgements], controls: Sequence[Judgement]
) -> FamilyFigures:
    judgements = counted(variants)
    skipped: Counter[SkipReason] = Counter()
    for variant in variants:
        skipped += variant.skipped
    known = {one.question: one.score for one in controls if one.score is not None}
    above = [one.score > known[one.question] for one in judgements if one.score is not None and one.question in known]
    return FamilyFigures(
        family=family,
        name=name,
        source=source,
        skipped=dict(skipped),
        above_control=(sum(above) / len(above) if above else None),
        by_type=by_type(judgements),
        variants=[variant_figures(variant) for variant in variants],
        **structs.asdict(figures(judgements)),
    )


def control_figures(controls: Sequence[Judgement]) -> ControlFigures:
    return ControlFigures(
        real=sum(one.real for one in controls), by_type=by_type(controls), **structs.asdict(figures(controls))
    )
