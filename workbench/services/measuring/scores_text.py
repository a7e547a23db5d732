"""Reports on scores and on suggested answer types, as text for a terminal."""

from __future__ import annotations

from workbench.model import reasons
from workbench.model.report import AccuracyRow
from workbench.model.reward import PairReport, PairRow, ThresholdReport
from workbench.model.suggestion import TypeReport
from workbench.model.taxonomy import type_display
from workbench.render.bars import counted
from workbench.render.columns import aligned, interval, number
from workbench.render.inert import inert
from workbench.render.marks import what_marks_mean, with_mark
from workbench.services.measuring.pairing import unpaired_in_words

_WORST_CELLS = 10


def threshold_text(report: ThresholdReport) -> str:
    """The threshold, and its figures on both parts of the rows."""
    head = ("rows", "n", "accuracy", "95 % interval", "AUROC", "FPR", "FNR")
    table = aligned([head, *(_accuracy_cells(row) for row in (report.fitted, report.rest) if row is not None)])
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


def pairs_text(report: PairReport) -> str:
    """Pairwise accuracy by group."""
    is_type = report.by in ("type", "subtype")
    table = aligned(
        [("group", "pairs", "accuracy", "95 % interval", "ties"), *(_pair_cells(row, is_type) for row in report.rows)]
    )
    left_out = "" if report.paired == report.questions else f"  left out: {unpaired_in_words(report.unpaired)}\n"
    return (
        f"{inert(with_mark(report.verifier, report.selection_judges))}, run {report.run}, gold {report.gold_choice}: "
        f"{report.paired:,} of {counted(report.questions, 'question')} paired\n{left_out}\n{table}\n"
        + "".join(f"{inert(note)}\n" for note in what_marks_mean(report.selection_judges))
    )


def types_text(report: TypeReport) -> str:
    """Agreement of suggested types with those in force, and where they differ most."""
    lines = [
        f"{inert(report.verifier)}, run {report.run}: {counted(report.questions, 'question')}, "
        f"{report.suggested:,} with a suggestion, {report.untyped:,} of these without a type in force"
    ]
    lines += [f"  no suggestion: {n:,} {inert(reasons.named(reason))}" for reason, n in sorted(report.none.items())]
    if report.accuracy is None or report.type_accuracy is None:
        return "\n".join([*lines, "No question has both a suggestion and a type in force."]) + "\n"
    lines.append(
        f"same subtype {report.accuracy:.3f} {interval(report.ci)} ({report.agree:,} of {report.compared:,}), "
        f"same type {report.type_accuracy:.3f}"
    )
    apart = sorted((cell for cell in report.confusion if cell.subtype != cell.suggested), key=lambda cell: -cell.n)
    if apart:
        shown = [(type_display(cell.subtype), type_display(cell.suggested), f"{cell.n:,}") for cell in apart]
        table = aligned([("in force", "suggested", "questions"), *shown[:_WORST_CELLS]], left=(0, 1))
        lines += ["", table]
    return "\n".join(lines) + "\n"


def _accuracy_cells(row: AccuracyRow) -> tuple[str, ...]:
    figures = (row.auroc, row.fpr, row.fnr)
    return (row.group or "", f"{row.n:,}", number(row.accuracy), interval(row.ci), *map(number, figures))


def _pair_cells(row: PairRow, is_type: bool) -> tuple[str, ...]:
    group = "all" if row.group is None else type_display(row.group) if is_type else row.group
    return (group, f"{row.n:,}", number(row.accuracy), interval(row.ci), f"{row.ties:,}")
