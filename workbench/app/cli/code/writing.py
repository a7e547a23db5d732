"""``workbench code write-solutions``, ``write-tests``, ``pool`` and ``scale``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated

from workbench.app.cli.code.common import BootstrapSamples, TrueScores
from workbench.app.cli.common import (
    Models,
    ModelSettings,
    asked,
    cluster_at,
    failed_calls,
    follow,
    say,
    say_calls,
    say_nodes,
    say_some,
    show,
)
from workbench.app.cli.verb import Output, verb
from workbench.coding.options import (
    OwnPromptFiles,
    ProblemSet,
    ProgramOptions,
    SolutionOptions,
    SuiteOptions,
    Targets,
    TestOptions,
)
from workbench.coding.records.figures import SKIPPED, PoolReport, SolutionsWritten, TestsWritten
from workbench.core.options import (
    NONE_GIVEN,
    AllowUnsafe,
    BootstrapSeed,
    Database,
    Options,
    TableForm,
    Trust,
    option,
    sizes_up_to,
)
from workbench.core.project import Project
from workbench.core.selection import selection_of
from workbench.core.text.figures import counted

if TYPE_CHECKING:
    from workbench.coding.synthesis.scaling import ScalingPoint


class CodeWriteSolutionsOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("Name of these solutions, and prefix of their ids.")]
    models: Models
    settings: ModelSettings = NONE_GIVEN
    wish: SolutionOptions = SolutionOptions()
    targets: Targets = Targets()
    programs: ProgramOptions = ProgramOptions()
    trust: Trust = False


@verb
def write_solutions_command(project: Project, options: CodeWriteSolutionsOptions) -> Output:
    """Have models write correct and incorrect solutions until each problem has k different scores.

    Solutions are executed in the sandbox and added to the data set. In a problem without a ground truth, the reference
    solution becomes the ground truth. After an interruption the same command continues, and repeats no request.
    """
    from workbench.coding.problems import programs_sandbox
    from workbench.coding.synthesis.solutions import USUAL, kinds_of, run_name, write_solutions
    from workbench.runs.generation import models_from

    # Report an invalid word before any preparation.
    kinds_of(options.wish.kinds)
    chosen = models_from(project, options.models, options.settings, USUAL)
    cluster = cluster_at(options.programs.cluster)
    with programs_sandbox(project, options.programs, cluster, run_name(options.name)) as sandbox:
        write = partial(write_solutions, project, options.name, options.wish, chosen, sandbox)
        work = partial(write, provenance=sandbox.provenance(), targets=options.targets)
        report = asked(work, options.trust)
    say_calls(project, report.run)
    say_nodes(cluster)
    killed = sum(one.killed for one in report.problems)
    died = f"  The sandbox died over {counted(killed, 'new solution')}: the same command runs them again."
    failed = failed_calls(sum(one.failed for one in report.problems))
    return Output(report, _show_solutions).lacking(failed, died if killed else "")


def _show_solutions(report: SolutionsWritten) -> None:
    short = [one for one in report.problems if not one.reached]
    reached = len(report.problems) - len(short)
    show(f"{counted(report.imported, 'new solution')} in {report.dataset}")
    show(f"  {reached:,} of {len(report.problems):,} problems have {report.k} different scores")
    for code, count in report.skipped.items():
        show(f"  {counted(count, 'problem')} left out: {SKIPPED[code]}")
    if short:
        say_some([f"  {one.task_id}: {', '.join(f'{score:g}' for score in one.scores) or 'no score'}" for one in short])
        say("  Write more solutions by hand and import them, or leave these problems out with: workbench code select")


# -- ``workbench code write-tests DB``


class CodeWriteTestsOptions(Options, frozen=True, kw_only=True):
    suite: Annotated[str, option("Name of the new test suite.", metavar="NAME")]
    models: Models
    settings: ModelSettings = NONE_GIVEN
    wish: SuiteOptions = SuiteOptions()
    targets: Targets = Targets()
    trust: Trust = False


@verb
def write_tests_command(project: Project, options: CodeWriteTestsOptions) -> Output:
    """Have a model write a test suite; after an interruption the same command continues, and repeats no request.

    Run it like any other suite: workbench verify DB execution --name NAME -o suite=NAME. The score is the share of
    these tests that a solution passes.
    """
    from workbench.coding.synthesis.tests import USUAL, filters_of, own_prompt, write_tests
    from workbench.runs.generation import models_from

    filters_of(options.wish)
    own_prompt(options.wish)
    chosen = models_from(project, options.models, options.settings, USUAL)
    work = partial(write_tests, project, options.suite, options.wish, chosen, targets=options.targets)
    report = asked(work, options.trust)
    say_calls(project, report.run)
    return Output(report, _test_lines).lacking(failed_calls(sum(report.failed.values())))


def _test_lines(report: TestsWritten) -> Iterator[str]:
    targets = counted(report.targets, "solution" if report.with_solution else "problem")
    yield f"{report.suite}: {counted(report.kept, 'test')} by {report.model} for {targets} of {report.dataset}"
    yield f"  {report.unchanged:,} had tests before; {report.empty:,} have a reply without a test"
    left_out = ", ".join(f"{count:,} {code}" for code, count in report.dropped.items())
    yield f"  {counted(report.found, 'test')} written" + (f"; left out: {left_out}" if left_out else "")
    for code, count in report.failed.items():
        yield f"  {counted(count, 'call')} failed: {code}"
    for code, count in report.skipped.items():
        yield f"  {counted(count, 'problem')} left out: {SKIPPED[code]}"
    yield f"  Run them: workbench verify DB execution --name NAME -o suite={report.suite}"


# -- ``workbench code pool DB --model MODEL --samples N``


class CodePoolOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("Name of these solutions, and prefix of their ids.")] = "pool"
    models: Models
    settings: ModelSettings = NONE_GIVEN
    samples: Annotated[int, option("Number of solutions per model and problem.", ge=1, le=1000)] = 8
    field: Annotated[
        str | None,
        option(
            "Send the model this field of the problem's row instead of the problem's text, such as "
            "instruct_prompt of BigCodeBench.",
            "--ask-by",
            metavar="FIELD",
        ),
    ] = None
    templates: OwnPromptFiles = ()
    targets: Targets = Targets()
    trust: Trust = False


@verb
def pool_command(project: Project, options: CodePoolOptions) -> Output:
    """Have every model write the same number of solutions of each problem, and keep all of them.

    The paper's pools are 8 models with 8 solutions each. After an interruption the same command continues, and repeats
    no request.
    """
    from workbench.coding.synthesis.asking import USUAL, fill_pool
    from workbench.runs.generation import models_from

    chosen = models_from(project, options.models, options.settings, USUAL)
    work = partial(fill_pool, project, options.name, chosen, options.samples, field=options.field)
    report = asked(partial(work, targets=options.targets, templates=options.templates), options.trust)
    say_calls(project, report.run)
    return Output(report, _pool_lines).lacking(failed_calls(report.failed))


def _pool_lines(report: PoolReport) -> Iterator[str]:
    yield f"{report.added:,} new solutions of {report.problems:,} problems in {report.dataset}"
    for code, count in report.skipped.items():
        yield f"  {counted(count, 'problem')} left out: {SKIPPED[code]}"


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
    scores: TrueScores = TrueScores()
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
    truth = options.scores.read(project)
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
