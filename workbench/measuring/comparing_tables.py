"""Renders comparisons of verifiers in every format, and the comparison of two verifiers as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from textwrap import fill
from typing import Any, Final, NamedTuple

from msgspec import structs

from workbench.core.options import TableForm
from workbench.core.selection import group_name
from workbench.core.text.emphasis import explain_marks, with_mark
from workbench.core.text.figures import (
    NONE,
    counted,
    number,
    p_value,
    percent,
    points,
    points_interval,
    signed_interval,
    signed_number,
)
from workbench.core.text.inert import inert
from workbench.measuring.family import error_tables, errors_text, family_tables, family_text, plain_tables
from workbench.measuring.judged import counting
from workbench.measuring.notes import could_be_seen
from workbench.statistics.records.comparison import (
    LEVEL,
    CompareReport,
    FamilyReport,
    GroupComparison,
    JointErrorReport,
    MetricDifference,
    PairedFigures,
    Quadrant,
)
from workbench.statistics.records.report import METRICS
from workbench.tables.document import Table
from workbench.tables.files import add_protocol_to_caption, flatten_columns, format_tables, metrics_csv
from workbench.tables.table import Columns, column, count, counts, ends, metric_column, table, text, word

Report = CompareReport | FamilyReport | JointErrorReport

_WIDTH = 79
KINDS: dict[Quadrant, str] = {
    "only_a": "only A right",
    "only_b": "only B right",
    "both_wrong": "both wrong",
    "both_right": "both right",
}
"""Quadrant -> its display name, the most informative first."""


# -- Any comparison.


def comparison_as(report: Report, form: TableForm) -> str:
    """Render a comparison. CSV has full precision and leaves undefined metrics empty; all other formats round and name
    protocol and gold."""
    if form.format == "text" and not form.is_choosing:
        return _HOW[type(report)].text(report)
    if form.format == "csv":
        # A comparison of two has one line for all items and one for each group; others have one line for each pair.
        lines = list(_csv_lines_of_pair(report)) if isinstance(report, CompareReport) else list(_csv_lines(report))
        return metrics_csv(lines, report.protocol, report.gold_choice)
    tables = _HOW[type(report)].tables(report)
    return format_tables((add_protocol_to_caption(one, report.protocol, report.gold_choice) for one in tables), form)


def comparison_name(report: Report) -> str:
    return f"{_HOW[type(report)].name}-{report.protocol}-{report.gold_choice}"


def _csv_lines_of_pair(report: CompareReport) -> Iterator[Mapping[str, Any]]:
    names = {"a": report.a, "b": report.b}
    total = {name: getattr(report, name) for name in PairedFigures.__struct_fields__}
    metrics: dict[str, Any] = {}
    for metric in report.metrics:
        found = {"a": metric.a, "b": metric.b, "difference": metric.difference, "ci": metric.ci}
        metrics |= flatten_columns(found, f"{metric.metric}_")
    yield {**names, "group": None, **dict(flatten_columns(total)), "q": None, **metrics}
    for group in report.groups:
        yield {**names, **dict(flatten_columns(structs.asdict(group)))}


def _csv_lines(report: FamilyReport | JointErrorReport) -> Iterator[Mapping[str, Any]]:
    pairs = report.family if isinstance(report, FamilyReport) else report.errors
    for pair in pairs:
        found = dict(flatten_columns(structs.asdict(pair)))
        yield {"a": found.pop("a"), "b": found.pop("b"), **found}


# -- A pair.


def compare_text(report: CompareReport) -> str:
    blocks = [_heading_text(report), *plain_tables(pair_tables(report))]
    blocks.append(fill(verdict(report), _WIDTH))
    blocks += [_examples_text(report, kind) for kind in KINDS if report.examples[kind]]
    return "\n\n".join(blocks) + "\n"


def pair_tables(report: CompareReport) -> tuple[Table, ...]:
    return (paired_table(report), metrics_table(report), *((groups_table(report),) if report.by else ()))


class _Counts(NamedTuple):
    name: str
    right: int
    wrong: int


def paired_table(report: CompareReport) -> Table:
    columns: Columns[_Counts] = (
        word("", lambda one: one.name),
        count("B right", lambda one: one.right),
        count("B wrong", lambda one: one.wrong),
        count("all", lambda one: one.right + one.wrong),
    )
    lines = (
        _Counts("A right", report.both_right, report.only_a),
        _Counts("A wrong", report.only_b, report.both_wrong),
        _Counts("all", report.both_right + report.only_b, report.only_a + report.both_wrong),
    )
    return table("Items by who is right", columns, lines, kind=lambda one: "total" if one.name == "all" else "")


def metrics_table(report: CompareReport) -> Table:
    columns: Columns[MetricDifference] = (
        word("", lambda one: METRICS[one.metric].name),
        metric_column("A", lambda one: one.a),
        metric_column("B", lambda one: one.b),
        column("A - B", lambda one: one.difference, signed_number),
        ends(lambda one: one.ci, signed_interval),
    )
    notes = (
        f"Permutation p {p_value(report.permutation_p)}, two-sided, by question.",
        _mcnemar_text(report),
        *_undefined_notes(report),
        *explain_marks(report.selection_judges),
    )
    caption = "Metrics of both, and their difference with its 95 % interval by question"
    return table(caption, columns, report.metrics, notes=notes)


def _mcnemar_text(report: CompareReport) -> str:
    if report.mcnemar_p is not None:
        return f"McNemar p {p_value(report.mcnemar_p)}, exact, two-sided."
    return "No McNemar's test: it assumes independent items, and the two differ on several items of one question."


def _undefined_notes(report: CompareReport) -> Iterator[str]:
    without = [METRICS[metric.metric].name for metric in report.metrics if metric.difference is None]
    open_ended = [METRICS[one.metric].name for one in report.metrics if one.difference is not None and one.ci is None]
    if without:
        yield f"Undefined, since all gold is of one class: {', '.join(without)}."
    if open_ended:
        yield f"No interval, since a class of gold has too few questions to say: {', '.join(open_ended)}."


_FRACTIONS: Final = (signed_number, signed_interval, number)
"""Formats of a difference, its interval, and a difference without its sign."""


def groups_table(report: CompareReport, *, in_points: bool = False) -> Table:
    """Return wins and losses by group.

    Args:
        in_points: Show differences in points, with a star where they are significant, as screens do.
    """
    difference, interval, size = (points, points_interval, percent) if in_points else _FRACTIONS
    columns: Columns[GroupComparison] = (
        word(report.by or "", lambda group: group_name(group.group, report.by)),
        *counts("n", "questions"),
        count("only A", lambda group: group.only_a),
        count("only B", lambda group: group.only_b),
        count("ties", lambda group: group.both_right + group.both_wrong),
        text(
            "A - B",
            lambda group: difference(group.difference) + "*" * (in_points and group.q < LEVEL),
            by=lambda group: group.difference,
        ),
        ends(lambda group: group.ci, interval),
        column("p", lambda group: group.permutation_p, p_value),
        column("q", lambda group: group.q, p_value),
        column("detectable", lambda group: group.detectable, size),
    )
    names = [group_name(group.group, report.by) for group in report.groups if group.q < LEVEL]
    notes = (
        "p by permutation of questions; q after Benjamini and Hochberg over these groups; detectable: the true "
        f"difference that would show (p below {LEVEL}) in four of five cases, {NONE} where too few questions differ to "
        "say.",
        f"q below {LEVEL}: {', '.join(names)}." if names else f"No q is below {LEVEL}.",
    )
    return table(f"Wins and losses by {report.by}", columns, report.groups, notes=notes)


def verdict(report: CompareReport) -> str:
    return describe_difference(report, report.a, report.b)


def describe_difference(figures: PairedFigures, a: str, b: str) -> str:
    a, b = inert(a), inert(b)
    points = f"{abs(100 * figures.difference):.1f} points"
    if figures.only_a == figures.only_b == 0:
        return f"{a} and {b} are right and wrong on exactly the same items."
    test, interval = figures.permutation_p < LEVEL, not figures.ci[0] <= 0 <= figures.ci[1]
    if test and interval:
        better, worse = (a, b) if figures.difference > 0 else (b, a)
        return f"{better} is right more often than {worse}, by {points}; the difference is significant."
    seen = f" {could_be_seen(figures.detectable)}"
    ahead = f"are {points} apart" if figures.difference else "are right equally often"
    if test or interval:
        return f"{a} and {b} {ahead}, a close call: test and interval disagree on significance.{seen}"
    return f"{a} and {b} {ahead}: no significant difference on these items.{seen}"


def _heading_text(report: CompareReport) -> str:
    left_out = f"; {report.unpaired:,} that count for only one of them are left out" if report.unpaired else ""
    chose = report.selection_judges
    undecided = f"\nundecided: A {report.undecided_a:,}, B {report.undecided_b:,}"
    return (
        f"A {inert(with_mark(report.a, chose))}{_run_text(report.run_a)}\n"
        f"B {inert(with_mark(report.b, chose))}{_run_text(report.run_b)}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.n, 'item')} in {counted(report.questions, 'question')}{left_out}"
        f"{undecided if report.undecided_a or report.undecided_b else ''}"
    )


def _run_text(number: int | None) -> str:
    return "" if number is None else f", run {number}"


def _examples_text(report: CompareReport, kind: Quadrant) -> str:
    found = report.examples[kind]
    names = [(inert(example.completion_id), inert(example.question_id)) for example in found]
    widths = [max(len(name[column]) for name in names) for column in (0, 1)]
    lines = [
        f"  {completion:<{widths[0]}}  {question:<{widths[1]}}  gold {example.gold:<9}  A {example.a:<9}  B {example.b}"
        for (completion, question), example in zip(names, found, strict=True)
    ]
    return "\n".join((f"{KINDS[kind]}: {len(found):,} of {getattr(report, kind):,}", *lines))


class _Rendering(NamedTuple):
    name: str
    text: Callable[[Any], str]
    tables: Callable[[Any], tuple[Table, ...]]


_HOW: dict[type, _Rendering] = {
    CompareReport: _Rendering("compare", compare_text, pair_tables),
    FamilyReport: _Rendering("family", family_text, family_tables),
    JointErrorReport: _Rendering("errors", errors_text, error_tables),
}
