"""``workbench code refine DB --model MODEL --output FILE``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from workbench.cli.asking import dataset_option, drawing, model_settings_option, say_calls, workers_option
from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    force_option,
    json_option,
    options_of,
    print_json,
    project_at,
    say_some,
    show,
    trust_option,
    trusting,
    unsafe_option,
    whole_number,
)
from workbench.cli.writing import OutputPath, shown, to_stdout
from workbench.model.refinement import RefineReport
from workbench.render.bars import counted

_WHY = {
    "no_reference": "there is no reference solution to go by",
    "no_problem": "no reply, or one that lacks a part",
    "few_tests": "too few of its tests ask something of the function",
}


@click.command()
@database_argument
@click.option("--name", default="refined", show_default=True, metavar="NAME", help="What the calls are called.")
@click.option("--model", required=True, metavar="NAME", help="Who writes: [models.NAME] of workbench.toml, or see -o.")
@model_settings_option
@click.option(
    "--output",
    "file",
    required=True,
    metavar="FILE",
    type=OutputPath(),
    help="The new problems, for workbench import.",
)
@click.option("--tests", "asked", type=click.IntRange(1, 200), default=20, show_default=True, help="Asked for.")
@click.option("--fewest", type=click.IntRange(1, 200), default=5, show_default=True, help="A problem needs so many.")
@click.option("--problems", type=whole_number, help="Only the first so many.")
@dataset_option
@workers_option
@trust_option
@unsafe_option
@force_option
@json_option
@to_stdout("file")
def command(
    database: str,
    name: str,
    model: str,
    options: tuple[str, ...],
    file: Path,
    asked: int,
    fewest: int,
    problems: int | None,
    dataset: str | None,
    workers: int | None,
    trust: bool,
    allow_unsafe: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Have a model write problems of standard input anew, each with a function to write and about 20 tests.

    The model's own solution is executed against its tests, and how many it passes is told; but no test is dropped for
    that, since a model's solution may be as wrong as its tests. A problem with too few tests that ask something of the
    function is refused, with the reason. Import the file, have solutions written, and let the tests evolve.
    """
    from workbench.services.coding.evolution.refining import USUAL, RefinementOptions, refine
    from workbench.services.coding.sandbox import opened_sandbox
    from workbench.services.coding.targets import code_dataset
    from workbench.services.generation import generating, models_from

    wish = RefinementOptions(asked=asked, fewest=fewest)
    with project_at(database) as project:
        found = code_dataset(project, dataset)
        models = models_from(project, [model], options_of(options), USUAL)

        def run(accepted: bool) -> tuple[RefineReport, int]:
            with (
                opened_sandbox(project, workers=workers, allow_unsafe=allow_unsafe) as sandbox,
                drawing() as watch,
                generating(project, f"refined/{name}", models, wish.about(), trust=accepted, watch=watch) as writer,
            ):
                return refine(project, found, wish, writer, sandbox, file, limit=problems, force=force), writer.run

        report, number = trusting(run, trust)
        say_calls(project, number)
    if as_json:
        print_json(report)
    else:
        show(f"{report.written:,} of {report.problems:,} problems of {report.dataset} written to {shown(file)}")
        if report.written:
            show(f"Their own solutions pass {report.passed_tests:,} of {report.tests:,} tests; they are no oracle.")
        say_some([f"  {one.task_id}: {_WHY[one.reason]} ({counted(one.tests, 'test')})" for one in report.refused])
    if report.refused:
        sys.exit(REFUSED_SOME)
