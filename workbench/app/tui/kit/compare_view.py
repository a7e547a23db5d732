"""A paired comparison as text, and its items and groups as table rows."""

from __future__ import annotations

from typing import Final, Literal

from textual.content import Content

from workbench.app.tui.kit.accuracy_view import PROTOCOLS
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import verdict_cell
from workbench.core.text.emphasis import with_mark
from workbench.core.text.figures import (
    NONE,
    compact_count,
    counted,
    number,
    p_value,
    percent,
    points,
    points_interval,
)
from workbench.measuring.comparing import ComparedItem
from workbench.measuring.comparing_tables import KINDS
from workbench.statistics.records.comparison import CompareReport, MetricDifference, Quadrant
from workbench.statistics.records.report import METRICS
from workbench.tables.table import Columns, column, identifier, word

Shown = Quadrant | Literal["groups"]
TABS: Final[dict[Shown, str]] = dict((*KINDS.items(), ("groups", "by {by}")))
"""Contents of the lower table, in the order in which a key steps through them."""

ITEM_COLUMNS: Columns[ComparedItem] = (
    identifier("id", lambda row: row.item.completion_id, room=(6, 20)),
    column("A says", lambda row: row.a.word, verdict_cell, words=True, room=11),
    column("B says", lambda row: row.b.word, verdict_cell, words=True, room=11),
    column("gold", lambda row: row.gold.word, verdict_cell, words=True, room=11),
    word("type", lambda row: row.item.subtype, room=(4, 8)),
    word("question", lambda row: row.item.question, room=(12, 60)),
    word("model", lambda row: row.item.model, room=(8, 24), tone="dim"),
)
"""Columns of the table of items; A, B and gold are shown as symbol and word."""


# -- above the table -------------------------------------------------------------------------------


def head(report: CompareReport, words: str) -> Content:
    """Return three lines on a comparison: the verifiers, the items, and how verdicts are counted."""
    left_out = f" · {report.unpaired:,} count for only one" if report.unpaired else ""
    undecided = f" · abstentions A {report.undecided_a:,}, B {report.undecided_b:,}"
    return Content.assemble(
        ("A ", "bold"),
        (printable(with_mark(report.a, report.selection_judges)), "bold $text-accent"),
        ("   B ", "bold"),
        (printable(with_mark(report.b, report.selection_judges)), "bold $text-accent"),
        f"\n{words} · {counted(report.n, 'item')} in {counted(report.questions, 'question')}"
        f"{undecided if report.undecided_a or report.undecided_b else ''}{left_out}"
        f"\ngold {report.gold_choice} · protocol {report.protocol}: {PROTOCOLS[report.protocol]}",
    )


def metrics_text(report: CompareReport) -> Content:
    """Return both verifiers' metrics, their differences with intervals, and both tests: five lines."""
    lines = [f"{'':<4}{'A':>6}{'B':>6}{'A - B':>7}  95 %"]
    lines += [_metric_line(metric) for metric in report.metrics]
    tests = f"p   {p_value(report.permutation_p)} by question · McNemar {p_value(report.mcnemar_p)}"
    return Content("\n".join((*lines, tests)))


def _metric_line(metric: MetricDifference) -> str:
    name = f"{METRICS[metric.metric].short:<4}"
    if metric.a is None or metric.b is None or metric.difference is None:
        return f"{name}{NONE:>6}{NONE:>6}{NONE:>7}  one gold class"
    ends = metric.ci
    if metric.metric == "mcc":
        a, b, difference = number(metric.a), number(metric.b), f"{metric.difference:+.3f}"
        between = "" if ends is None else f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"
    else:
        a, b, difference = percent(metric.a), percent(metric.b), points(metric.difference)
        between = "" if ends is None else points_interval(ends)
    return f"{name}{a:>6}{b:>6}{difference:>7}  {between or 'too few'}"


def tabs(report: CompareReport, shown: Shown) -> Content:
    """Return the tabs of the lower table with counts; the current one is in brackets."""
    parts: list[str | tuple[str, str]] = []
    for tab, words in TABS.items():
        text = words.format(by=report.by) + (f" {compact_count(getattr(report, tab))}" if tab in KINDS else "")
        parts.append((f"[{text}]", "bold $text-accent") if tab == shown else f" {text} ")
    return Content.assemble(*parts)
