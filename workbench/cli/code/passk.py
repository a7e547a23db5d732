"""``workbench code passk DB|--from FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.cli.code.common import (
    database_or_file,
    end_if_refused,
    from_option,
    require_one,
    sizes_option,
    suite_option,
    truth_option,
)
from workbench.cli.common import (
    json_option,
    print_json,
    project_at,
    selection_of,
    table_format_option,
    where_option,
)

if TYPE_CHECKING:
    from workbench.model.code_figures import PassReport


@click.command()
@database_or_file
@from_option
@sizes_option(most=100_000, default="1,4,8", help="How many solutions are drawn.")
@click.option("--verifier", metavar="NAME", help="Take a verifier's verdicts instead of the outcomes of tests.")
@truth_option
@suite_option
@where_option
@table_format_option
@json_option
def command(
    database: str | None,
    source: Path | None,
    sizes: tuple[int, ...],
    verifier: str | None,
    truth: str | None,
    suites: tuple[str, ...],
    where: tuple[str, ...],
    format_: Any,
    as_json: bool,
) -> None:
    """Show pass@k: the chance that at least one of k solutions of a problem passes all tests.

    Unbiased, 1 - C(n - c, k) / C(n, k), by data set, with a 95 % interval over problems. FILE has a line a problem with
    "task_id", "n" and "c", or a line a solution with "task_id" and "passed" (true or false, or a number with "total"),
    such as: workbench code results. Exit code 3: some lines were refused.
    """
    require_one(database, source, verifier=verifier, truth=truth, suite=suites, where=where)
    if verifier is not None and (truth or suites):
        raise click.UsageError("--verifier takes verdicts: --truth and --suite go without it.")
    if source is not None:
        from workbench.services.coding.ranking.passing import pass_of_file

        found = pass_of_file(source, sizes)
        _show(found.report, format_, as_json)
        end_if_refused(source, found.refused)
    else:
        _show(_stored(str(database), sizes, verifier, truth, suites, where), format_, as_json)


def _stored(
    database: str,
    sizes: tuple[int, ...],
    verifier: str | None,
    truth: str | None,
    suites: tuple[str, ...],
    where: tuple[str, ...],
) -> PassReport:
    from workbench.services.coding.ranking.passing import pass_by_tests, pass_by_verdict
    from workbench.services.coding.ranking.truth import truth_of

    with project_at(database) as project:
        if verifier is not None:
            return pass_by_verdict(project, verifier, sizes, selection_of(where))
        return pass_by_tests(project, truth_of(project, truth, suites), sizes, selection_of(where))


def _show(report: PassReport, format_: Any, as_json: bool) -> None:
    from workbench.services.coding.ranking.tables import passes_as

    if as_json:
        print_json(report)
    else:
        click.echo(passes_as(report, format_), nl=False)
