"""``workbench code pool DB --model MODEL --samples N``."""

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


@click.command()
@database_argument
@click.option("--name", default="pool", show_default=True, help="What these solutions are called: ids begin with it.")
@models_option
@model_settings_option
@click.option("--samples", type=click.IntRange(1, 1000), default=8, show_default=True, help="Of each model.")
@dataset_option
@tasks_option
@most_option
@trust_option
@json_option
def command(
    database: str,
    name: str,
    models: tuple[str, ...],
    options: tuple[str, ...],
    samples: int,
    dataset: str | None,
    tasks: tuple[str, ...],
    limit: int | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Have every model write so many solutions of each problem, and take all of them as they are.

    The paper's pools are 8 models with 8 solutions each. Going on asks nothing twice.
    """
    from workbench.services.coding.synthesis.pooling import USUAL, fill
    from workbench.services.coding.targets import Targets
    from workbench.services.generation import models_from

    with project_at(database) as project:
        chosen = models_from(project, models, options_of(options), USUAL)
        targets = Targets(dataset=dataset, tasks=tasks, limit=limit)
        with drawing() as watch:
            report = trusting(
                lambda yes: fill(project, name, chosen, samples, targets=targets, trust=yes, watch=watch), trust
            )
        say_calls(project, report.run)
    if as_json:
        print_json(report)
    else:
        show(f"{report.added:,} new solutions of {report.problems:,} problems in {report.dataset}")
    if report.failed:
        say(f"  {report.failed:,} calls failed for good; the same command tries them again.")
        sys.exit(REFUSED_SOME)
