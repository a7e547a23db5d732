"""Pairwise accuracy, where questions come with one correct and one incorrect completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.taxonomy import type_display
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.core.verdict import GoldChoice
from workbench.measuring import selected_by
from workbench.measuring.columns import columns as every_column
from workbench.measuring.scores import ItemScores, scored
from workbench.statistics.records.reward import PairReport, PairRow, Unpaired
from workbench.tables.table import Columns, count, ends, figure, listed, word

if TYPE_CHECKING:
    from workbench.statistics.pairs import Pairs

GROUPS = ("type", "subtype", "domain", "source", "dataset")
"""What pairs can be grouped by: what both completions of a question share."""


def pairs(
    project: Project,
    verifier: str,
    *,
    by: str | None = None,
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> PairReport:
    """How often a verifier scores a question's correct completion above its incorrect one.

    Args:
        by: One of `GROUPS`, or None for the row over all pairs only.

    Raises:
        UsageError: There are no scores, or the data is not paired: fewer than half of the questions with gold have
            exactly one correct and one incorrect completion. What few pairs there are by chance are no sample of it.
    """
    from workbench.statistics.pairs import pair_row, pair_up

    if by is not None and by not in GROUPS:
        raise UsageError(f"Pairs can't be broken down by {by!r}.", f"Use one of: {', '.join(GROUPS)}.")
    columns = scored(project, verifier, selection or Selection(), gold, by)
    found = pair_up(columns.score, columns.gold, columns.question)
    paired, questions = len(found.row), len(found.row) + sum(structs.astuple(found.unpaired))
    if not paired or (paired + found.unpaired.unscored) * 2 < questions:
        raise UsageError(
            f"This data is not paired: {paired:,} of {questions:,} questions with gold have exactly one correct and "
            f"one incorrect completion with scores ({unpaired_in_words(found.unpaired)}).",
            "Choose paired data with --where, or use accuracy and AUROC: workbench accuracy DB",
        )
    return PairReport(
        verifier=verifier,
        run=columns.run,
        gold_choice=gold,
        by=by,
        questions=questions,
        paired=paired,
        unpaired=found.unpaired,
        rows=[pair_row(None, found), *_rows(columns, found)],
        selection_judges=selected_by.among(project, (verifier,), selection, every_column(project)),
    )


def unpaired_in_words(unpaired: Unpaired) -> str:
    """Why questions make no pair, with their numbers."""
    return (
        f"{unpaired.one_class:,} with completions of one kind only, {unpaired.several:,} with more than one correct or "
        f"incorrect, {unpaired.unscored:,} without both scores"
    )


def _rows(columns: ItemScores, found: Pairs) -> list[PairRow]:
    """A row a group; none without a grouping."""
    import numpy as np

    from workbench.statistics.accuracy import group_order
    from workbench.statistics.pairs import pair_row

    if columns.group is None:
        return []
    group = columns.group[found.row]
    rows = []
    for place in np.unique(group).tolist():
        chosen = group == place
        parts = {name: getattr(found, name)[chosen] for name in ("row", "correct", "incorrect")}
        rows.append(pair_row(columns.names[place], structs.replace(found, **parts)))
    return sorted(rows, key=lambda row: group_order(row.group or ""))


def pairs_text(report: PairReport) -> str:
    """Pairwise accuracy by group."""
    columns: Columns[PairRow] = (
        word("group", lambda row: _group(row, report.by)),
        count("pairs", lambda row: row.n),
        figure("accuracy", lambda row: row.accuracy),
        ends(lambda row: row.ci),
        count("ties", lambda row: row.ties),
    )
    table = listed(columns, report.rows)
    left_out = "" if report.paired == report.questions else f"  left out: {unpaired_in_words(report.unpaired)}\n"
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}, gold {report.gold_choice}: "
        f"{report.paired:,} of {counted(report.questions, 'question')} paired\n{left_out}\n{table}\n"
        + "".join(f"{inert(note)}\n" for note in what_marks_mean(report.selection_judges))
    )


def _group(row: PairRow, by: str | None) -> str:
    if row.group is None:
        return "all"
    return type_display(row.group) if by in ("type", "subtype") else row.group
