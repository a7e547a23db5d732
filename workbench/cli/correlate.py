"""``workbench correlate DB VERIFIER``."""

from __future__ import annotations

from typing import Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    selection_of,
    show,
    where_option,
    whole_number,
)
from workbench.model.report import CorrelationReport
from workbench.render.marks import what_marks_mean, with_mark


@click.command()
@database_argument
@click.argument("verifier")
@gold_option
@where_option
@click.option("--run", type=whole_number, help="Exactly this run instead of the newest complete one.")
@json_option
def command(database: str, verifier: str, gold: Any, where: tuple[str, ...], run: int | None, as_json: bool) -> None:
    """Show how far a verifier's scores follow the gold labels: Kendall, Pearson and Spearman.

    Each over all items, and as the mean of the questions' own coefficients with how many questions have one: a
    question whose scores or labels are all the same has none.
    """
    from workbench.services.measuring.correlating import correlate

    with project_at(database) as project:
        report = correlate(project, verifier, gold=gold, selection=selection_of(where), run=run)
    if as_json:
        print_json(report)
    else:
        _show(report)


def _show(report: CorrelationReport) -> None:
    chose = report.selection_judges
    name = with_mark(report.verifier, chose)
    show(f"{name}, run {report.run}: {report.n:,} items with a score and gold ({report.gold_choice})")
    if report.unscored:
        show(f"{report.unscored:,} more have a verdict without a score and don't count")
    show(f"{'':10}{'all items':>11}{'by question':>13}  questions that have one")
    for row in report.rows:
        mean = _figure(row.per_question)
        show(f"{row.method:10}{_figure(row.corpus):>11}{mean:>13}  {row.defined:,} of {row.questions:,}")
    for note in what_marks_mean(chose):
        show(note)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
