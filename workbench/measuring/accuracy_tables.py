"""An accuracy report as tables, the same for a terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from workbench.core.breakdown import crossing, group_name
from workbench.core.text.columns import interval, number, p_value
from workbench.core.text.figures import NONE, counted
from workbench.core.text.marks import CHOSE
from workbench.statistics.records.report import AccuracyReport, AccuracyRow, AverageRow, TransferRow
from workbench.tables.document import Table
from workbench.tables.table import Column, Columns, ends, figure, table, text, word

_Line: TypeAlias = AccuracyRow | AverageRow


def accuracy_tables(report: AccuracyReport) -> tuple[Table, ...]:
    """The table, and one of the verifiers elsewhere where that was asked for; figures are fractions."""
    return (_main(report), *([_transfer(report)] if report.transfer else []))


def _main(report: AccuracyReport) -> Table:
    baselines = {row.verifier for row in report.rows if row.kind == "baseline"}
    return table(
        _caption(report),
        _columns(report),
        _lines(report),
        notes=_notes(report),
        kind=lambda line: "aside" if line.verifier in baselines else "",
    )


def _lines(report: AccuracyReport) -> Iterator[_Line]:
    """The rows of each verifier; the macro average stands below the row of all items."""
    averages = {row.verifier: row for row in report.averages if row.groups > 1}
    for row in report.rows:
        yield row
        if row.group is None and row.verifier in averages:
            yield averages[row.verifier]


def _columns(report: AccuracyReport) -> Columns[_Line]:
    """Those for which the report has something; of an average over groups only accuracy is known."""
    tested = any(row.delta is not None for row in report.rows)
    scored = any(row.auroc is not None for row in report.rows)
    drawn = report.bootstrap is not None
    return (
        word("verifier", lambda line: line.verifier + (f" {CHOSE}" if _chose(line) else "")),
        word("group", lambda line: _group(line, report.by)),
        _only_row("n", lambda row: f"{row.n:,}"),
        figure("accuracy", lambda line: line.macro if isinstance(line, AverageRow) else line.accuracy),
        _only_row("95 % interval", lambda row: interval(row.ci)),
        _only_row("delta", lambda row: NONE if row.delta is None else f"{row.delta:+.3f}", there=tested),
        _only_row("q", lambda row: p_value(row.q), there=tested),
        _only_row("bal.acc", lambda row: number(row.balanced_accuracy)),
        _only_row("95 % interval", lambda row: interval(row.balanced_accuracy_ci), there=drawn),
        _only_row("MCC", lambda row: number(row.mcc)),
        _only_row("95 % interval", lambda row: interval(row.mcc_ci), there=drawn),
        _only_row("FPR", lambda row: number(row.fpr)),
        _only_row("FNR", lambda row: number(row.fnr)),
        _only_row("coverage", lambda row: number(row.coverage)),
        _only_row("AUROC", lambda row: number(row.auroc), there=scored),
    )


def _only_row(heading: str, shown: Callable[[AccuracyRow], str], *, there: bool = True) -> Column[_Line]:
    return text(heading, lambda line: "" if isinstance(line, AverageRow) else shown(line), there=there)


def _chose(line: _Line) -> bool:
    return isinstance(line, AccuracyRow) and line.selection_judge


def _group(line: _Line, by: str | None) -> str:
    """The group in words; an average says which one it is."""
    if isinstance(line, AverageRow):
        return f"macro over {line.groups} {'groups' if ',' in line.over else f'{line.over}s'}"
    return "all (micro)" if line.group is None else group_name(line.group, by)


def _caption(report: AccuracyReport) -> str:
    sources = ", ".join(f"{count:,} {name}" for name, count in report.gold.items())
    return f"Accuracy: protocol {report.protocol}, gold {report.gold_choice} ({sources})."


def _notes(report: AccuracyReport) -> tuple[str, ...]:
    """How the figures came about, then what to know of them."""
    means = "Micro is the mean over items"
    if any(one.macro is not None and one.groups > 1 for one in report.averages):
        means += ", macro the mean over groups"
    made = [f"Intervals: 95 %, clustered by question. {means}."]
    if report.tests is not None:
        against = "its type" if report.by and "subtype" in crossing(report.by) else "all items"
        tests = counted(report.tests.hypotheses, "test")
        made.append(
            f"Delta: a group's accuracy less that of {against}. q: permutation test by question against the rest, "
            f"after Benjamini and Hochberg over {tests}."
        )
    if report.bootstrap is not None:
        draws = f"{report.bootstrap.samples:,} draws of questions, seed {report.bootstrap.seed}"
        made.append(f"Intervals of balanced accuracy and MCC: bootstrap, {draws}.")
    return (*made, *report.notes)


def _transfer(report: AccuracyReport) -> Table:
    """The verifiers where another share of completions is correct, or is accepted."""
    first = report.transfer[0]
    expected, accepted = first.prevalence is not None, first.accept_rate is not None
    columns: Columns[TransferRow] = (
        word("verifier", lambda row: row.verifier),
        figure("accuracy", lambda row: row.accuracy, there=expected),
        ends(lambda row: row.ci, there=expected),
        figure("correct", lambda row: row.true_rate, there=accepted),
    )
    said = []
    if expected:
        said.append(f"Accuracy to expect where {first.prevalence:g} of completions are correct.")
    if accepted:
        said.append(f"Share of correct completions where a verifier accepts {first.accept_rate:g} of them.")
    note = "It holds as far as correct and incorrect completions there are like those here."
    return table(" ".join(said), columns, report.transfer, notes=(note,))
