"""``workbench code write-tests DB``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from workbench.app.cli.asking import Models, ModelSettings, MostProblems, Problems, ProblemSet, drawing, say_calls
from workbench.app.cli.common import REFUSED_SOME, options_of, trusting
from workbench.app.cli.verb import Output, verb
from workbench.coding.records.synthesis import SKIPPED, TestsWritten
from workbench.core.options import Options, Trust, option
from workbench.core.project import Project
from workbench.core.text.figures import counted


class CodeWriteTestsOptions(Options, frozen=True, kw_only=True):
    suite: Annotated[str, option("What the suite of these tests is called.", metavar="NAME")]
    models: Models
    settings: ModelSettings = ()
    count: Annotated[int, option("Tests of each problem.", "--n", ge=1, le=100)] = 10
    with_solution: Annotated[bool, option("Tests of each solution, by a model that sees it.")] = False
    strip: Annotated[bool, option("Take off blanks around a test, which make it no Python otherwise.")] = False
    filters: Annotated[
        str | None,
        option(
            "What is left out: no_python, no_assert, no_call, duplicate (default: all), or none, as in the paper.",
            metavar="CODES",
        ),
    ] = None
    dataset: ProblemSet = None
    tasks: Problems = ()
    limit: MostProblems = None
    trust: Trust = False


@verb
def command(project: Project, options: CodeWriteTestsOptions) -> Output:
    """Have a model write a suite of tests; writing it again goes on, and asks nothing twice.

    Run it as any suite: workbench verify DB execution --name NAME -o suite=NAME. The score is the share of these tests
    that a solution passes.
    """
    from workbench.coding.synthesis.suite_writing import USUAL, SuiteOptions, reading_of, write_tests
    from workbench.coding.targets import Targets
    from workbench.runs.generation import models_from

    wish = SuiteOptions(
        suite=options.suite,
        with_solution=options.with_solution,
        reading=reading_of(options.count, options.filters, strip=options.strip),
    )
    chosen = models_from(project, options.models, options_of(options.settings), USUAL)
    targets = Targets(dataset=options.dataset, tasks=options.tasks, limit=options.limit)
    with drawing() as watch:
        report = trusting(
            lambda yes: write_tests(project, wish, chosen, targets=targets, trust=yes, watch=watch), options.trust
        )
    say_calls(project, report.run)
    return Output(
        report,
        _lines,
        after=["  Some calls failed for good; the same command tries them again."] if report.failed else (),
        code=REFUSED_SOME if report.failed else 0,
    )


def _lines(report: TestsWritten) -> Iterator[str]:
    targets = counted(report.targets, "solution" if report.with_solution else "problem")
    yield f"{report.suite}: {counted(report.kept, 'test')} by {report.model} for {targets} of {report.dataset}"
    yield f"  {report.unchanged:,} had theirs before; {report.empty:,} have a reply without a test"
    left_out = ", ".join(f"{count:,} {code}" for code, count in report.dropped.items())
    yield f"  {counted(report.found, 'test')} written" + (f"; left out: {left_out}" if left_out else "")
    for code, count in report.failed.items():
        yield f"  {counted(count, 'call')} failed: {code}"
    for code, count in report.skipped.items():
        yield f"  {counted(count, 'problem')} left out: {SKIPPED[code]}"
    yield f"  Run them: workbench verify DB execution --name NAME -o suite={report.suite}"
