"""Has several models write completions at the same time, and resumes interrupted runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import structs

from workbench.benchmarks.records import CompletionsWritten, ModelWritten
from workbench.benchmarks.sampling.asking import Asking, CompletionPlan, PlannedModel, PlanQuestions, plan_questions
from workbench.core.errors import RunError, UsageError, opt
from workbench.core.options import record_from
from workbench.core.project import Project, batches
from workbench.core.run import RunUsage
from workbench.core.text.figures import Narration, counted, dollars
from workbench.core.text.run_words import tokens
from workbench.data.store.importing import discard_dead_imports
from workbench.llm.server import Limits
from workbench.runs.configuring import bound_run, require_same_configuration
from workbench.runs.generation import GO_ON, Identity, require_generation_name
from workbench.runs.store import calls
from workbench.runs.store import completing as stored
from workbench.runs.store import runs as stored_runs
from workbench.runs.trust import require_servers

if TYPE_CHECKING:
    from workbench.runs.generating import ModelProgress, Watch


# -- The runs that write completions: one for each model, with its own calls, costs and limits.


PREFIX: Final = "completions/"
"""Prefix of the names of these runs; the model's name follows."""


def runs_of(project: Project, plan: CompletionPlan) -> dict[str, int]:
    """Return each model's existing run, by the model's name.

    Raises:
        UsageError: The name of a model belongs to another configuration.
    """
    reader = project.database.reader()
    found = {}
    for model in plan.models:
        bound = stored_runs.verifier_named(reader, PREFIX + model.name)
        if bound is None:
            continue
        identity = Identity(model.config(plan.prompt))
        try:
            require_same_configuration(bound, identity)
        except UsageError as error:
            raise UsageError(error.message, "Give the model another name: its settings have changed.") from error
        run = stored_runs.find(reader, bound.id, identity.version)
        if run is not None:
            found[model.name] = run.id
    return found


def begin(project: Project, plan: CompletionPlan) -> dict[str, int]:
    """Return the runs of all models, created if needed.

    Raises:
        UsageError: The name of a model belongs to another configuration.
    """
    found = {}
    with project.database.write() as connection:
        for model in plan.models:
            require_generation_name(PREFIX + model.name)
            run = bound_run(connection, PREFIX + model.name, Identity(model.config(plan.prompt)), {})
            stored_runs.end_run(connection, run, "paused", GO_ON)
            found[model.name] = run
    return found


_BATCH = 5_000


def complete(
    project: Project, plan: CompletionPlan, *, again: bool = False, trust: bool = False, watch: Watch | None = None
) -> CompletionsWritten:
    """Generate the missing completions of a plan, and add them to their questions.

    A request with a reply is never repeated. After a kill, the same plan resumes and yields the same completions with
    the same ids, in the same order.

    Args:
        again: Whether to repeat calls that failed permanently.
        trust: Whether the user accepts the servers that a file names.
        watch: Receives the progress of each model.

    Raises:
        UsageError: It is ambiguous which questions are meant, or a name belongs to another configuration.
        NotTrustedError: The servers come from a file, and the user has not accepted them.
        RunError: Another process is at work on the database.
        StoreError: Nothing can be stored, or an import is running.
    """
    # Import the client's libraries only when servers are called.
    from workbench.runs import generating
    from workbench.runs.lease import LeaseLost, claim_runner
    from workbench.runs.session import RunServers

    asked = plan_questions(project, plan)
    runs_of(project, plan)
    servers = {model.name: model.server for model in plan.models}
    require_servers(project, servers, accept=trust or plan.own)
    with claim_runner(project.database) as lease:
        discard_dead_imports(project.database)
        runs = begin(project, plan)
        called = [
            RunServers(
                run=runs[model.name],
                servers={model.name: model.server},
                limits=_limits_with_total(model, plan.max_cost),
                prices={} if model.price is None else {model.server.model: model.price},
            )
            for model in plan.models
        ]
        asking = Asking(project, plan, asked.questions, runs, again=again, lease=lease)
        try:
            standings, new = asyncio.run(
                generating.complete(project.database, lease, called, asking, max_cost=plan.max_cost, watch=watch)
            )
        except LeaseLost as lost:
            raise RunError("Another process has become the database's runner.", GO_ON) from lost
    return _make_report(project, plan, asked, runs, standings, new)


def _limits_with_total(model: PlannedModel, together: float | None) -> Limits:
    costs = [one for one in (model.limits.max_cost, together) if one is not None]
    return structs.replace(model.limits, max_cost=min(costs, default=None))


def _make_report(
    project: Project,
    plan: CompletionPlan,
    asked: PlanQuestions,
    runs: Mapping[str, int],
    standings: Mapping[str, ModelProgress],
    new: int,
) -> CompletionsWritten:
    left = Asking(project, plan, asked.questions, runs)
    models = [
        _model_report(project, model, asked, runs[model.name], standings[model.name], left) for model in plan.models
    ]
    with project.database.write() as connection:
        for one in models:
            if one.halted is None and not one.unasked:
                stored_runs.end_run(connection, one.run, "complete")
            else:
                stored_runs.end_run(connection, one.run, "paused", one.halted or GO_ON)
    reader = project.database.reader()
    used = [calls.get(reader, run) or RunUsage() for run in runs.values()]
    return CompletionsWritten(
        set=asked.set,
        dataset=asked.dataset,
        questions=len(asked.questions),
        written=new,
        models=tuple(models),
        missing=tuple(one.model for one in models if one.there < one.wanted),
        warnings=tuple(dict.fromkeys(warning for one in used for warning in one.warnings)),
    )


def _model_report(
    project: Project, model: PlannedModel, asked: PlanQuestions, run: int, standing: ModelProgress, left: Asking
) -> ModelWritten:
    reader = project.database.reader()
    survey = left.survey(model.name)
    parts = batches(asked.questions, _BATCH)
    used = calls.get(reader, run) or RunUsage()
    return record_from(
        ModelWritten,
        used,
        model=model.name,
        run=run,
        wanted=len(asked.questions) * model.samples,
        there=survey.there,
        truncated=sum(stored.truncated(reader, some, model.name) for some in parts),
        failed=dict(sorted(survey.failed.items())),
        unasked=survey.calls,
        details=tuple(standing.details),
        halted=standing.halted,
    )


def written_lines(report: CompletionsWritten) -> Iterator[str]:
    yield f"{counted(report.written, 'new completion')} of {counted(report.questions, 'question')}"
    for one in report.models:
        yield f"  {one.model}: {', '.join(_written_words(one))}"
        if one.halted:
            yield Narration(f"    {one.halted}")
        for detail in one.details:
            yield Narration(f"    {detail}")
    for warning in report.warnings:
        yield Narration(f"  Warning: {warning}")
    if report.missing:
        yield Narration(f"  Not complete: {', '.join(report.missing)}.")
        yield Narration(
            f"  Run the same command again to continue; {opt.retry_errors} repeats calls that failed permanently."
        )


def _written_words(one: ModelWritten) -> Iterator[str]:
    yield f"{one.there:,} of {one.wanted:,} there"
    if one.truncated:
        yield f"{one.truncated:,} cut off by max_tokens"
    for code, count in one.failed.items():
        yield f"{count:,} failed ({code})"
    if one.unasked:
        yield f"{one.unasked:,} not asked"
    yield f"{counted(one.calls, 'call')}, {tokens(one.prompt_tokens, one.completion_tokens)}"
    if one.cost is not None:
        yield dollars(one.cost)
    if one.unpriced:
        yield f"{one.unpriced:,} without a known price"
