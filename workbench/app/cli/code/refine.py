"""``workbench code refine DB --model MODEL --output FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from workbench.app.cli.asking import ModelSettings, ProblemSet, Programs, drawing, say_calls
from workbench.app.cli.common import REFUSED_SOME, options_of, say_some, show, trusting
from workbench.app.cli.verb import Output, ToStdout, verb
from workbench.app.cli.writing import shown
from workbench.coding.records.refinement import RefineReport
from workbench.core.options import AllowUnsafe, Force, Options, Trust, Whole, option
from workbench.core.project import Project
from workbench.core.text.figures import counted

_WHY = {
    "no_reference": "there is no reference solution to go by",
    "no_problem": "no reply, or one that lacks a part",
    "few_tests": "too few of its tests ask something of the function",
}


class CodeRefineOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("What the calls are called.", metavar="NAME")] = "refined"
    model: Annotated[str, option("Who writes: [models.NAME] of workbench.toml, or see -o.", metavar="NAME")]
    settings: ModelSettings = ()
    file: Annotated[
        Path, option("The new problems, for workbench import.", "--output", metavar="FILE", output="stream")
    ]
    asked: Annotated[int, option("Asked for.", "--tests", ge=1, le=200)] = 20
    fewest: Annotated[int, option("A problem needs so many.", ge=1, le=200)] = 5
    problems: Annotated[Whole | None, option("Only the first so many.")] = None
    dataset: ProblemSet = None
    workers: Programs = None
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False
    force: Force = False


@verb(to_stdout=ToStdout("file"))
def command(project: Project, options: CodeRefineOptions) -> Output:
    """Have a model write problems of standard input anew, each with a function to write and about 20 tests.

    The model's own solution is executed against its tests, and how many it passes is told; but no test is dropped for
    that, since a model's solution may be as wrong as its tests. A problem with too few tests that ask something of the
    function is refused, with the reason. Import the file, have solutions written, and let the tests evolve.
    """
    from workbench.coding.evolution.refining import USUAL, RefinementOptions, refine
    from workbench.coding.sandbox import opened_sandbox
    from workbench.coding.targets import code_dataset
    from workbench.runs.generation import generating, models_from

    wish = RefinementOptions(asked=options.asked, fewest=options.fewest)
    found = code_dataset(project, options.dataset)
    models = models_from(project, [options.model], options_of(options.settings), USUAL)

    def run(accepted: bool) -> tuple[RefineReport, int]:
        with (
            opened_sandbox(project, workers=options.workers, allow_unsafe=options.allow_unsafe) as sandbox,
            drawing() as watch,
            generating(project, f"refined/{options.name}", models, wish.about(), trust=accepted, watch=watch) as writer,
        ):
            return refine(
                project, found, wish, writer, sandbox, options.file, limit=options.problems, force=options.force
            ), writer.run

    report, number = trusting(run, options.trust)
    say_calls(project, number)
    return Output(report, lambda found: _show(found, options.file), code=REFUSED_SOME if report.refused else 0)


def _show(report: RefineReport, file: Path) -> None:
    show(f"{report.written:,} of {report.problems:,} problems of {report.dataset} written to {shown(file)}")
    if report.written:
        show(f"Their own solutions pass {report.passed_tests:,} of {report.tests:,} tests; they are no oracle.")
    say_some([f"  {one.task_id}: {_WHY[one.reason]} ({counted(one.tests, 'test')})" for one in report.refused])
