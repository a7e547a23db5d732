"""Validity: what each verifier's verdicts depend on besides correctness, one sentence per finding."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual import on
from textual.content import Content

from workbench.app.tui.figure_screen import FigureQuery, FigureScreen
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.table_messages import ExportRequested
from workbench.app.tui.sharing import share_list
from workbench.app.tui.table_screen import TableScreen
from workbench.core.text.figures import NONE, percent, percent_interval, points, points_interval
from workbench.measuring.validity import CHECKS, COMPARING, ValidityFinding, ValidityReport, validity, validity_text
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, text, word


class ValidityScreen(TableScreen, FigureScreen):
    """The findings as a table, and below it the meaning of the finding under the cursor.

    Args:
        verifiers: Names of the verifiers to check; empty for all that have a complete run.
    """

    CSS_PATH = "validity.tcss"
    TITLE_TEXT = "Validity"
    PREFIX, ABOVE, DETAIL, PANE, PALETTE = "validity", ("caption",), True, True, True
    asked: FigureQuery
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("validity.all", "h", "show_all", "All/significant", "Show every check, or only significant ones."),
        Action("validity.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
    )

    def __init__(self, verifiers: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.verifiers = verifiers
        self.asked = FigureQuery()
        self.only_standing_out = False
        self.report: ValidityReport | None = None

    def on_mount(self) -> None:
        self.change()

    def read(self) -> ValidityReport:
        return validity(self.project, self.verifiers, gold=self.asked.gold)

    def show(self, report: ValidityReport) -> None:
        self.report = report
        self.say(printable(self.project.path.name))
        self.put("caption", _caption_text(report))
        self.fill()

    def fill(self) -> None:
        findings = self._shown_findings()
        self.table.show_records(_COLUMNS, findings)
        if not findings:
            self.put_detail(_no_findings_text(self.report))

    def _shown_findings(self) -> list[tuple[int, ValidityFinding]]:
        findings = [] if self.report is None else self.report.findings
        return [
            (number, finding)
            for number, finding in enumerate(findings)
            if finding.stands_out or not self.only_standing_out
        ]

    def highlighted(self, row: int) -> None:
        if self.report is not None and row < len(self.report.findings):
            finding = self.report.findings[row]
            self.put_detail(_finding_text(finding, self.report))

    # -- actions -----------------------------------------------------------------------------------

    def action_show_all(self) -> None:
        self.only_standing_out = not self.only_standing_out
        self.fill()

    @on(ExportRequested)
    def _export_with_sentences(self, event: ExportRequested) -> None:
        event.prevent_default()
        report = self.report
        share_list(self, event, None if report is None else partial(validity_text, report))


def _result_cell(finding: ValidityFinding) -> Cell:
    compares = finding.check in COMPARING
    if finding.stands_out:
        return Cell("◆ significant" if compares else "◆ seen", "warning")
    if finding.estimate is None:
        return Cell("· too few", "dim")
    return Cell("· not significant" if compares else "· none observed", "dim")


def _estimate_text(finding: ValidityFinding) -> str:
    if finding.estimate is None or finding.check not in COMPARING:
        return NONE if finding.estimate is None else f"{percent(finding.estimate)} %"
    return f"{points(finding.estimate)} pts"


def _interval_text(finding: ValidityFinding) -> str:
    return points_interval(finding.ci) if finding.check in COMPARING else percent_interval(finding.ci)


_COLUMNS: Columns[ValidityFinding] = (
    word("verifier", lambda finding: finding.verifier or "labels", room=(12, 28), tone="bold"),
    word("check", lambda finding: finding.check, room=(17, 18)),
    text("figure", _estimate_text, by=lambda finding: finding.estimate, room=(9, 10)),
    text("95 % interval", _interval_text, by=lambda finding: finding.ci, room=(15, 16)),
    column("items", lambda finding: finding.n or None, lambda n: NONE if n is None else f"{n:,}", room=(7, 9)),
    column("", lambda finding: finding, _result_cell, words=True, room=12),
)


def _caption_text(report: ValidityReport) -> str:
    sources = ", ".join(f"{number:,} {name}" for name, number in report.gold.items() if number)
    return (
        f"gold {report.gold_choice} ({sources or 'none'}) · differences in points of acceptance, at equal gold and type"
    )


def _finding_text(finding: ValidityFinding, report: ValidityReport) -> Content:
    return Content.assemble(
        (printable(finding.sentence), "bold" if finding.stands_out else ""),
        (f"\n{finding.check}: {CHECKS[finding.check]}.", "$text-muted"),
        *((f"\n{note}", "$text-muted") for note in report.notes),
    )


def _no_findings_text(report: ValidityReport | None) -> str:
    if report is None or not report.findings:
        return "No verifier has a complete run yet: start one in Verifiers & runs."
    return f"Nothing is significant. Press {key_of('validity.all')} for every check."
