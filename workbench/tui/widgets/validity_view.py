"""Findings of validity as rows of a table, and one of them in words."""

from __future__ import annotations

from textual.content import Content

from workbench.model.validity import CHECKS, COMPARING, Finding, ValidityReport
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import TableCell, TableColumn, TableRow

COLUMNS = (
    TableColumn("verifier", "verifier", min_width=12, ideal_width=28),
    TableColumn("check", "check", min_width=17, ideal_width=18),
    TableColumn("figure", "figure", min_width=9, ideal_width=10, align="right"),
    TableColumn("interval", "95 % interval", min_width=15, ideal_width=16, align="right"),
    TableColumn("n", "items", min_width=7, ideal_width=9, align="right"),
    TableColumn("mark", "", min_width=12, ideal_width=12),
)


def row(number: int, finding: Finding) -> TableRow:
    """A finding in a row; what it comes to is said in a word."""
    points = finding.check in COMPARING
    return TableRow(
        number,
        (
            TableCell(finding.verifier or "labels", "bold"),
            TableCell(finding.check),
            TableCell(_figure(finding.estimate, points)),
            TableCell(_interval(finding.ci, points)),
            TableCell(f"{finding.n:,}" if finding.n else "–"),
            _mark(finding),
        ),
    )


def _mark(finding: Finding) -> TableCell:
    compares = finding.check in COMPARING
    if finding.stands_out:
        return TableCell("◆ stands out" if compares else "◆ seen", "warning")
    if finding.estimate is None:
        return TableCell("· too few", "dim")
    return TableCell("· as chance" if compares else "· none seen", "dim")


def _figure(value: float | None, points: bool) -> str:
    if value is None:
        return "–"
    return f"{100 * value:+.1f} pts" if points else f"{100 * value:.1f} %"


def _interval(ends: tuple[float, float] | None, points: bool) -> str:
    if ends is None:
        return "–"
    low, high = (f"{100 * end:+.1f}" if points else f"{100 * end:.1f}" for end in ends)
    return f"[{low}, {high}]"


def caption(report: ValidityReport) -> str:
    """What the findings rest on."""
    sources = ", ".join(f"{number:,} {name}" for name, number in report.gold.items() if number)
    return (
        f"gold {report.gold_choice} ({sources or 'none'}) · differences in points of acceptance, of equal gold and type"
    )


def words(finding: Finding, report: ValidityReport) -> Content:
    """A finding's sentence, what was looked at, and what holds of all."""
    return Content.assemble(
        (printable(finding.sentence), "bold" if finding.stands_out else ""),
        (f"\n{finding.check}: {CHECKS[finding.check]}.", "$text-muted"),
        *((f"\n{note}", "$text-muted") for note in report.notes),
    )


def nothing(report: ValidityReport | None) -> str:
    """Why the table is empty."""
    if report is None or not report.findings:
        return "No verifier has a complete run yet: start one in Verifiers & runs."
    return "Nothing stands out. Press s for every check."
