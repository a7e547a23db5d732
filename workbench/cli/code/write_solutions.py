"""``workbench code write-solutions DB``."""

from __future__ import annotations

import sys

import click

from workbench.cli.asking import (
    dataset_option,
    drawing,
    model_settings_option,
    models_option,
    most_option,
    say_calls,
    tasks_option,
    workers_option,
)
from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    options_of,
    print_json,
    project_at,
    say,
    say_some,
    show,
    trust_option,
    trusting,
    unsafe_option,
)
from workbench.model.synthesis import SKIPPED, SolutionsWritten
from workbench.render.bars import counted


@click.command()
@database_argument
@click.option("--name", required=True, help="What these solutions are called: their ids begin with it.")
@models_option
@model_settings_option
@click.option(
    "--kinds", default="correct,incorrect", show_default=True, metavar="KINDS", help="What models are asked for."
)
@click.option("--k", type=click.IntRange(1, 100), default=5, show_default=True, help="Different scores of a problem.")
@click.option("--rounds", type=click.IntRange(1, 100), default=5, show_default=True, help="Rounds of asking at most.")
@click.option(
    "--suite",
    "suites",
    multiple=True,
    default=("base", "plus"),
    show_default=True,
    metavar="NAME",
    help="The tests that solutions are scored by (repeatable).",
)
@dataset_option
@tasks_option
@most_option
@workers_option
@trust_option
@unsafe_option
@json_option
def command(
    database: str,
    name: str,
    models: tuple[str, ...],
    options: tuple[str, ...],
    kinds: str,
    k: int,
    rounds: int,
    suites: tuple[str, ...],
    dataset: str | None,
    tasks: tuple[str, ...],
    limit: int | None,
    workers: int | None,
    trust: bool,
    allow_unsafe: bool,
    as_json: bool,
) -> None:
    """Have models write solutions, right and wrong ones, until each problem has k different scores.

    Solutions are executed in the sandbox and join the data set; a problem without a ground truth gets its reference as
    one. The same command goes on, and asks nothing twice.
    """
    from workbench.services.coding.sandbox import opened_sandbox
    from workbench.services.coding.synthesis.solution_writing import USUAL, SolutionOptions, kinds_of, write_solutions
    from workbench.services.coding.targets import Targets
    from workbench.services.generation import models_from

    with project_at(database) as project:
        wish = SolutionOptions(name=name, kinds=kinds_of(kinds), k=k, rounds=rounds, suites=suites)
        chosen = models_from(project, models, options_of(options), USUAL)
        targets = Targets(dataset=dataset, tasks=tasks, limit=limit)
        with opened_sandbox(project, workers=workers, allow_unsafe=allow_unsafe) as sandbox, drawing() as watch:
            report = trusting(
                lambda yes: write_solutions(
                    project,
                    wish,
                    chosen,
                    sandbox,
                    provenance=sandbox.provenance(),
                    targets=targets,
                    trust=yes,
                    watch=watch,
                ),
                trust,
            )
        say_calls(project, report.run)
    if as_json:
        print_json(report)
    else:
        _show(report)
    if any(one.failed for one in report.problems):
        say("  Some calls failed for good; the same command tries them again.")
        sys.exit(REFUSED_SOME)


def _show(report: SolutionsWritten) -> None:
    short = [one for one in report.problems if not one.reached]
    reached = len(report.problems) - len(short)
    show(f"{counted(report.imported, 'new solution')} in {report.dataset}")
    show(f"  {reached:,} of {len(report.problems):,} problems have {report.k} different scores")
    for code, count in report.skipped.items():
        show(f"  {counted(count, 'problem')} left out: {SKIPPED[code]}")
    if short:
        say_some([f"  {one.task_id}: {', '.join(f'{score:g}' for score in one.scores) or 'no score'}" for one in short])
        say("  Write some by hand and import them, or leave these out with: workbench code select")
