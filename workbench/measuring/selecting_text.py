"""Best of n as a table and as text."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.text.columns import signed, signed_interval
from workbench.core.text.figures import NONE, counted, percent
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.measuring.counting import counting
from workbench.statistics.records.combined import BestOfReport, BestOfRow
from workbench.tables.document import Table
from workbench.tables.table import Columns, column, count, ends, figure, table, text, word
from workbench.tables.table_text import plain_table

_UNDECIDED = {
    "forced": "undecided ones rank last",
    "strict": "undecided ones rank against their gold",
    "decided": "undecided ones can't be picked",
}


def best_of_text(report: BestOfReport) -> str:
    """The whole report for a terminal."""
    return f"{best_of_head(report)}\n\n{plain_table(best_of_table(report))}"


def best_of_head(report: BestOfReport) -> str:
    """Counted how, on what: two lines."""
    return (
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.questions, 'question')} with gold, {report.several:,} of them with two completions or more; "
        f"the most is {report.most:,}"
    )


def best_of_table(report: BestOfReport) -> Table:
    """Verifiers as selectors, for each n."""
    columns: Columns[BestOfRow] = (
        word("verifier", lambda one: with_mark(one.verifier, report.selection_judges)),
        word("picks by", lambda one: one.picks_by),
        count("n", lambda one: one.n),
        count("questions", lambda one: one.questions),
        count("mixed", lambda one: one.mixed),
        figure("best of n", lambda one: one.accuracy),
        ends(lambda one: one.ci),
        figure("random", lambda one: one.random),
        figure("oracle", lambda one: one.oracle),
        column("gain", lambda one: one.gain, signed),
        ends(lambda one: one.gain_ci, signed_interval),
        text("closed", lambda one: NONE if one.closed is None else f"{percent(one.closed)} %"),
    )
    caption = "How often the completion that a verifier picks of n is correct"
    return table(caption, columns, report.rows, notes=_notes(report))


def _notes(report: BestOfReport) -> Iterator[str]:
    yield (
        f"Expectation over all sets of n; among equals any is picked; {_UNDECIDED[report.protocol]}. Questions with at "
        "least n completions, each alike; mixed: those of them where a pick matters."
    )
    yield "random picks any, oracle a correct one where there is one (pass@n); closed: the share of the way between."
    if report.several * 2 < report.questions:
        said = counted(report.several, "question")
        yield f"Most questions here have one completion: what a verifier picks of {said} says little of it."
    yield from what_marks_mean(report.selection_judges)
