"""Parts that several sections of the report share: the order of verifiers, cells, plots; and the summary section."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct

from workbench.core.text.emphasis import CHOSE
from workbench.core.text.figures import NONE, shade
from workbench.measuring.accuracy_tables import conclusion, is_baseline
from workbench.measuring.entries import CONSTANTS
from workbench.measuring.judged import BASELINE
from workbench.measuring.report.contents import Contents
from workbench.statistics.records.report import METRICS, AccuracyReport, AccuracyRow
from workbench.tables.document import (
    Block,
    Cell,
    Dot,
    Group,
    Intervals,
    Paragraph,
    Plot,
    Point,
    Scatter,
    Section,
    Table,
    percentage,
)
from workbench.tables.table import Column, Columns, Record, column, count, ends, table, word

_MAX_SHORT_NAME = 20


def ranked(contents: Contents) -> list[AccuracyRow]:
    rows = [row for row in contents.overall.rows if row.group is None]
    return sorted(rows, key=lambda row: (is_baseline(row), row.accuracy is None, -(row.accuracy or 0.0)))


def own(contents: Contents) -> list[AccuracyRow]:
    return [row for row in ranked(contents) if not is_baseline(row)]


def best_constant(rows: Iterable[AccuracyRow], group: str | None = None) -> AccuracyRow | None:
    found = [row for row in rows if row.verifier in CONSTANTS and row.group == group and row.accuracy is not None]
    return max(found, key=lambda row: (row.accuracy or 0.0, row.verifier == BASELINE), default=None)


def verifier_name(row: Any) -> str:
    return f"{row.verifier} {CHOSE}" if row.selection_judge else row.verifier


def selected_by_note(rows: Iterable[Any]) -> tuple[str, ...]:
    if not any(row.selection_judge for row in rows):
        return ()
    return (f"{CHOSE} It helped to select the items, so they are harder for it than for others.",)


def plots(title: str, drawn: Sequence[Plot], *, folded: bool = False) -> Group:
    longest = max(
        (len(point.label) for plot in drawn if isinstance(plot, Intervals) for point in plot.points), default=0
    )
    layout: Literal["grid", "column"] = "grid" if longest <= _MAX_SHORT_NAME else "column"
    return Group(title=title, blocks=tuple(drawn), folded=folded, layout=layout)


def interval(ci: tuple[float, float] | None) -> str:
    return NONE if ci is None else f"{percentage(ci[0])}–{percentage(ci[1])}"


def decimal(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}".replace("-", "−")


def share(heading: str, value: Callable[[Record], float | None]) -> Column[Record]:
    return column(heading, value, percentage)


def other_metrics(rows: Sequence[Struct]) -> Iterator[Column[Any]]:
    """Declare a column of each metric of the records except accuracy."""
    for name, metric in METRICS.items():
        values = [getattr(row, name, None) for row in rows]
        if name in rows[0].__struct_fields__ and name != "accuracy":
            there = not metric.is_optional or any(value is not None for value in values)
            heading = metric.heading[0].upper() + metric.heading[1:]
            yield column(heading, attrgetter(name), percentage if metric.unit else decimal, there=there)


class ColourScale:
    """The colour scale of one table, from its lowest to its highest accuracy.

    Attributes:
        note: The legend of the colours.
    """

    def __init__(self, rows: Sequence[AccuracyRow]) -> None:
        shares = [row.accuracy for row in rows if row.accuracy is not None and not is_baseline(row)]
        self._low, self._high = min(shares, default=0.0), max(shares, default=1.0)
        self.note = f"Colours run from {percentage(self._low)} to {percentage(self._high)}; baselines have none."

    def cell(self, row: AccuracyRow | None, small: str = "") -> Cell:
        if row is None or row.accuracy is None:
            return Cell(NONE)
        coloured = self._low < self._high and not is_baseline(row)
        step = shade(row.accuracy, self._low, self._high) if coloured else None
        return Cell(percentage(row.accuracy), shade=step, small=small)


def by_cell(report: AccuracyReport) -> dict[tuple[str, str | None], AccuracyRow]:
    return {(row.verifier, row.group): row for row in report.rows}


def sizes(report: AccuracyReport) -> dict[str | None, int]:
    """Map each group to the largest number of items that count for a verifier, in the order of the report."""
    found: dict[str | None, int] = {}
    for row in report.rows:
        found[row.group] = max(found.get(row.group, 0), row.n)
    return found


# -- The summary: every verifier on all items, next to the baselines.


def summary_section(contents: Contents) -> Section:
    rows = ranked(contents)
    if not own(contents):
        sentence = "No item has gold, so verifiers can't be measured; test results are below."
        none = sentence if contents.tests else "No verifier has a complete run on these items yet."
        return Section("summary", "Summary", (Paragraph(none),))
    blocks: list[Block] = [Paragraph(_headline(contents)), _summary_table(contents, rows)]
    errors = rates_plot(contents)
    drawn: list[Plot] = [accuracy_of_all_plot(contents), *([errors] if errors else [])]
    return Section("summary", "Summary", (*blocks, plots("", drawn)))


def _headline(contents: Contents) -> str:
    finest = next((contents.by[by] for by in ("subtype", "type") if by in contents.by), contents.overall)
    return " ".join((*conclusion(finest), *contents.overall.notes))


def rates_plot(contents: Contents) -> Scatter | None:
    rows = own(contents)
    dots = tuple(Dot(row.verifier, row.fpr, row.fnr) for row in rows if row.fpr is not None and row.fnr is not None)
    if not dots:
        return None
    return Scatter(
        caption="Two ways to err (%): wrong completions accepted, and right ones rejected. The lower left corner is "
        "without error.",
        x_label="false-positive rate: wrong completions accepted",
        y_label="false-negative rate: right completions rejected",
        dots=dots,
    )


def _summary_table(contents: Contents, rows: list[AccuracyRow]) -> Table:
    columns: Columns[AccuracyRow] = (
        word("Verifier", verifier_name),
        count("n", lambda row: row.n),
        share("Accuracy", lambda row: row.accuracy),
        ends(lambda row: row.ci, interval),
        *other_metrics(rows),
    )
    return table(
        f"All items (%, MCC and AUROC as they are). Protocol {contents.protocol}, gold {contents.gold_choice}; "
        "baselines, which look at no completion, come last.",
        columns,
        [row for row in rows if row.accuracy is not None],
        notes=selected_by_note(rows),
        kind=lambda row: "aside" if is_baseline(row) else "",
    )


def accuracy_of_all_plot(contents: Contents) -> Intervals:
    return accuracy_plot("Accuracy (%) with its 95 % interval, clustered by question.", own(contents), contents.overall)


def accuracy_plot(
    caption: str, rows: Iterable[AccuracyRow], report: AccuracyReport, group: str | None = None
) -> Intervals:
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
