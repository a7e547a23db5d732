"""``workbench code histograms DB|--from FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from workbench.cli.code.common import (
    database_or_file,
    end_if_refused,
    from_option,
    k_option,
    require_one,
    rules_option,
    suite_option,
    truth_option,
)
from workbench.cli.common import (
    json_option,
    print_json,
    project_at,
    selection_of,
    where_option,
)


@click.command()
@database_or_file
@from_option
@k_option
@rules_option
@truth_option
@suite_option
@where_option
@json_option
def command(
    database: str | None,
    source: Path | None,
    k: int,
    rules: Any,
    truth: str | None,
    suites: tuple[str, ...],
    where: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show scores, score gaps and sizes of a selection as histograms, and what came of the tests of each run.

    The selection is that of: workbench code select. The tests' shares (passed, failed by an assertion, by else) stand
    beside it for a database. Exit code 3: some lines of FILE were refused.
    """
    from workbench.model.code_figures import HistogramsReport
    from workbench.services.coding.ranking.histograms import histograms, outcome_shares
    from workbench.services.coding.ranking.selecting import How, select_from, select_stored
    from workbench.services.coding.ranking.truth import truth_of

    require_one(database, source, truth=truth, suite=suites, where=where)
    how = How(k=k, rules=rules)
    if source is not None:
        found = select_from(source, how)
        report = HistogramsReport(histograms=histograms(found.sets), shares=[], refused=len(found.refused))
        _show(report, as_json)
        end_if_refused(source, found.refused)
    else:
        with project_at(str(database)) as project:
            meant, chosen = truth_of(project, truth, suites), selection_of(where)
            sets = list(select_stored(project, how, meant, chosen))
            report = HistogramsReport(histograms=histograms(sets), shares=outcome_shares(project, chosen))
        _show(report, as_json)


def _show(report: Any, as_json: bool) -> None:
    from workbench.services.coding.ranking.tables import histograms_text

    if as_json:
        print_json(report)
    else:
        click.echo(histograms_text(report), nl=False)
