"""A paired comparison as text, the items behind it and its groups as rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from textual.content import Content

from workbench.app.tui.kit.accuracy_view import PROTOCOLS, group_name
from workbench.app.tui.kit.columns import CellStyle, TableCell, TableColumn, TableRow, marked
from workbench.app.tui.kit.matrix import printable
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import NONE, bar, compact_count, counted, number, p_value, percent
from workbench.measuring.comparing import ComparedItem
from workbench.statistics.records.comparison import LEVEL, CompareReport, GroupFigures, MetricDifference, Quadrant

Shown = Quadrant | Literal["groups"]
TABS: Final[dict[Shown, str]] = {
    "only_a": "only A right",
    "only_b": "only B right",
    "both_wrong": "both wrong",
    "both_right": "both right",
    "groups": "by {by}",
}
"""What the lower table can show, in the order of the key."""

ITEM_COLUMNS = (
    TableColumn("completion_id", "id", min_width=10, ideal_width=20),
    TableColumn("a", "A says", min_width=11, ideal_width=11),
    TableColumn("b", "B says", min_width=11, ideal_width=11),
    TableColumn("gold", "gold", min_width=11, ideal_width=11),
    TableColumn("subtype", "type", min_width=4, ideal_width=8),
    TableColumn("question", "question", min_width=12, ideal_width=60),
    TableColumn("model", "model", min_width=8, ideal_width=24),
)
"""Columns of the items; A, B and gold say what they say in symbol and word."""

_NAMES = {"accuracy": "acc", "balanced_accuracy": "BA", "mcc": "MCC"}


def item_row(row: ComparedItem) -> TableRow:
    """An item under `ITEM_COLUMNS`."""
    item = row.item
    said = (marked(outcome.word) for outcome in (row.a, row.b, row.gold))
    last = (TableCell(item.subtype), TableCell(item.question), TableCell(item.model, "dim"))
    return TableRow(item.id, (TableCell(item.completion_id), *said, *last))


# -- above the table -------------------------------------------------------------------------------


def head(report: CompareReport, words: str) -> Content:
    """Who is compared, on what, counted how: three lines."""
    left_out = f" · {report.unpaired:,} count for one only" if report.unpaired else ""
    undecided = f" · undecided A {report.undecided_a:,}, B {report.undecided_b:,}"
    return Content.assemble(
        ("A ", "bold"),
        (printable(with_mark(report.a, report.selection_judges)), "bold $text-accent"),
        ("   B ", "bold"),
        (printable(with_mark(report.b, report.selection_judges)), "bold $text-accent"),
        f"\n{words} · {counted(report.n, 'item')} in {counted(report.questions, 'question')}"
        f"{undecided if report.undecided_a or report.undecided_b else ''}{left_out}"
        f"\ngold {report.gold_choice} · protocol {report.protocol}: {PROTOCOLS[report.protocol]}",
    )


def table(report: CompareReport) -> Content:
    """The paired counts."""
    lines = [f"{'':<5}{'B ✓':>9}{'B ✗':>9}{'all':>9}"]
    for name, right, wrong in (
        ("A ✓", report.both_right, report.only_a),
        ("A ✗", report.only_b, report.both_wrong),
        ("all", report.both_right + report.only_b, report.only_a + report.both_wrong),
    ):
        lines.append(f"{name:<5}{right:>9,}{wrong:>9,}{right + wrong:>9,}")
    return Content("\n".join(lines))


def figures(report: CompareReport) -> Content:
    """Both verifiers' figures, their differences with intervals, and both tests: five lines.

    Intervals of a closed form stand there until those of the bootstrap have come.
    """
    how = f"95 %, {report.bootstrap.samples:,} draws" if report.bootstrap else "95 %, closed form"
    lines = [f"{'':<4}{'A':>6}{'B':>6}{'A - B':>7}  {how}"]
    lines += [_figure(metric, report) for metric in report.metrics]
    tests = f"p   {p_value(report.permutation_p)} by question · McNemar {p_value(report.mcnemar_p)}"
    return Content("\n".join((*lines, tests)))


def _figure(metric: MetricDifference, report: CompareReport) -> str:
    """Accuracies in percent, their difference in points; the correlation as it is."""
    name = f"{_NAMES[metric.metric]:<4}"
    if metric.a is None or metric.b is None or metric.difference is None:
        return f"{name}{NONE:>6}{NONE:>6}{NONE:>7}  one gold class"
    ends = report.ci if metric.metric == "accuracy" and not report.bootstrap else metric.ci
    if metric.metric == "mcc":
        a, b, difference = number(metric.a), number(metric.b), f"{metric.difference:+.3f}"
        between = "" if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"
    else:
        a, b, difference = percent(metric.a), percent(metric.b), points(metric.difference)
        between = interval(ends)
    return f"{name}{a:>6}{b:>6}{difference:>7}  {between or ('none' if report.bootstrap else '…')}"


def points(difference: float) -> str:
    """A difference in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def interval(ends: tuple[float, float] | None) -> str:
    """A difference's interval in percentage points; "" without one."""
    return "" if ends is None else f"[{points(ends[0])}, {points(ends[1])}]"


def tabs(report: CompareReport, shown: Shown) -> Content:
    """What the table below can show, with counts; brackets are round what it shows."""
    sizes: Mapping[Shown, int] = {
        "only_a": report.only_a,
        "only_b": report.only_b,
        "both_wrong": report.both_wrong,
        "both_right": report.both_right,
    }
    parts: list[str | tuple[str, str]] = []
    for tab, words in TABS.items():
        text = words.format(by=report.by) + (f" {compact_count(sizes[tab])}" if tab in sizes else "")
        parts.append((f"[{text}]", "bold $text-accent") if tab == shown else f" {text} ")
    return Content.assemble(*parts)


# -- wins and losses -------------------------------------------------------------------------------


def group_columns(wide: bool) -> tuple[TableColumn, ...]:
    """Columns of wins and losses; bars are longer where there is room."""

    def figure(key: str, title: str, width: int) -> TableColumn:
        return TableColumn(key, title, width, width, "right")

    return (
        TableColumn("group", "group", 8, 28),
        figure("n", "n", 5),
        *(TableColumn(key, title, _won(wide), _won(wide)) for key, title in (("a", "A wins"), ("b", "B wins"))),
        *((figure("ties", "ties", 6),) if wide else ()),
        figure("difference", "A - B", 6),
        TableColumn("interval", "95 % interval", 15, 15),
        *((figure("p", "p", 8),) if wide else ()),
        figure("q", "q", 8),
        *((figure("detectable", "detectable", 10),) if wide else ()),
    )


def group_rows(report: CompareReport, wide: bool) -> list[TableRow]:
    """Wins and losses of each group; a row's id is its place in the report."""
    most = max((max(group.only_a, group.only_b) for group in report.groups), default=0)
    return [TableRow(place, _group_cells(group, report.by, wide, most)) for place, group in enumerate(report.groups)]


def _won(wide: bool) -> int:
    return 14 if wide else 9


def _group_cells(group: GroupFigures, by: str | None, wide: bool, most: int) -> tuple[TableCell, ...]:
    sure: CellStyle = "bold" if group.q < LEVEL else ""
    mark = " *" if group.q < LEVEL else ""

    def won(count: int, style: CellStyle) -> TableCell:
        length = _won(wide) - 6
        return TableCell(f"{compact_count(count):>5} {bar(count / most if most else 0.0, length)}", style)

    seen = NONE if group.detectable is None or group.detectable > 1 else f"{100 * group.detectable:.1f}"
    ties = group.both_right + group.both_wrong
    return (
        TableCell(group_name(group.group, by), sure),
        TableCell(compact_count(group.n)),
        won(group.only_a, "success"),
        won(group.only_b, "warning"),
        *((TableCell(compact_count(ties)),) if wide else ()),
        TableCell(points(group.difference), sure),
        TableCell(interval(group.ci)),
        *((TableCell(p_value(group.permutation_p)),) if wide else ()),
        TableCell(p_value(group.q) + mark, sure),
        *((TableCell(seen),) if wide else ()),
    )
