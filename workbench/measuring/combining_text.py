"""Ensembles as tables and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Final

from workbench.core.breakdown import group_name
from workbench.core.text.columns import p_value, signed, signed_interval
from workbench.core.text.figures import NONE, counted, percent
from workbench.core.text.inert import inert
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.measuring.comparing_tables import told
from workbench.measuring.counting import counting
from workbench.measuring.judged import nothing_measured
from workbench.statistics.records.comparison import PairedFigures
from workbench.statistics.records.ensemble import ENSEMBLES, EnsembleReport, EnsembleRow, MemberRow
from workbench.tables.document import Table
from workbench.tables.table import Columns, column, count, ends, figure, table, text, word
from workbench.tables.table_text import plain_table

BEST: Final = "the best single verifier"
"""What ensembles are compared with, in words."""

_WIDTH = 79


def ensemble_text(report: EnsembleReport) -> str:
    """The whole report for a terminal."""
    headline = report.rows[headline_row(report)]
    blocks = [ensemble_head(report), *(plain_table(table).rstrip("\n") for table in ensemble_tables(report))]
    if headline.against is not None:
        blocks.append(fill(told(headline.against, headline.rule, BEST), _WIDTH))
    return "\n\n".join(blocks) + "\n"


def ensemble_tables(report: EnsembleReport) -> tuple[Table, Table]:
    """Every rule with its figures, and what the members are worth to one of them."""
    return rules_table(report), members_table(report)


_FITTED = {"best_single": "best single", "chosen_k": "best k", "weighted": "weights"}
"""Rules that are fitted, as a note names those that are in the table."""


def rules_table(report: EnsembleReport) -> Table:
    """Members, floor, best single verifier and ensembles; each ensemble against the best single one."""
    chose = report.selection_judges
    columns: Columns[EnsembleRow] = (
        word("rule", lambda one: with_mark(one.rule, chose) if one.kind == "member" else one.rule),
        word("group", lambda one: group_name(one.group, report.by), there=report.by is not None),
        count("n", lambda one: one.n),
        figure("accuracy", lambda one: one.accuracy),
        ends(lambda one: one.ci),
        figure("bal.acc", lambda one: one.balanced_accuracy),
        figure("MCC", lambda one: one.mcc),
        figure("FPR", lambda one: one.fpr),
        figure("FNR", lambda one: one.fnr),
        text("it adds", lambda one: _of_ensemble(one, _difference(one.against))),
        text("95 % interval", lambda one: _of_ensemble(one, _ends(one.against))),
        text("p", lambda one: _of_ensemble(one, _p(one.against))),
        text("q", lambda one: _of_ensemble(one, p_value(one.q))),
    )
    notes = (*_fitted(report), *nothing_measured(report.failed), *what_marks_mean(chose))
    return table("Ensembles, and what each adds to the best single verifier", columns, report.rows, notes=notes)


def _of_ensemble(one: EnsembleRow, shown: str) -> str:
    """What is said of ensembles only."""
    return shown if one.kind in ENSEMBLES else ""


def _difference(against: PairedFigures | None) -> str:
    return NONE if against is None else signed(against.difference)


def _ends(against: PairedFigures | None) -> str:
    return NONE if against is None else signed_interval(against.ci)


def _p(against: PairedFigures | None) -> str:
    return NONE if against is None else p_value(against.permutation_p)


def _fitted(report: EnsembleReport) -> Iterator[str]:
    """What was fitted, how, and what came of it."""
    best = Counter(fold.best_single for fold in report.folds)
    yield f"Best single in {len(report.folds)} folds: {_often(best)}."
    kinds = {one.kind for one in report.rows}
    if "chosen_k" in kinds:
        yield f"Best k in {len(report.folds)} folds: {_often(f'k = {fold.k}:' for fold in report.folds)}."
    fitted = [name for kind, name in _FITTED.items() if kind in kinds]
    several = len(fitted) > 1
    words = f"{', '.join(fitted[:-1])} and {fitted[-1]} are" if several else f"{fitted[0]} is"
    yield (
        f"{words.capitalize()} fitted outside each fold of questions (seed {report.seed}) and judged inside; p by "
        "permutation of questions; q after Benjamini and Hochberg over this table."
    )


def members_table(report: EnsembleReport) -> Table:
    """What the headline ensemble loses without each of its members, and their weights."""
    weighted = report.intercept is not None
    columns: Columns[MemberRow] = (
        word("member", lambda one: one.verifier),
        text("votes on", lambda one: f"{percent(one.voted)} %"),
        figure("without it", lambda one: one.without),
        column("it adds", lambda one: one.help, _difference),
        column("95 % interval", lambda one: one.help, _ends),
        column("p", lambda one: one.help, _p),
        column("accepts", lambda one: one.accepts, _weight, there=weighted),
        column("refuses", lambda one: one.refuses, _weight, there=weighted),
    )
    note = f"accepts, refuses: log-odds, fitted on all items; {report.intercept or 0.0:+.2f} where nobody votes."
    caption = f"{report.headline}, and the same of the others without one member"
    return table(caption, columns, report.members, notes=(note,) if weighted else ())


def _weight(weight: float | None) -> str:
    return NONE if weight is None else f"{weight:+.2f}"


def _often(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {often}×" for name, often in Counter(names).most_common())


def headline_row(report: EnsembleReport) -> int:
    """Where the headline's figures of all items stand among the rows."""
    return next(place for place, one in enumerate(report.rows) if one.rule == report.headline and one.kind in ENSEMBLES)


def ensemble_head(report: EnsembleReport) -> str:
    """Who votes, counted how, on what: three lines."""
    left_out = f"; {report.unjudged:,} without a verdict of each member are left out" if report.unjudged else ""
    return (
        f"{inert(', '.join(member.verifier for member in report.members))}\n"
        f"{counting(report.protocol, report.gold_choice, report.gold)}\n"
        f"{counted(report.items, 'item')} in {counted(report.questions, 'question')}{left_out}"
    )
