"""Fitting the threshold that turns scores into verdicts, on a named part of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.run import RunInfo
from workbench.core.selection import Condition, Selection
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.core.text.marks import what_marks_mean, with_mark
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.measuring import selected_by
from workbench.measuring.columns import columns as every_column
from workbench.measuring.scores import ItemScores, scored
from workbench.runs import verifying
from workbench.runs.choosing import choose, make
from workbench.runs.store import runs as stored_runs
from workbench.runs.trust import require_trust
from workbench.statistics.records.report import AccuracyRow
from workbench.statistics.records.reward import Method, ThresholdReport
from workbench.tables.table import Columns, count, ends, figure, listed, word

if TYPE_CHECKING:
    from workbench.statistics.arrays import BoolArray


def fit(
    project: Project,
    verifier: str,
    *,
    on: tuple[Condition, ...] = (),
    method: Method = "accuracy",
    protocol: Protocol3 = "forced",
    gold: GoldChoice = "final",
    selection: Selection | None = None,
) -> ThresholdReport:
    """Fit a threshold on one part of a selection's rows and report on both parts.

    Args:
        on: What holds for the rows to fit on; all rows if empty.
        selection: The rows to fit and to report on together.

    Raises:
        UsageError: There are no scores, or the rows to fit on lack correct or incorrect completions.
    """
    import numpy as np

    from workbench.statistics.threshold import fit_threshold

    selection = selection or Selection()
    columns = scored(project, verifier, selection, gold)
    split = Selection((*selection.conditions, *on))
    everything = every_column(project)
    chosen = everything.chosen(split)
    inside = np.isin(columns.item, everything.item if chosen is None else everything.item[chosen])
    usable = inside & (columns.gold >= 0) & np.isfinite(columns.score)
    correct = columns.gold[usable] == 1
    if correct.all() or not correct.any():
        raise UsageError(
            f"No threshold can be fitted on {split}: it has {int(correct.sum())} correct and "
            f"{int((~correct).sum())} incorrect completions with a score and gold.",
            "Both are needed.",
        )
    threshold = fit_threshold(columns.score[usable], correct, method)
    counted = (columns.gold >= 0) & (columns.outcome >= 0)
    has_rest = bool((counted & ~inside).any())
    on_questions, other_questions = (set(columns.question[counted & side].tolist()) for side in (inside, ~inside))
    return ThresholdReport(
        verifier=verifier,
        run=columns.run,
        method=method,
        on=str(split),
        threshold=threshold,
        fitted=_row("fitted", columns, inside, threshold, protocol),
        rest=_row("rest", columns, ~inside, threshold, protocol) if has_rest else None,
        in_sample=not has_rest,
        shared_questions=len(on_questions & other_questions),
        unscored=int((counted & np.isnan(columns.score)).sum()),
        protocol=protocol,
        gold_choice=gold,
        selection_judges=selected_by.among(project, (verifier,), selection, everything),
    )


def save(project: Project, report: ThresholdReport, name: str, *, trust: bool = False) -> RunInfo:
    """Give a fitted threshold to a new verifier and start its run on the items that have scores already.

    Its requests are those of the verifier the scores came from, so that stored replies answer them all.

    Args:
        trust: Whether the user accepts the servers that the database names.

    Raises:
        UsageError: The verifier takes no threshold, or the name is bound to another configuration.
        NotTrustedError: The user has not accepted its servers.
        RunError: No runner starts.
    """
    run = stored_runs.get(project.database.reader(), report.run)
    assert run is not None
    kind, options = run.verifier.kind, {**run.verifier.options, "threshold": repr(report.threshold)}
    # The options are the database's: to start a kind with them is no word of the user's.
    require_trust(project, make(choose(project, kind, options, name)), options, accept=trust)
    return verifying.start(project, kind, options, name, run.selection, run.workers)


def _row(part: str, columns: ItemScores, chosen: BoolArray, threshold: float, protocol: Protocol3) -> AccuracyRow:
    """The accuracy table's figures of some rows, with the verdicts that the threshold makes of their scores."""
    import numpy as np

    from workbench.statistics.accuracy import AccuracyColumns, accuracy_rows

    score = columns.score[chosen]
    outcome = np.where(np.isnan(score), columns.outcome[chosen], score >= threshold).astype(np.int8)
    kept = AccuracyColumns(outcome=outcome, gold=columns.gold[chosen], question=columns.question[chosen], score=score)
    (row,) = accuracy_rows(columns.verifier, kept, protocol)
    return structs.replace(row, group=part)


_FIGURES: Columns[AccuracyRow] = (
    word("rows", lambda row: row.group or ""),
    count("n", lambda row: row.n),
    figure("accuracy", lambda row: row.accuracy),
    ends(lambda row: row.ci),
    figure("AUROC", lambda row: row.auroc),
    figure("FPR", lambda row: row.fpr),
    figure("FNR", lambda row: row.fnr),
)


def threshold_text(report: ThresholdReport) -> str:
    """The threshold, and its figures on both parts of the rows."""
    table = listed(_FIGURES, [row for row in (report.fitted, report.rest) if row is not None])
    notes = []
    if report.in_sample:
        notes.append("These are the rows it was fitted on, which flatters it: fit on a part with --on.")
    if report.shared_questions:
        notes.append(f"{counted(report.shared_questions, 'question')} have rows in both parts.")
    if report.unscored:
        notes.append(f"{counted(report.unscored, 'row')} without a score, undecided.")
    notes += map(inert, what_marks_mean(report.selection_judges))
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}: "
        f"correct if the score is at least {report.threshold!r}\n"
        f"fitted for {report.method} on {inert(report.on)}\n"
        f"protocol {report.protocol}, gold {report.gold_choice}\n\n{table}\n" + "".join(f"{note}\n" for note in notes)
    )
