"""Estimates from few labels as tables and as text."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from workbench.core.breakdown import group_name
from workbench.core.text.columns import p_value, whole
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.measuring.counting import counting
from workbench.measuring.samples import sample_sentences
from workbench.statistics.records.comparison import LEVEL
from workbench.statistics.records.estimate import EstimateReport, EstimateRow, MixRow
from workbench.tables.document import Table
from workbench.tables.table import Columns, column, count, ends, figure, table, text, word
from workbench.tables.table_text import plain_table

_WIDTH = 79
_FEW_QUESTIONS = 30
"""With fewer labelled questions intervals by question are too narrow: see bench/prediction_powered.py."""

_QUANTITIES = {"accuracy": "accuracy", "prevalence": "share correct"}


def estimate_text(report: EstimateReport) -> str:
    """The whole report for a terminal."""
    blocks = [estimate_head(report), fill(verdict(report), _WIDTH), plain_table(estimate_table(report)).rstrip("\n")]
    if _differs(report):
        blocks.append(plain_table(mix_table(report)).rstrip("\n"))
    return "\n\n".join(blocks) + "\n"


def verdict(report: EstimateReport) -> str:
    """What the estimate over all items says, in a sentence or two."""
    one = report.rows[0]
    if one.estimate is None or one.ci is None or one.saved is None or one.effective is None:
        return f"No estimate. {one.reason or ''}".rstrip()
    said = (
        f"{inert(report.verifier)} is right on {100 * one.estimate:.1f} % of all {counted(_items(one), 'item')}, 95 % "
        f"interval {100 * one.ci[0]:.1f} to {100 * one.ci[1]:.1f}"
    )
    if one.reason is not None:
        return f"{said}. {one.reason}"
    return (
        f"{said}. The {counted(one.labelled, 'label')} there are tell as much as {one.effective:,.0f} would without "
        f"predictions: {one.saved:,.0f} saved."
    )


def estimate_table(report: EstimateReport) -> Table:
    """Estimates with predictions beside those from labels alone."""
    columns: Columns[EstimateRow] = (
        word("", lambda one: _QUANTITIES[one.quantity]),
        word("items", lambda one: _group(one, report.by), there=report.by is not None),
        count("labelled", lambda one: one.labelled),
        count("others", lambda one: one.unlabelled),
        figure("estimate", lambda one: one.estimate),
        ends(lambda one: one.ci),
        figure("labels only", lambda one: one.classical),
        ends(lambda one: one.classical_ci),
        text("trust", lambda one: NONE if one.power is None else f"{one.power:.2f}"),
        column("worth", lambda one: one.effective, whole),
        column("saved", lambda one: one.saved, whole),
    )
    caption = "Estimates for all items, with predictions and from labels only"
    return table(caption, columns, report.rows, notes=_notes(report))


def _group(one: EstimateRow, by: str | None) -> str:
    every = f"all, by {by}" if one.stratified else "all"
    return every if one.group is None else group_name(one.group, by)


def mix_table(report: EstimateReport) -> Table:
    """Questions with labels and without, by group."""
    columns: Columns[MixRow] = (
        word("", lambda one: group_name(one.group, report.mix_by)),
        count("labelled", lambda one: one.labelled),
        count("others", lambda one: one.unlabelled),
    )
    return table(f"Questions by {report.mix_by}", columns, report.mix)


def _notes(report: EstimateReport) -> Iterator[str]:
    """What is assumed, and what speaks against it."""
    yield (
        "Labelled items are taken for a random sample of all. trust: how far predictions count, 0 to 1; worth: labels "
        "that would tell as much without them. Intervals by question."
    )
    if any(one.stratified for one in report.rows):
        yield f"by {report.by}: labels speak for their own group only, and groups are weighed by their items."
    if _differs(report):
        advice = "" if report.by else f" Broken down by {report.mix_by}, groups are weighed by their items."
        yield (
            f"Labelled questions are another mix by {report.mix_by} than the others (p {p_value(report.mix_p or 0)}): "
            f"they are hardly a random sample.{advice}"
        )
    yield from sample_sentences(report.samples, report.by)
    if report.in_conflict:
        yield f"{counted(report.in_conflict, 'item')} in conflict, without gold: hardly a random sample. Settle them."
    first = report.rows[0]
    if first.questions < _FEW_QUESTIONS:
        yield f"Only {counted(first.questions, 'question')} with labels: intervals are likely too narrow."
    reasons = dict.fromkeys(one.reason for one in report.rows[1:] if one.reason)
    for reason in reasons:
        names = [one.group or "all" for one in report.rows if one.reason == reason]
        yield f"{', '.join(dict.fromkeys(names))}: {reason}"
    yield from what_marks_mean(report.selection_judges)


def _differs(report: EstimateReport) -> bool:
    return report.mix_p is not None and report.mix_p < LEVEL


def _items(one: EstimateRow) -> int:
    return one.labelled + one.unlabelled


def estimate_head(report: EstimateReport) -> str:
    """Whose accuracy, predicted by whom, counted how: two lines."""
    chose = report.selection_judges
    run = "" if report.run is None else f", run {report.run}"
    return (
        f"{inert(with_mark(report.verifier, chose))}{run}; "
        f"gold predicted by {inert(', '.join(with_mark(name, chose) for name in report.predictors))}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}"
    )
