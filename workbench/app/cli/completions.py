"""``workbench complete DB plan.toml``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from workbench.app.cli.common import INTERRUPTED, REFUSED_SOME, one_line, say, trusting
from workbench.app.cli.verb import Output, verb
from workbench.benchmarks.records import CompletionsWritten
from workbench.core.options import NONE_GIVEN, Options, Trust, argument, option, split_pair
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.core.text.figures import counted

if TYPE_CHECKING:
    from workbench.benchmarks.sampling.asking import CompletionPlan
    from workbench.runs.generating import ModelProgress, Watch


class CompleteOptions(Options, frozen=True, kw_only=True):
    plan: Annotated[Path | None, argument(exists=True)] = None
    set_: Annotated[
        str | None, option("Set of questions to complete, if the plan doesn't name one.", metavar="NAME")
    ] = None
    dataset: Annotated[
        str | None, option("Complete all questions of this data set instead of a set.", metavar="NAME")
    ] = None
    models: Annotated[
        tuple[str, ...],
        option(
            "Use only this model of the plan; without a plan, use this model (repeatable).", "--model", metavar="NAME"
        ),
    ] = ()
    settings: Annotated[
        dict[str, str],
        option(
            "Without a plan: set an option of --model: base_url, api_key_env, temperature, max_tokens, rpm, max_cost …",
            "-o",
            "--option",
            metavar="KEY=VALUE",
            read=split_pair,
        ),
    ] = NONE_GIVEN
    samples: Annotated[
        int,
        option(
            "Without a plan: number of completions per question.", "-n", "--samples", ge=1, le=1000, shows_default=False
        ),
    ] = 1
    dry_run: Annotated[bool, option("Estimate the cost without sending requests.")] = False
    retry_errors: Annotated[bool, option("Request again the completions that failed permanently.")] = False
    trust: Trust = False


@verb
def complete_command(project: Project, options: CompleteOptions) -> Output:
    """Have models write completions of a set's questions, and add them to the data set.

    PLAN is a TOML file with any number of models (docs/building.md). All models are asked in parallel, each at its own
    pace. After an interruption the same command continues; answered requests are never repeated.
    """
    wanted = _read_plan(project, options)
    if options.dry_run:
        from workbench.benchmarks.sampling.planning import planned, planned_lines

        return Output(planned(project, wanted, again=options.retry_errors), planned_lines)
    from workbench.benchmarks.sampling.completing import written_lines

    report = _complete_plan(project, wanted, options)
    halted = any(one.halted for one in report.models)
    return Output(report, written_lines, code=1 if halted else REFUSED_SOME if report.missing else 0)


def _read_plan(project: Project, options: CompleteOptions) -> CompletionPlan:
    from msgspec import structs

    from workbench.benchmarks.sampling.planning import only, plan_in, plan_of

    settings, dataset = options.settings, options.dataset
    if options.plan is None:
        plan = plan_of(project, options.models, settings, options.samples)
    elif settings or options.samples > 1:
        raise click.UsageError("-o and -n are for use without a plan: write them into the plan.")
    else:
        plan = only(plan_in(project, options.plan), options.models)
    if options.set_ is None and dataset is None:
        return plan
    if plan.set is not None or plan.dataset is not None:
        raise click.UsageError("The plan names the questions: leave --set and --dataset out.")
    return structs.replace(plan, set=None if options.set_ is None else SetName.parse(options.set_), dataset=dataset)


def _complete_plan(project: Project, plan: CompletionPlan, options: CompleteOptions) -> CompletionsWritten:
    from workbench.benchmarks.sampling.completing import complete

    try:
        with _showing_progress(plan) as watch:
            return trusting(
                lambda yes: complete(project, plan, again=options.retry_errors, trust=yes, watch=watch), options.trust
            )
    except KeyboardInterrupt:
        say("Stopped. All replies are stored; run the same command again to continue.")
        sys.exit(INTERRUPTED)


@contextmanager
def _showing_progress(plan: CompletionPlan) -> Iterator[Watch | None]:
    def words(standings: Mapping[str, ModelProgress]) -> str:
        done = sum(one.done for one in standings.values())
        failed = sum(one.failed.total() for one in standings.values())
        at_work = [name for name, one in standings.items() if not one.over]
        awaited = [standings[name].awaited for name in at_work]
        told = [f"{done:,} completions", f"{len(at_work)} of {counted(len(standings), 'model')} at work"]
        told += [f"{failed:,} failed"] if failed else []
        told += [f"last: {at_work[0]}"] if len(at_work) == 1 and len(plan.models) > 1 else []
        if at_work and None not in awaited:
            told.append(f"stopping once {counted(sum(filter(None, awaited)), 'call')} in flight is finished")
        return ", ".join(told)

    with one_line() as line:
        yield line and (lambda standings: line(words(standings)))
