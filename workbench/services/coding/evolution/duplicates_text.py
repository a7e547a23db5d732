"""Problems that say the same, as tables: EvolveCoder's table 1 and figures 1 and 2."""

from __future__ import annotations

from workbench.model.duplicates import DuplicateReport
from workbench.render.bars import NONE
from workbench.reports.document import Table, heads, row
from workbench.reports.figures import percentage
from workbench.reports.table_text import plain_table


def duplicates_text(report: DuplicateReport) -> str:
    """The report for a terminal."""
    tables = [_sources(report), *([_overlaps(report)] if len(report.overlaps) > 1 else []), _neighbours(report)]
    return "\n".join(map(plain_table, tables))


def _sources(report: DuplicateReport) -> Table:
    rows = [
        row(one.source, f"{one.before:,}", f"{one.after:,}", percentage(one.after / one.before))
        for one in report.sources
    ]
    rows.append(row("all", f"{report.problems:,}", f"{report.kept:,}", percentage(report.kept / report.problems)))
    caption = (
        f"Problems before and after taking out those with a cosine over {report.threshold:g} to one that stays "
        f"({report.similarity}, seed {report.seed}; table 1)."
    )
    return Table(caption=caption, head=(heads("source", "before", "after", "%"),), rows=tuple(rows))


def _overlaps(report: DuplicateReport) -> Table:
    names = list(report.overlaps)
    return Table(
        caption="Share of a source's problems that are alike to one of another source, in percent (figure 1).",
        head=(heads("source", *names),),
        rows=tuple(row(name, *(percentage(report.overlaps[name][other]) for other in names)) for name in names),
    )


def _neighbours(report: DuplicateReport) -> Table:
    bins = zip(report.edges, report.edges[1:], report.before, report.after, strict=False)
    rows = [
        row(f"{low:.2f}–{high:.2f}", f"{before:,}", f"{after:,}")
        for low, high, before, after in bins
        if before or after
    ]
    rows.append(row("mean", _cosine(report.mean_before), _cosine(report.mean_after)))
    return Table(
        caption=f"Problems by their mean cosine to the {report.neighbours} nearest neighbours (figure 2).",
        head=(heads("mean cosine", "before", "after"),),
        rows=tuple(rows),
    )


def _cosine(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"
