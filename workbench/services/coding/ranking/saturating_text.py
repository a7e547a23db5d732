"""How many tests are enough, as text for a terminal, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.code_figures import SaturationReport
from workbench.render.bars import counted, interval_bar, percent
from workbench.render.columns import interval, number
from workbench.reports.document import Table, heads, row
from workbench.services.coding.ranking.truth import runs_in_words
from workbench.services.measuring.table_files import WRITERS, TableFormat, records_csv

_BAR = 30


def saturation_as(report: SaturationReport, as_: TableFormat) -> str:
    """The report in a format; CSV has figures in full."""
    if as_ == "csv":
        every = {"definition": report.definition, "resamples": report.resamples, "seed": report.seed}
        return records_csv(report.rows, every)
    return WRITERS[as_](_table(report))


def _table(report: SaturationReport) -> Table:
    runs = runs_in_words(report.truth_runs)
    return Table(
        caption=(
            f"Spearman between scores on k tests and on all tests of {runs}: {counted(report.problems, 'problem')}, "
            f"{report.resamples:,} resamples, seed {report.seed} (definition {report.definition})"
        ),
        head=(heads("", "k", "rho", "95 % interval", "sigma", "over problems", "undefined"),),
        left=1,
        rows=tuple(
            row(
                interval_bar(one.rho, *(one.problems_ci or one.ci), _BAR, report.target),
                str(one.k),
                number(one.rho),
                interval(one.ci),
                number(one.sigma),
                interval(one.problems_ci),
                f"{percent(one.undefined)} %",
            )
            for one in report.rows
        ),
        notes=tuple(_notes(report)),
    )


def _notes(report: SaturationReport) -> Iterator[str]:
    if not report.problems:
        yield "Nothing is measured: no problem is left."
    elif report.enough is None:
        yield f"No k shown is enough: no interval lies at or above {report.target:g}."
    else:
        yield f"Enough: k = {report.enough}, the first whose interval lies at or above {report.target:g}."
    yield (
        "Tests are drawn without replacement; an undefined coefficient counts as 0. The interval and sigma are over "
        "resamples: how exactly the mean is known for these problems. Over problems: how far other problems may differ."
    )
    if report.few_tests:
        said = counted(report.few_tests, "problem")
        yield f"Left out: {said} with fewer than {report.least_tests} tests, or not run."
    if report.one_score:
        yield f"Left out: {counted(report.one_score, 'problem')} whose solutions all have the same score."
