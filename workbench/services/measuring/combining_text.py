"""Ensembles as tables and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Final

from workbench.model.breakdown import group_name
from workbench.model.comparison import PairedFigures
from workbench.model.ensemble import ENSEMBLES, EnsembleReport, EnsembleRow, MemberRow
from workbench.render.bars import NONE, counted, percent
from workbench.render.columns import interval, number, p_value, signed, signed_interval
from workbench.render.inert import inert
from workbench.render.marks import what_marks_mean, with_mark
from workbench.reports.document import Row, Table, heads, row
from workbench.reports.table_text import plain_table
from workbench.services.measuring.comparing_tables import told
from workbench.services.measuring.counting import counting
from workbench.services.measuring.judged import nothing_measured

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
    group = () if report.by is None else ("group",)
    figures = ("n", "accuracy", "95 % interval", "bal.acc", "MCC", "FPR", "FNR")
    best = Counter(fold.best_single for fold in report.folds)
    notes = [f"Best single in {len(report.folds)} folds: {_often(best)}."]
    kinds = {one.kind for one in report.rows}
    if "chosen_k" in kinds:
        notes.append(f"Best k in {len(report.folds)} folds: {_often(f'k = {fold.k}:' for fold in report.folds)}.")
    fitted = [name for kind, name in _FITTED.items() if kind in kinds]
    several = len(fitted) > 1
    words = f"{', '.join(fitted[:-1])} and {fitted[-1]} are" if several else f"{fitted[0]} is"
    notes.append(
        f"{words.capitalize()} fitted outside each fold of questions (seed {report.seed}) and judged inside; p by "
        "permutation of questions; q after Benjamini and Hochberg over this table."
    )
    notes += [*nothing_measured(report.failed), *what_marks_mean(report.selection_judges)]
    return Table(
        caption="Ensembles, and what each adds to the best single verifier",
        head=(heads("rule", *group, *figures, "it adds", "95 % interval", "p", "q"),),
        left=1 + len(group),
        rows=tuple(_rule_row(one, report.by, report.selection_judges) for one in report.rows),
        notes=tuple(notes),
    )


def _rule_row(one: EnsembleRow, by: str | None, chose: Sequence[str]) -> Row:
    group = () if by is None else (group_name(one.group, by),)
    rates = (one.balanced_accuracy, one.mcc, one.fpr, one.fnr)
    figures = (f"{one.n:,}", number(one.accuracy), interval(one.ci), *map(number, rates))
    added = ("", "", "")
    if one.kind in ENSEMBLES:
        added = _added(one.against)
    q = "" if added[0] == "" else NONE if one.q is None else p_value(one.q)
    rule = with_mark(one.rule, chose) if one.kind == "member" else one.rule
    return row(rule, *group, *figures, *added, q)


def _added(against: PairedFigures | None) -> tuple[str, str, str]:
    if against is None:
        return NONE, NONE, NONE
    return signed(against.difference), signed_interval(against.ci), p_value(against.permutation_p)


def members_table(report: EnsembleReport) -> Table:
    """What the headline ensemble loses without each of its members, and their weights."""
    weights = () if report.intercept is None else ("accepts", "refuses")
    notes = []
    if report.intercept is not None:
        notes.append(f"accepts, refuses: log-odds, fitted on all items; {report.intercept:+.2f} where nobody votes.")
    return Table(
        caption=f"{report.headline}, and the same of the others without one member",
        head=(heads("member", "votes on", "without it", "it adds", "95 % interval", "p", *weights),),
        rows=tuple(_member_row(member, has_weights=bool(weights)) for member in report.members),
        notes=tuple(notes),
    )


def _member_row(member: MemberRow, *, has_weights: bool) -> Row:
    weights = tuple(NONE if weight is None else f"{weight:+.2f}" for weight in (member.accepts, member.refuses))
    figures = (f"{percent(member.voted)} %", number(member.without), *_added(member.help))
    return row(member.verifier, *figures, *(weights if has_weights else ()))


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
