"""An accuracy report as tables, the same for a terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from workbench.model.breakdown import crossing, group_name
from workbench.model.report import AccuracyReport, AccuracyRow, AverageRow
from workbench.render.bars import NONE, counted
from workbench.render.columns import interval, number, p_value
from workbench.render.marks import CHOSE
from workbench.reports.document import Cell, Head, Row, Table


class _ShownColumns(NamedTuple):
    """Which columns a report has something for."""

    delta: bool
    auroc: bool
    bootstrap: bool


def accuracy_tables(report: AccuracyReport) -> tuple[Table, ...]:
    """The table, and one of the verifiers elsewhere where that was asked for; figures are fractions."""
    return (_main(report), *([_transfer(report)] if report.transfer else []))


def group_text(row: AccuracyRow, by: str | None) -> str:
    """The group in words; the average over all items says which one it is."""
    return "all (micro)" if row.group is None else group_name(row.group, by)


def _main(report: AccuracyReport) -> Table:
    shown = _ShownColumns(
        delta=any(row.delta is not None for row in report.rows),
        auroc=any(row.auroc is not None for row in report.rows),
        bootstrap=report.bootstrap is not None,
    )
    averages = {row.verifier: row for row in report.averages}
    rows: list[Row] = []
    for verifier, own in groupby(report.rows, key=lambda row: row.verifier):
        rows += _block(list(own), averages.get(verifier), report, shown)
    head = tuple(Head(title) for title in _titles(shown))
    return Table(caption=_caption(report), head=(head,), rows=tuple(rows), left=2, notes=_notes(report))


def _block(
    rows: Sequence[AccuracyRow], average: AverageRow | None, report: AccuracyReport, shown: _ShownColumns
) -> Iterator[Row]:
    """The rows of one verifier; the macro average stands below the row of all items."""
    for row in rows:
        yield Row(tuple(map(Cell, _cells(row, report, shown))), "aside" if row.kind == "baseline" else "")
        if row.group is None and average is not None and average.groups > 1:
            cells = [row.verifier, f"macro over {average.groups} {_plural(average.over)}", "", number(average.macro)]
            cells += [""] * (len(_titles(shown)) - len(cells))
            yield Row(tuple(map(Cell, cells)), "aside" if row.kind == "baseline" else "")


def _titles(shown: _ShownColumns) -> list[str]:
    drawn = ["95 % interval"] if shown.bootstrap else []
    return [
        *("verifier", "group", "n", "accuracy", "95 % interval"),
        *(["delta", "q"] if shown.delta else []),
        *("bal.acc", *drawn, "MCC", *drawn, "FPR", "FNR", "coverage"),
        *(["AUROC"] if shown.auroc else []),
    ]


def _cells(row: AccuracyRow, report: AccuracyReport, shown: _ShownColumns) -> list[str]:
    balanced_ci = [interval(row.balanced_accuracy_ci)] if shown.bootstrap else []
    mcc_ci = [interval(row.mcc_ci)] if shown.bootstrap else []
    return [
        row.verifier + (f" {CHOSE}" if row.selection_judge else ""),
        *(group_text(row, report.by), f"{row.n:,}", number(row.accuracy), interval(row.ci)),
        *([NONE if row.delta is None else f"{row.delta:+.3f}", p_value(row.q)] if shown.delta else []),
        *(number(row.balanced_accuracy), *balanced_ci, number(row.mcc), *mcc_ci),
        *map(number, (row.fpr, row.fnr, row.coverage)),
        *([number(row.auroc)] if shown.auroc else []),
    ]


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
    head, said = ["verifier"], []
    if first.prevalence is not None:
        head += ["accuracy", "95 % interval"]
        said.append(f"Accuracy to expect where {first.prevalence:g} of completions are correct.")
    if first.accept_rate is not None:
        head.append("correct")
        said.append(f"Share of correct completions where a verifier accepts {first.accept_rate:g} of them.")
    rows = []
    for row in report.transfer:
        cells = [row.verifier]
        cells += [number(row.accuracy), interval(row.ci)] if first.prevalence is not None else []
        cells += [number(row.true_rate)] if first.accept_rate is not None else []
        rows.append(Row(tuple(map(Cell, cells))))
    note = "It holds as far as correct and incorrect completions there are like those here."
    return Table(caption=" ".join(said), head=(tuple(map(Head, head)),), rows=tuple(rows), notes=(note,))


def _plural(field: str) -> str:
    return "groups" if "," in field else f"{field}s"
