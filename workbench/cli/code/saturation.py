"""``workbench code saturation DB``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.code.common import sizes_option, suite_option, truth_option
from workbench.cli.common import (
    database_argument,
    json_option,
    print_json,
    project_at,
    selection_of,
    table_format_option,
    where_option,
)


@click.command()
@database_argument
@truth_option
@suite_option
@sizes_option(most=15, default="1,2,3,4,5,6,7,8,9,10", help="Numbers of tests, up to 15.")
@click.option(
    "--resamples", type=click.IntRange(2, 100_000), default=100, show_default=True, help="How often tests are drawn."
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the draws.")
@where_option
@table_format_option
@json_option
def command(
    database: str,
    truth: str | None,
    suites: tuple[str, ...],
    sizes: tuple[int, ...],
    resamples: int,
    seed: int,
    where: tuple[str, ...],
    format_: Any,
    as_json: bool,
) -> None:
    """Show how many tests are enough to rank solutions as all tests do.

    Mean over problems of Spearman's coefficient between the solutions' scores on k tests, drawn without replacement,
    and on all tests; problems with at least 15 tests and two distinct scores. Enough is the first k whose lower 95 %
    bound is at least 0.90.
    """
    from workbench.services.coding.ranking.saturating import saturation
    from workbench.services.coding.ranking.tables import saturation_as
    from workbench.services.coding.ranking.truth import truth_of

    with project_at(database) as project:
        meant = truth_of(project, truth, suites)
        chosen = selection_of(where)
        report = saturation(project, meant, selection=chosen, sizes=sizes, resamples=resamples, seed=seed)
    if as_json:
        print_json(report)
    else:
        click.echo(saturation_as(report, format_), nl=False)
