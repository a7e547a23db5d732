"""What a plan of completions will take: calls, tokens, money and time, before anything is asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from workbench.benchmarks.records import CompletionsPlanned, Expected, ModelPlan, PlanTotal
from workbench.benchmarks.sampling.asking import Asking, Survey, asked_by
from workbench.benchmarks.sampling.plan import CompletionPlan, PlannedModel
from workbench.benchmarks.sampling.runs import runs_of
from workbench.core.project import Project
from workbench.llm.budget import ASSUMED_REPLY, cost_of
from workbench.llm.records import Usage
from workbench.runs.store import usage

_MINUTE_S: Final = 60.0


def planned(
    project: Project, plan: CompletionPlan, *, again: bool = False, watch: Callable[[str], None] | None = None
) -> CompletionsPlanned:
    """What a plan means.

    Args:
        again: What failed for good is asked again.
        watch: Is told which model is looked at.

    Raises:
        UsageError: It is not clear which questions are meant, or a name stands for another configuration.
    """
    asked = asked_by(project, plan)
    runs = runs_of(project, plan)
    asking = Asking(project, plan, asked.questions, runs, again=again)
    models = []
    for model in plan.models:
        if watch is not None:
            watch(model.name)
        survey = asking.survey(model.name)
        measured = _mean_reply(project, runs.get(model.name))
        models.append(_model_plan(model, len(asked.questions), survey, measured))
    return CompletionsPlanned(
        set=asked.set,
        dataset=asked.dataset,
        questions=len(asked.questions),
        models=tuple(models),
        total=_total(models),
        max_cost=plan.max_cost,
        missing=tuple(one.model for one in models if one.there < one.questions * one.samples),
    )


def _model_plan(model: PlannedModel, questions: int, found: Survey, measured: float | None) -> ModelPlan:
    most = model.sampling.max_tokens
    usual = measured
    if usual is None:
        usual = float(ASSUMED_REPLY if most is None else min(most, ASSUMED_REPLY))
    completion = Expected(usual=usual * found.calls, most=None if most is None else float(most * found.calls))
    cost = _cost(model, found.prompt_tokens, completion.usual)
    longest = None if completion.most is None else _cost(model, found.prompt_tokens, completion.most)
    return ModelPlan(
        model=model.name,
        questions=questions,
        samples=model.samples,
        there=found.there,
        stored=found.stored,
        failed=dict(sorted(found.failed.items())),
        calls=found.calls,
        prompt_tokens=found.prompt_tokens,
        completion_tokens=completion,
        reply_tokens=usual,
        measured=measured is not None,
        cost=None if cost is None else Expected(usual=cost, most=longest),
        seconds=_seconds(model, found, completion.usual),
    )


def _cost(model: PlannedModel, prompt: int, completion: float) -> float | None:
    return cost_of(Usage(prompt_tokens=prompt, completion_tokens=round(completion)), model.price)


def _seconds(model: PlannedModel, found: Survey, completion: float) -> float | None:
    """Time at the configured rate, by whichever of its two halves is the slower one."""
    limits = model.limits
    times = [
        amount / rate * _MINUTE_S
        for amount, rate in ((float(found.calls), limits.rpm), (found.prompt_tokens + completion, limits.tpm))
        if rate is not None
    ]
    return max(times, default=None)


def _mean_reply(project: Project, run: int | None) -> float | None:
    """Tokens of a model's replies up to now; None where it has given none, or doesn't say."""
    used = None if run is None else usage.get(project.database.reader(), run)
    if used is None or not used.answered or not used.completion_tokens:
        return None
    return used.completion_tokens / used.answered


def _total(models: list[ModelPlan]) -> PlanTotal:
    priced = [one.cost for one in models if one.cost is not None and one.calls]
    return PlanTotal(
        models=len(models),
        completions=sum(one.questions * one.samples for one in models),
        there=sum(one.there for one in models),
        stored=sum(one.stored for one in models),
        failed=sum(sum(one.failed.values()) for one in models),
        calls=sum(one.calls for one in models),
        prompt_tokens=sum(one.prompt_tokens for one in models),
        completion_tokens=_sum([one.completion_tokens for one in models if one.calls]),
        cost=_sum(priced) if priced else None,
        unpriced=sum(one.cost is None and one.calls > 0 for one in models),
        seconds=max((one.seconds for one in models if one.seconds is not None), default=None),
    )


def _sum(parts: list[Expected]) -> Expected:
    most = [one.most for one in parts]
    return Expected(
        usual=sum(one.usual for one in parts),
        most=None if None in most else sum(one for one in most if one is not None),
    )
