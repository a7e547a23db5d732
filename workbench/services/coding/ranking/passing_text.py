"""pass@k as text for a terminal, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.model.code_figures import PassReport
from workbench.render.bars import counted, percent
from workbench.render.columns import percent_interval
from workbench.reports.document import Table, heads, row
from workbench.services.measuring.table_files import WRITERS, TableFormat, records_csv


def passes_as(report: PassReport, as_: TableFormat) -> str:
    """The report in a format; CSV has figures in full."""
    if as_ == "csv":
        return records_csv(report.rows, {"judge": report.judge})
    return WRITERS[as_](_table(report))


def _table(report: PassReport) -> Table:
    return Table(
        caption=f"pass@k in %: at least one of k solutions passes; by {report.judge}",
        head=(heads("data set", "k", "pass@k", "95 % interval", "problems", "fewer than k", "solutions"),),
        left=1,
        rows=tuple(
            row(
                one.dataset,
                str(one.k),
                percent(one.value),
                percent_interval(one.ci),
                f"{one.problems:,}",
                f"{one.fewer:,}",
                f"{one.solutions:,}",
            )
            for one in report.rows
        ),
        notes=tuple(_notes(report)),
    )


def _notes(report: PassReport) -> Iterator[str]:
    yield "Mean over problems of 1 - C(n - c, k) / C(n, k) with c of n solutions passing; the interval goes by problem."
    short = max((one.fewer for one in report.rows), default=0)
    if short:
        yield f"Problems with fewer than k solutions don't count: {short:,} at the largest k."
    if report.refused:
        yield f"{counted(report.refused, 'line')} of the file were refused."
