"""Stacks as tables and as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Final

from msgspec import Struct

from workbench.core.options import TableForm
from workbench.core.text.figures import NONE, counted
from workbench.measuring.comparing_tables import told
from workbench.measuring.judged import counting
from workbench.measuring.records.stack import SimulatedStack, StageRow, Took
from workbench.statistics.records.report import AccuracyRow
from workbench.tables.document import Table
from workbench.tables.files import written
from workbench.tables.table import Columns, column, count, ends, figure, table, word

THOUSAND: Final = 1_000
STACK: Final = "the stack"
_WIDTH: Final = 79


class WorthRow(Struct, frozen=True):
    """A stack or a verifier: what its verdicts are worth, and what they take."""

    name: str
    figures: AccuracyRow
    took: Took


WORTH: Final[Columns[WorthRow]] = (
    word("", lambda row: row.name),
    count("n", lambda row: row.figures.n),
    figure("accuracy", lambda row: row.figures.accuracy),
    ends(lambda row: row.figures.ci),
    figure("FPR", lambda row: row.figures.fpr),
    figure("FNR", lambda row: row.figures.fnr),
    figure("MCC", lambda row: row.figures.mcc),
    column("calls", lambda row: row.took.calls, lambda value: _thousand(value)),
    column("tokens in", lambda row: row.took.prompt_tokens, lambda value: _thousand(value)),
    column("tokens", lambda row: row.took.tokens, lambda value: _thousand(value)),
    column("seconds", lambda row: row.took.seconds, lambda value: f"{value * THOUSAND:,.1f}"),
    column("$", lambda row: row.took.dollars, lambda value: dollars(value)),
)
TOOK_NOTE: Final = (
    "Calls, tokens, seconds and dollars are those of a thousand items, as if nothing had been stored before."
)


def _thousand(value: float | None) -> str:
    return NONE if value is None else f"{value * THOUSAND:,.0f}"


def dollars(value: float | None) -> str:
    """An item's dollars as those of a thousand."""
    return NONE if value is None else f"{value * THOUSAND:,.3f}"


def stages_table(rows: Sequence[StageRow]) -> Table:
    """What each stage settled, and how often wrongly."""
    shown: Columns[StageRow] = (
        word("stage", lambda row: f"{row.stage} {row.settles}" if row.group is None else ""),
        word("type", lambda row: row.group or "all"),
        count("reached", lambda row: row.reached),
        count("accepted", lambda row: row.accepted),
        count("wrongly", lambda row: row.accepted_wrong),
        figure("FPR", lambda row: row.fpr, worst="high"),
        ends(lambda row: row.fpr_ci),
        count("refused", lambda row: row.refused),
        count("wrongly", lambda row: row.refused_right, key="refused wrongly"),
        figure("FNR", lambda row: row.fnr, worst="high"),
        ends(lambda row: row.fnr_ci),
        count("left", lambda row: row.left),
    )
    notes = ["FPR: of the wrong completions that reached a stage, those that it settled as correct. FNR: the reverse."]
    return table("What each stage settled", shown, rows, notes=notes)


def simulated_tables(report: SimulatedStack) -> tuple[Table, Table]:
    """The stack beside its verifiers, and its stages."""
    rows = [WorthRow("stack", report.figures, report.took)]
    rows += [WorthRow(one.figures.verifier, one.figures, one.took) for one in report.alone]
    fewer = [f"{row.name} {row.figures.n:,}" for row in rows if row.figures.n < report.figures.n]
    notes = [TOOK_NOTE, *([f"Not all count the same items: n of {', '.join(fewer)}."] if fewer else [])]
    caption = f"{report.stages}: {counting(report.protocol, report.gold_choice, report.gold)}"
    return table(caption, WORTH, rows, notes=notes), stages_table(report.rows)


def simulated_text(report: SimulatedStack, form: TableForm) -> str:
    """All of it, in the form that is wanted."""
    tables = written(simulated_tables(report), form)
    if form.format != "text":
        return tables
    words = [fill(told(one.against, STACK, one.figures.verifier), _WIDTH) for one in report.alone if one.against]
    if report.lacking:
        lacks = f"{counted(report.lacking, 'item')} with gold that a stage has not judged can't be simulated."
        words.append(fill(lacks, _WIDTH))
    return "\n".join([tables, *words]) + "\n"
