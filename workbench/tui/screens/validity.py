"""Validity: what each verifier's verdicts follow besides correctness, a sentence at a time."""

from __future__ import annotations

from typing import ClassVar, get_args

from workbench.model.validity import Finding, ValidityReport
from workbench.model.verdict import GoldChoice
from workbench.services.measuring.table_files import write_beside
from workbench.services.measuring.validity import validity
from workbench.services.measuring.validity_words import validity_text
from workbench.tui.actions import Action
from workbench.tui.switches import following
from workbench.tui.table_screen import TableScreen
from workbench.tui.widgets import validity_view as view
from workbench.tui.widgets.cells import printable


class ValidityScreen(TableScreen):
    """The findings as a table, and what the chosen one means in words below it.

    Args:
        verifiers: Only these; all that have a complete run by default.
    """

    CSS_PATH = "validity.tcss"
    TITLE_TEXT = "Validity"
    PREFIX, ABOVE, DETAIL, PANE, PALETTE = "validity", ("caption",), True, True, True
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("validity.all", "s", "show_all", "All/standing out", "Show every check, or only what stands out."),
        Action("validity.gold", "g", "next_gold", "Gold", "Compare with another gold: final, people, imported."),
        Action("validity.save", "e", "save", "Save", "Write all sentences to a file beside the database."),
    )

    def __init__(self, verifiers: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.verifiers = verifiers
        self.gold: GoldChoice = "final"
        self.only_standing_out = False
        self.report: ValidityReport | None = None

    def on_mount(self) -> None:
        """Read."""
        self._ask()

    def _ask(self) -> None:
        gold = self.gold
        self.say("reading …")
        self.in_background(
            lambda: validity(self.project, self.verifiers, gold=gold), self._show, group="validity", stops=True
        )

    def _show(self, report: ValidityReport) -> None:
        self.report = report
        self.say(printable(self.project.path.name))
        self.put("caption", view.caption(report))
        self.fill()

    def fill(self) -> None:
        """List the findings."""
        rows = [view.row(number, finding) for number, finding in self._shown()]
        self.table.show_rows(view.COLUMNS, rows)
        if not rows:
            self.put_detail(view.nothing(self.report))

    def _shown(self) -> list[tuple[int, Finding]]:
        findings = [] if self.report is None else self.report.findings
        return [
            (number, finding)
            for number, finding in enumerate(findings)
            if finding.stands_out or not self.only_standing_out
        ]

    def highlighted(self, row: int) -> None:
        """Say what a finding means."""
        if self.report is not None and row < len(self.report.findings):
            finding = self.report.findings[row]
            self.put_detail(view.words(finding, self.report))

    # -- actions -----------------------------------------------------------------------------------

    def action_show_all(self) -> None:
        """Every check, or only what stands out."""
        self.only_standing_out = not self.only_standing_out
        self.fill()

    def action_next_gold(self) -> None:
        """Compare with the next gold."""
        self.gold = following(self.gold, get_args(GoldChoice))
        self._ask()

    def action_save(self) -> None:
        """Write the sentences beside the database."""
        if self.report is not None:
            text = validity_text(self.report)
            stem = f"{self.project.path.stem}-validity-{self.report.gold_choice}"
            self.in_background(
                lambda: write_beside(self.project.path, stem, ".txt", text),
                lambda path: self.notify(f"Written: {path}", markup=False),
                group="validity-save",
            )
