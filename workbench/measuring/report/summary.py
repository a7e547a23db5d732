"""The first page: every verifier on all items, beside what needs no verifier at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.measuring.report.common import (
    best_constant,
    decimals,
    interval,
    is_baseline,
    own,
    plots,
    ranked,
    selected_by_note,
    share,
    verifier_name,
)
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.report import AccuracyReport, AccuracyRow
from workbench.tables.document import Block, Dot, Intervals, Paragraph, Plot, Point, Scatter, Section, Table
from workbench.tables.figures import percentage
from workbench.tables.table import Columns, count, ends, table, word


def summary_section(contents: Contents) -> Section:
    """Figures of all items, and two plots of them."""
    rows = ranked(contents)
    found = own(contents)
    if not found:
        return Section("summary", "Summary", (Paragraph("No verifier has a complete run on these items yet."),))
    blocks: list[Block] = [Paragraph(_headline(found[0], contents.overall.notes)), _table(contents, rows)]
    dots = tuple(Dot(row.verifier, row.fpr, row.fnr) for row in found if row.fpr is not None and row.fnr is not None)
    drawn: list[Plot] = [_accuracy_plot(contents), *([_rates_plot(dots)] if dots else [])]
    return Section("summary", "Summary", (*blocks, plots("", drawn)))


def _headline(best: AccuracyRow, notes: Sequence[str]) -> str:
    """What the table says, in sentences."""
    first = f"{best.verifier} is most accurate: {percentage(best.accuracy)}\u00a0% (95 % interval {interval(best.ci)})."
    return " ".join((first, *notes))


def _rates_plot(dots: tuple[Dot, ...]) -> Scatter:
    return Scatter(
        caption="Two ways to err (%): wrong completions accepted, and right ones refused. The lower left corner is "
        "without error.",
        x_label="false-positive rate: wrong completions accepted",
        y_label="false-negative rate: right completions refused",
        dots=dots,
    )


def _table(contents: Contents, rows: list[AccuracyRow]) -> Table:
    columns: Columns[AccuracyRow] = (
        word("Verifier", verifier_name),
        count("n", lambda row: row.n),
        share("Accuracy", lambda row: row.accuracy),
        ends(lambda row: row.ci, interval),
        share("Bal. acc.", lambda row: row.balanced_accuracy),
        decimals("MCC", lambda row: row.mcc),
        share("FPR", lambda row: row.fpr),
        share("FNR", lambda row: row.fnr),
        share("Coverage", lambda row: row.coverage),
        decimals("AUROC", lambda row: row.auroc, there=any(row.auroc is not None for row in rows)),
    )
    return table(
        f"All items (%, MCC and AUROC as they are). Protocol {contents.protocol}, gold {contents.gold_choice}; "
        "baselines, which look at no completion, stand last.",
        columns,
        [row for row in rows if row.accuracy is not None],
        notes=selected_by_note(rows),
        kind=lambda row: "aside" if is_baseline(row) else "",
    )


def _accuracy_plot(contents: Contents) -> Intervals:
    return accuracy_plot("Accuracy (%) with its 95 % interval, clustered by question.", own(contents), contents.overall)


def accuracy_plot(
    caption: str, rows: Iterable[AccuracyRow], report: AccuracyReport, group: str | None = None
) -> Intervals:
    """Verifiers one below the other, against the better of two constant verdicts; all plots have one axis."""
    mark = best_constant(report.rows, group)
    return Intervals(
        caption=caption,
        points=tuple(_point(row) for row in rows if row.accuracy is not None),
        mark=None if mark is None else mark.accuracy,
        mark_label="" if mark is None else mark.verifier.replace("-", " "),
        axis=(0.0, 1.0),
    )


def _point(row: AccuracyRow) -> Point:
    low, high = row.ci or (0.0, 1.0)
    return Point(verifier_name(row), row.accuracy or 0.0, low, high)
