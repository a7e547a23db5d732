"""Two verifiers beside each other as tables."""

from __future__ import annotations

from typing import Final

from workbench.model.breakdown import group_name
from workbench.model.comparison import LEVEL, CompareReport, GroupFigures, MetricDifference
from workbench.render.columns import number, p_value
from workbench.render.marks import what_marks_mean
from workbench.reports.document import Row, Table, heads, row
from workbench.services.measuring.comparing_cells import detectable, signed, signed_interval

METRICS: Final = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "mcc": "MCC"}
"""Metric -> what people call it."""


def pair_tables(report: CompareReport) -> tuple[Table, ...]:
    """Who is right where, the figures of both, and wins and losses by group."""
    return (paired_table(report), metrics_table(report), *((groups_table(report),) if report.by else ()))


def paired_table(report: CompareReport) -> Table:
    """The two by two counts."""
    lines = (
        ("A right", report.both_right, report.only_a),
        ("A wrong", report.only_b, report.both_wrong),
        ("all", report.both_right + report.only_b, report.only_a + report.both_wrong),
    )
    return Table(
        caption="Items by who is right",
        head=(heads("", "B right", "B wrong", "all"),),
        rows=tuple(
            row(name, f"{right:,}", f"{wrong:,}", f"{right + wrong:,}", kind="total" if name == "all" else "")
            for name, right, wrong in lines
        ),
    )


def metrics_table(report: CompareReport) -> Table:
    """Each figure of A and B, their difference, its interval, and both tests."""
    closed = row("", "", "", "", signed_interval(report.ci), "closed form")
    rows = [_metric_row(metric, report) for metric in report.metrics]
    return Table(
        caption="Figures of both, their difference with its 95 % interval by question",
        head=(heads("", "A", "B", "A - B", "95 % interval", "how"),),
        rows=(rows[0], *((closed,) if report.bootstrap else ()), *rows[1:]),
        notes=(
            f"McNemar p {p_value(report.mcnemar_p)}, exact, two-sided; items as if independent.",
            f"Permutation p {p_value(report.permutation_p)}, two-sided, by question.",
            *_undefined(report),
            *what_marks_mean(report.selection_judges),
        ),
    )


def _metric_row(metric: MetricDifference, report: CompareReport) -> Row:
    ends, how = metric.ci, "bootstrap"
    if metric.metric == "accuracy" and not report.bootstrap:
        ends, how = report.ci, "closed form"
    cells = (number(metric.a), number(metric.b), signed(metric.difference))
    return row(METRICS[metric.metric], *cells, signed_interval(ends), how if ends else "")


def _undefined(report: CompareReport) -> tuple[str, ...]:
    """Which figures and intervals there are not, and why."""
    without = [METRICS[metric.metric] for metric in report.metrics if metric.difference is None]
    drawn = [metric for metric in report.metrics if report.bootstrap and metric.difference is not None]
    open_ended = [METRICS[metric.metric] for metric in drawn if metric.ci is None]
    return (
        *((f"Undefined, since all gold is of one class: {', '.join(without)}.",) if without else ()),
        *(
            (f"No bootstrap interval, since (nearly) all samples are alike or undefined: {', '.join(open_ended)}.",)
            if open_ended
            else ()
        ),
    )


def groups_table(report: CompareReport) -> Table:
    """Wins, losses and ties by group."""
    apart = [group_name(group.group, report.by) for group in report.groups if group.q < LEVEL]
    return Table(
        caption=f"Wins and losses by {report.by}",
        head=(
            heads("", "n", "questions", "only A", "only B", "ties", "A - B", "95 % interval", "p", "q", "detectable"),
        ),
        rows=tuple(_group_row(group, report.by) for group in report.groups),
        notes=(
            "p by permutation of questions; q after Benjamini and Hochberg over these groups; detectable: the true "
            "difference that would show in four of five cases.",
            f"q below {LEVEL}: {', '.join(apart)}." if apart else f"No q is below {LEVEL}.",
        ),
    )


def _group_row(group: GroupFigures, by: str | None) -> Row:
    return row(
        group_name(group.group, by),
        f"{group.n:,}",
        f"{group.questions:,}",
        f"{group.only_a:,}",
        f"{group.only_b:,}",
        f"{group.both_right + group.both_wrong:,}",
        signed(group.difference),
        signed_interval(group.ci),
        p_value(group.permutation_p),
        p_value(group.q),
        detectable(group),
    )
