"""Renders stacks as tables and as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from workbench.core.options import TableForm
from workbench.core.text.figures import NONE, counted
from workbench.core.text.inert import inert
from workbench.measuring.accuracy_tables import metric_columns
from workbench.measuring.comparing_tables import describe_difference
from workbench.measuring.costs import THOUSAND
from workbench.measuring.judged import counting
from workbench.measuring.records.stack import Price, SimulatedStack, StackChoice, StackReport, StageRow, Took
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Table
from workbench.tables.files import format_tables
from workbench.tables.table import Columns, column, count, counts, ends, metric_column, table, with_interval, word

if TYPE_CHECKING:
    from workbench.tables.pictures import Curves

STACK: Final = "the stack"
_WIDTH: Final = 79


class WorthRow(Struct, frozen=True):
    name: str
    figures: AccuracyRow
    took: Took


WORTH: Final[Columns[WorthRow]] = (
    word("", lambda row: row.name),
    count("n", lambda row: row.figures.n),
    *metric_columns("accuracy", of="figures"),
    ends(lambda row: row.figures.ci),
    *metric_columns("fpr", "fnr", "mcc", of="figures"),
    column("calls", lambda row: row.took.calls, lambda value: _per_thousand_text(value)),
    column("tokens in", lambda row: row.took.prompt_tokens, lambda value: _per_thousand_text(value)),
    column("tokens", lambda row: row.took.tokens, lambda value: _per_thousand_text(value)),
    column("seconds", lambda row: row.took.seconds, lambda value: f"{value * THOUSAND:,.1f}"),
    column("$", lambda row: row.took.dollars, lambda value: dollars(value)),
)
TOOK_NOTE: Final = "Calls, tokens, seconds and dollars are per 1,000 items, as if no reply had been stored before."


def _per_thousand_text(value: float | None) -> str:
    return NONE if value is None else f"{value * THOUSAND:,.0f}"


def dollars(value: float | None) -> str:
    return NONE if value is None else f"{value * THOUSAND:,.3f}"


def stages_table(rows: Sequence[StageRow]) -> Table:
    shown: Columns[StageRow] = (
        word("stage", lambda row: f"{row.stage} {row.settles}" if row.group is None else ""),
        word("type", lambda row: row.group or "all"),
        *counts("reached", "accepted"),
        count("wrongly", lambda row: row.accepted_wrong),
        *with_interval("FPR", "fpr", worst="high"),
        count("refused", lambda row: row.refused),
        count("wrongly", lambda row: row.refused_right, key="refused wrongly"),
        *with_interval("FNR", "fnr", worst="high"),
        count("left", lambda row: row.left),
    )
    notes = ["FPR: of the wrong completions that reached a stage, those that it accepted. FNR: the reverse."]
    return table("Decisions of each stage", shown, rows, notes=notes)


def simulated_tables(report: SimulatedStack) -> tuple[Table, Table]:
    rows = [WorthRow("stack", report.figures, report.took)]
    rows += [WorthRow(one.figures.verifier, one.figures, one.took) for one in report.alone]
    fewer = [f"{row.name} {row.figures.n:,}" for row in rows if row.figures.n < report.figures.n]
    notes = [TOOK_NOTE, *([f"Not all count the same items: n of {', '.join(fewer)}."] if fewer else [])]
    caption = f"{report.stages}: {counting(report.protocol, report.gold_choice, report.gold)}"
    return table(caption, WORTH, rows, notes=notes), stages_table(report.rows)


def simulated_text(report: SimulatedStack, form: TableForm) -> str:
    tables = format_tables(simulated_tables(report), form)
    if form.format != "text":
        return tables
    words = [
        fill(describe_difference(one.against, STACK, one.figures.verifier), _WIDTH)
        for one in report.alone
        if one.against
    ]
    if report.lacking:
        lacks = f"{counted(report.lacking, 'item')} with gold that a stage has not judged can't be simulated."
        words.append(fill(lacks, _WIDTH))
    return "\n".join([tables, *words]) + "\n"


# -- The best stacks.


_WANTED: Final = {
    "best": "most accurate",
    "under": "most accurate under {cap}",
    "not_worse": "cheapest not worse than {reference}",
    "front": "{cap}",
}
_UNITS: Final[dict[Price, str]] = {"dollars": "$", "tokens": "tokens", "seconds": "s", "calls": "calls"}


def best_tables(report: StackReport) -> tuple[Table, Table, Table]:
    rows = [WorthRow(_criterion_text(one, report), one.figures, one.took) for one in report.choices]
    rows += [WorthRow(one.figures.verifier, one.figures, one.took) for one in report.alone]
    caption = f"Stacks of {', '.join(report.verifiers)}: {counting(report.protocol, report.gold_choice, report.gold)}"
    notes = [
        f"{counted(report.candidates, 'stack')} were evaluated on {counted(report.items, 'item')} of "
        f"{counted(report.questions, 'question')}. Each is chosen on {report.folds - 1} of {report.folds} parts of the "
        "questions and judged on the rest, in turn.",
        TOOK_NOTE,
    ]
    return table(caption, WORTH, rows, notes=notes), front_table(report), stages_table(report.stages)


def _criterion_text(one: StackChoice, report: StackReport) -> str:
    return _WANTED[one.wanted].format(cap=_cap_text(one, report.against), reference=report.reference)


def _cap_text(one: StackChoice, price: Price) -> str:
    if one.cap is None:
        return "any"
    value = one.cap * THOUSAND
    return f"${value:,.3g}" if price == "dollars" else f"{value:,.3g} {_UNITS[price]}"


def front_table(report: StackReport) -> Table:
    shown: Columns[StackChoice] = (
        word("at most", lambda one: _cap_text(one, report.against)),
        *metric_columns("accuracy", of="figures"),
        ends(lambda one: one.figures.ci),
        *metric_columns("fpr", "fnr", "mcc", of="figures"),
        column(_UNITS[report.against], lambda one: getattr(one.took, report.against), dollars),
        metric_column("as chosen", lambda one: one.apparent),
        count("same", lambda one: one.same),
        word("stack", lambda one: one.stages),
    )
    notes = [
        f"At most and {_UNITS[report.against]}: of a thousand items. As chosen: on the questions it was chosen by, "
        f"which flatters it. Same: of {report.folds} choices without a part of the questions, those that give this "
        "stack."
    ]
    return table("Accuracy by cost limit", shown, report.front, notes=notes)


def best_text(report: StackReport, form: TableForm) -> str:
    tables = format_tables(best_tables(report), form)
    if form.format != "text":
        return tables
    words = [fill(one, _WIDTH, subsequent_indent="  ") for one in stack_sentences(report)]
    return "\n".join([tables, *words]) + "\n"


def stack_sentences(report: StackReport) -> list[str]:
    said = [_held_out_text(one, report) for one in report.choices]
    if report.unjudged:
        said.append(f"{counted(report.unjudged, 'item')} with gold lack a verdict of a verifier, and are left out.")
    said += [
        f"{inert(name)} failed on all {counted(number, 'item')}: it is in no stack."
        for name, number in report.failed.items()
    ]
    return said


def _held_out_text(one: StackChoice, report: StackReport) -> str:
    head = f"{_criterion_text(one, report)[:1].upper()}{_criterion_text(one, report)[1:]}: {one.stages}."
    if one.wanted == "not_worse" and one.not_worse and one.against_reference is None:
        return f"{head} It is {inert(report.reference or '')} itself."
    if one.wanted != "not_worse" or one.against_reference is None:
        return (
            f"{head} {describe_difference(one.against_best, 'It', 'the best single verifier')}"
            if one.against_best
            else head
        )
    ends_ = one.against_reference.ci
    points = f"{100 * report.margin:g} point{'' if report.margin == 0.01 else 's'}"
    between = f"{100 * ends_[0]:+.1f} to {100 * ends_[1]:+.1f} points at 95 %"
    verdict = "is not worse" if one.not_worse else "may be worse"
    worse = f"it {verdict} than {inert(report.reference or '')} by more than {points}"
    return f"{head} On questions it was not chosen on {worse}: {between}."


def front_plots(report: StackReport) -> Iterator[tuple[str, Curves]]:
    from workbench.tables.pictures import Curve, Curves

    def at(took: Took, accuracy: float | None) -> tuple[tuple[float, float], ...]:
        value = getattr(took, report.against)
        return () if value is None or accuracy is None else ((value * THOUSAND, accuracy),)

    fitted = tuple(sorted(point for one in report.front for point in at(one.took, one.figures.accuracy)))
    chosen = tuple(sorted(point for one in report.front for point in at(one.apparent_took, one.apparent)))
    alone = [Curve(label=one.figures.verifier, points=at(one.took, one.figures.accuracy)) for one in report.alone]
    yield (
        "stacks",
        Curves(
            caption="The most accurate stacks by cost limit, and each verifier alone.",
            x_label=f"{_UNITS[report.against]} per 1,000 items",
            y_label="accuracy",
            lines=(
                Curve(label="stacks, unseen questions", points=fitted),
                Curve(label="as chosen", points=chosen),
                *alone,
            ),
        ),
    )
