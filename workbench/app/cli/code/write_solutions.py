"""``workbench code write-solutions DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.asking import (
    Models,
    ModelSettings,
    MostProblems,
    Problems,
    ProblemSet,
    Programs,
    drawing,
    say_calls,
)
from workbench.app.cli.common import REFUSED_SOME, options_of, say, say_some, show, trusting
from workbench.app.cli.verb import Output, verb
from workbench.coding.records.synthesis import SKIPPED, SolutionsWritten
from workbench.core.options import AllowUnsafe, Options, Trust, option
from workbench.core.project import Project
from workbench.core.text.figures import counted


class CodeWriteSolutionsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("What these solutions are called: their ids begin with it.")]
    models: Models
    settings: ModelSettings = ()
    kinds: Annotated[str, option("What models are asked for.", metavar="KINDS")] = "correct,incorrect"
    k: Annotated[int, option("Different scores of a problem.", ge=1, le=100)] = 5
    rounds: Annotated[int, option("Rounds of asking at most.", ge=1, le=100)] = 5
    suites: Annotated[
        tuple[str, ...], option("The tests that solutions are scored by (repeatable).", "--suite", metavar="NAME")
    ] = ("base", "plus")
    dataset: ProblemSet = None
    tasks: Problems = ()
    limit: MostProblems = None
    workers: Programs = None
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False


@verb
def command(project: Project, options: CodeWriteSolutionsOptions) -> Output:
    """Have models write solutions, right and wrong ones, until each problem has k different scores.

    Solutions are executed in the sandbox and join the data set; a problem without a ground truth gets its reference as
    one. The same command goes on, and asks nothing twice.
    """
    from workbench.coding.sandbox import opened_sandbox
    from workbench.coding.synthesis.solution_writing import USUAL, SolutionOptions, kinds_of, write_solutions
    from workbench.coding.targets import Targets
    from workbench.runs.generation import models_from

    wish = SolutionOptions(
        name=options.name, kinds=kinds_of(options.kinds), k=options.k, rounds=options.rounds, suites=options.suites
    )
    chosen = models_from(project, options.models, options_of(options.settings), USUAL)
    targets = Targets(dataset=options.dataset, tasks=options.tasks, limit=options.limit)
    with (
        opened_sandbox(project, workers=options.workers, allow_unsafe=options.allow_unsafe) as sandbox,
        drawing() as watch,
    ):
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
            options.trust,
        )
    say_calls(project, report.run)
    failed = any(one.failed for one in report.problems)
    return Output(
        report,
        _show,
        after=["  Some calls failed for good; the same command tries them again."] if failed else (),
        code=REFUSED_SOME if failed else 0,
    )


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
