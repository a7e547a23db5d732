"""Downstream scores as text: bars of accuracy beside bars of scores, and their rank correlation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from workbench.core.breakdown import group_name
from workbench.core.text.columns import aligned, interval, number, p_value
from workbench.core.text.figures import NONE, bar, counted
from workbench.measuring.counting import counting
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.downstream import Association, DownstreamPoint, DownstreamReport, DownstreamRow
from workbench.tables.document import Table
from workbench.tables.table import Columns, Ends, column, count, ends, figure, table, text, word
from workbench.tables.table_text import plain_table

_BAR = 16
_ALL = "all benchmarks"
_REFUSALS = 5


def downstream_text(report: DownstreamReport) -> str:
    """The whole report for a terminal."""
    plots = [_plot(list(points)) for _, points in groupby(report.points, key=lambda point: point.benchmark)]
    return "\n\n".join([downstream_head(report), *plots, plain_table(associations_table(report))])


def downstream_head(report: DownstreamReport) -> str:
    """Counted how, from how much of the file: two lines."""
    refused = f"; {counted(report.refused, 'line')} refused" if report.refused else ""
    return (
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n{counted(report.lines, 'score')} read{refused}"
    )


def scores_table(report: DownstreamReport) -> Table:
    """Each verifier's accuracy beside the score of what was trained with it."""
    columns: Columns[DownstreamPoint] = (
        word("benchmark", lambda point: point.benchmark or _ALL),
        word("verifier", lambda point: point.verifier),
        count("n", lambda point: point.n),
        figure("accuracy", lambda point: point.accuracy),
        ends(lambda point: point.ci),
        text("score", _score),
        ends(lambda point: point.score_ci),
        count("scores", lambda point: point.scores),
    )
    caption = "Accuracy of the verifiers beside the scores of what was trained with them"
    return table(caption, columns, report.points, notes=_refusals(report))


def _score(point: DownstreamPoint) -> str:
    """The score, or a mean rank."""
    return f"{point.score:g}" if point.benchmark is not None else f"{point.score:.1f}"


def _refusals(report: DownstreamReport) -> Iterator[str]:
    """What mean ranks are, and which lines were not taken."""
    if any(point.benchmark is None for point in report.points):
        yield f"{_ALL}: the mean of the ranks, 1 being the lowest score."
    for line in report.refusals[:_REFUSALS]:
        yield f"Refused: line {line.line}, {line.field or 'as a whole'}: {line.message}"
    if report.refused > _REFUSALS:
        yield f"{report.refused - _REFUSALS:,} more were refused."


def _plot(points: Sequence[DownstreamPoint]) -> str:
    """One line a verifier, the most accurate first: do the bars on the right shrink with those on the left?"""
    benchmark = points[0].benchmark
    low, high = min(0.0, *(point.score for point in points)), max(point.score for point in points)
    lines = [
        (
            point.verifier,
            number(point.accuracy),
            bar(point.accuracy or 0.0, _BAR),
            _score(point),
            interval(point.score_ci) if point.score_ci else "",
            bar((point.score - low) / (high - low) if high > low else 0.0, _BAR),
        )
        for point in points
    ]
    kind = "score" if benchmark is not None else "mean rank, 1 lowest"
    return aligned([(benchmark or _ALL, "accuracy", "", kind, "", ""), *lines])


def associations_table(report: DownstreamReport) -> Table:
    """The rank correlations of each benchmark, and of all."""
    columns: Columns[DownstreamRow] = (
        word("benchmark", lambda one: one.benchmark or _ALL),
        word("items", lambda one: group_name(one.group, report.by)),
        count("verifiers", lambda one: one.verifiers),
        *_association("Spearman", lambda one: one.spearman),
        *_association("Kendall", lambda one: one.kendall),
    )
    caption = "Order of the verifiers by accuracy against their order by score"
    return table(caption, columns, report.rows, notes=_notes(report))


def _association(name: str, found: Callable[[DownstreamRow], Association]) -> Columns[DownstreamRow]:
    """A coefficient with what is known of it."""
    return (
        column("coefficient", lambda one: found(one).coefficient, _coefficient, over=name),
        column("p", lambda one: found(one).p, p_value, over=name),
        ends(lambda one: found(one).ci, _coefficients, over=name),
    )


def _coefficient(value: float | None) -> str:
    return NONE if value is None else f"{value:+.2f}"


def _coefficients(ends: Ends) -> str:
    return NONE if ends is None else f"[{ends[0]:+.2f}, {ends[1]:+.2f}]"


def _notes(report: DownstreamReport) -> Iterator[str]:
    """What the figures can tell, and what they leave out."""
    fewest = min((one for one in report.rows if one.spearman.least_p), key=lambda one: one.verifiers, default=None)
    words = "p is one-sided: does a more accurate verifier go with a higher score?"
    if fewest is not None and fewest.spearman.least_p is not None:
        share = fewest.spearman.least_p
        words += f" With {fewest.verifiers} verifiers it can't be below {p_value(share)}"
        words += ", even in perfect order: so few can't settle it." if share >= LEVEL else "."
    yield words
    reasons: dict[str, list[str]] = {}
    for one in report.rows:
        if one.reason is not None and one.group is None:
            reasons.setdefault(one.reason, []).append(one.benchmark or _ALL)
    for reason, benchmarks in reasons.items():
        yield f"{', '.join(benchmarks)}: {reason}"
    if report.unmeasured:
        yield f"Without a complete run here, and left out: {', '.join(report.unmeasured)}."
