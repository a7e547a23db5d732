"""``workbench correlate DB VERIFIER``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.common import selection_of, show
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Run, Where, argument
from workbench.core.project import Project
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.statistics.records.report import CorrelationReport


class CorrelateOptions(Options, frozen=True, kw_only=True):
    verifier: Annotated[str, argument()]
    gold: Gold = "final"
    where: Where = ()
    run: Run = None


@verb
def command(project: Project, options: CorrelateOptions) -> Output:
    """Show how far a verifier's scores follow the gold labels: Kendall, Pearson and Spearman.

    Each over all items, and as the mean of the questions' own coefficients with how many questions have one: a
    question whose scores or labels are all the same has none.
    """
    from workbench.measuring.correlating import correlate

    report = correlate(
        project, options.verifier, gold=options.gold, selection=selection_of(options.where), run=options.run
    )
    return Output(report, _show)


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
