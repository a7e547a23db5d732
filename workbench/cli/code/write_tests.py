"""``workbench code write-tests DB``."""

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
)
from workbench.cli.common import (
    REFUSED_SOME,
    database_argument,
    json_option,
    options_of,
    print_json,
    project_at,
    say,
    show,
    trust_option,
    trusting,
)
from workbench.model.synthesis import SKIPPED, TestsWritten
from workbench.render.bars import counted


@click.command()
@database_argument
@click.option("--suite", required=True, metavar="NAME", help="What the suite of these tests is called.")
@models_option
@model_settings_option
@click.option("--n", "count", type=click.IntRange(1, 100), default=10, show_default=True, help="Tests of each problem.")
@click.option("--with-solution", is_flag=True, help="Tests of each solution, by a model that sees it.")
@click.option("--strip", is_flag=True, help="Take off blanks around a test, which make it no Python otherwise.")
@click.option(
    "--filters",
    metavar="CODES",
    help="What is left out: no_python, no_assert, no_call, duplicate (default: all), or none, as in the paper.",
)
@dataset_option
@tasks_option
@most_option
@trust_option
@json_option
def command(
    database: str,
    suite: str,
    models: tuple[str, ...],
    options: tuple[str, ...],
    count: int,
    with_solution: bool,
    strip: bool,
    filters: str | None,
    dataset: str | None,
    tasks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Have a model write a suite of tests; writing it again goes on, and asks nothing twice.

    Run it as any suite: workbench verify DB execution --name NAME -o suite=NAME. The score is the share of these tests
    that a solution passes.
    """
    from workbench.services.coding.synthesis.suite_writing import USUAL, SuiteOptions, reading_of, write_tests
    from workbench.services.coding.targets import Targets
    from workbench.services.generation import models_from

    with project_at(database) as project:
        wish = SuiteOptions(suite=suite, with_solution=with_solution, reading=reading_of(count, filters, strip=strip))
        chosen = models_from(project, models, options_of(options), USUAL)
        targets = Targets(dataset=dataset, tasks=tasks, limit=limit)
        with drawing() as watch:
            report = trusting(
                lambda yes: write_tests(project, wish, chosen, targets=targets, trust=yes, watch=watch), trust
            )
        say_calls(project, report.run)
    if as_json:
        print_json(report)
    else:
        _show(report)
    if report.failed:
        say("  Some calls failed for good; the same command tries them again.")
        sys.exit(REFUSED_SOME)


def _show(report: TestsWritten) -> None:
    targets = counted(report.targets, "solution" if report.with_solution else "problem")
    show(f"{report.suite}: {counted(report.kept, 'test')} by {report.model} for {targets} of {report.dataset}")
    show(f"  {report.unchanged:,} had theirs before; {report.empty:,} have a reply without a test")
    left_out = ", ".join(f"{count:,} {code}" for code, count in report.dropped.items())
    show(f"  {counted(report.found, 'test')} written" + (f"; left out: {left_out}" if left_out else ""))
    for code, count in report.failed.items():
        show(f"  {counted(count, 'call')} failed: {code}")
    for code, count in report.skipped.items():
        show(f"  {counted(count, 'problem')} left out: {SKIPPED[code]}")
    show(f"  Run them: workbench verify DB execution --name NAME -o suite={report.suite}")
