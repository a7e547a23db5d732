"""Validity: what each verifier's verdicts follow besides correctness, a sentence at a time."""

from __future__ import annotations

from typing import ClassVar, get_args

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.model.validity import Finding, ValidityReport
from workbench.model.verdict import GoldChoice
from workbench.services.measuring.table_files import write_beside
from workbench.services.measuring.validity import validity
from workbench.services.measuring.validity_text import validity_text
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.switches import following
from workbench.tui.widgets import validity_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.memory_source import MemorySource, show_rows
from workbench.tui.widgets.table_messages import RowHighlighted
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable


class ValidityScreen(WorkbenchScreen):
    """The findings as a table, and what the chosen one means in words below it.

    Args:
        verifiers: Only these; all that have a complete run by default.
    """

    CSS_PATH = "validity.tcss"
    TITLE_TEXT = "Validity"
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
        self._source: MemorySource | None = None

    def compose(self) -> ComposeResult:
        """The frame; findings come later."""
        yield TitleBar("Validity", "reading …")
        yield Static("", id="validity-caption", markup=False)
        yield VirtualTable(id="validity-findings")
        with VerticalScroll(id="validity-words"):
            yield Static("", id="validity-sentence", markup=False)
        yield Footer()

    def on_mount(self) -> None:
        """Read."""
        self.query_one(VirtualTable).focus()
        self._ask()

    def _ask(self) -> None:
        gold = self.gold
        self.query_one(TitleBar).say("reading …")
        self.in_background(
            lambda: validity(self.project, self.verifiers, gold=gold), self._show, group="validity", stops=True
        )

    def _show(self, report: ValidityReport) -> None:
        self.report = report
        self.query_one(TitleBar).say(printable(self.project.path.name))
        self.query_one("#validity-caption", Static).update(view.caption(report))
        self._list()

    def _list(self) -> None:
        rows = [view.row(number, finding) for number, finding in self._shown()]
        self._source = show_rows(self.query_one(VirtualTable), self._source, view.COLUMNS, rows)
        if not rows:
            self.query_one("#validity-sentence", Static).update(view.nothing(self.report))

    def _shown(self) -> list[tuple[int, Finding]]:
        findings = [] if self.report is None else self.report.findings
        return [
            (number, finding)
            for number, finding in enumerate(findings)
            if finding.stands_out or not self.only_standing_out
        ]

    @on(RowHighlighted)
    def _row_highlighted(self, event: RowHighlighted) -> None:
        if self.report is not None and event.row_id < len(self.report.findings):
            finding = self.report.findings[event.row_id]
            self.query_one("#validity-sentence", Static).update(view.words(finding, self.report))

    # -- actions -----------------------------------------------------------------------------------

    def action_show_all(self) -> None:
        """Every check, or only what stands out."""
        self.only_standing_out = not self.only_standing_out
        self._list()

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
