"""``workbench code scale``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.code.common import BootstrapSamples, Suites, Truth, sizes_up_to
from workbench.app.cli.common import Models, ModelSettings, asked, follow, say_calls
from workbench.app.cli.verb import Output, verb
from workbench.coding.options import ProblemSet, Targets, TestOptions
from workbench.core.options import (
    NONE_GIVEN,
    AllowUnsafe,
    BootstrapSeed,
    Database,
    Options,
    TableForm,
    Trust,
    option,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of

if TYPE_CHECKING:
    from workbench.coding.records.figures import TestsWritten
    from workbench.coding.synthesis.scaling import ScalingPoint


class CodeScaleOptions(Options, frozen=True, kw_only=True):
    database: Database
    name: Annotated[
        str,
        option(
            "Prefix of the names of the test suites and their verifiers: NAME-5, or NAME-MODEL-5 with several models."
        ),
    ] = "scale"
    models: Models
    settings: ModelSettings = NONE_GIVEN
    sizes: Annotated[
        tuple[int, ...],
        option("Numbers of tests; one test suite is written for each.", "--n", metavar="N[,N…]", read=sizes_up_to(100)),
    ] = (5, 10, 15, 20, 25)
    wish: TestOptions = TestOptions()
    dataset: ProblemSet = None
    truth: Truth = None
    suites: Suites = ()
    samples: BootstrapSamples = 2_000
    seed: BootstrapSeed = 0
    workers: Annotated[
        int | None, option("Number of solutions run in parallel.  [default: one per core]", ge=1, le=256)
    ] = None
    trust: Trust = False
    allow_unsafe: AllowUnsafe = False
    form: TableForm = TableForm()


@verb
def scale_command(project: Project, options: CodeScaleOptions) -> Output:
    """Have models write suites of 5, 10, 15, 20 and 25 tests, run them, and show how well each ranks solutions.

    Each suite is written as by write-tests --n; its verifier is execution with -o suite=…. The suites that give the
    true scores (base and plus by default) must have been run. After an interruption the same command continues, and
    repeats no request and no run.

    workbench code scale DB --model qwen --n 5,10,15,20,25 -o base_url=http://localhost:8000/v1
    """
    from workbench.coding.problems import code_dataset
    from workbench.coding.ranking.truth import truth_of
    from workbench.coding.synthesis.scaling import (
        measure_scaling,
        require_scalable,
        scale_as,
        scaling_points,
        suite_options,
    )
    from workbench.coding.synthesis.tests import USUAL, write_tests
    from workbench.runs.generation import models_from
    from workbench.runs.verifying import start

    require_scalable(options.wish)
    dataset = code_dataset(project, options.dataset).name
    chosen = selection_of((f"dataset={dataset}",))
    truth = truth_of(project, options.truth, options.suites)
    wanted = scaling_points(options.name, options.models, options.sizes)
    models = {name: models_from(project, [name], options.settings, USUAL) for name in options.models}
    complete = True

    def write(point: ScalingPoint) -> TestsWritten:
        wish = suite_options(options.wish, point.size)
        targets = Targets(dataset=dataset)
        work = partial(write_tests, project, point.suite, wish, models[point.model], targets=targets)
        return asked(work, options.trust)

    made = {point: write(point) for point in wanted}
    for report in made.values():
        say_calls(project, report.run)
    for point in wanted:
        info = start(
            project,
            "execution",
            {"suite": point.suite},
            point.suite,
            chosen,
            workers=options.workers,
            allow_unsafe=options.allow_unsafe,
        )
        complete &= follow(project, info, str(options.database)).state == "complete"
    found = measure_scaling(
        project, options.name, truth, made, selection=chosen, samples=options.samples, seed=options.seed
    )
    failed = any(report.failed for report in made.values()) or not complete
    lacks = "  Some calls failed, or a run did not finish; the same command continues." if failed else ""
    return Output(found, lambda report: scale_as(report, options.form)).lacking(lacks)
