"""What a set would be, before it is frozen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Protocol

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.model.sets import SetReport
from workbench.tui.actions import Action
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.widgets import set_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.title_bar import TitleBar

_WAITING = "Nothing was frozen: items still wait for labels, see above."


class Freeze(Protocol):
    """Freezes what is planned; called in a thread."""

    def __call__(self, *, new_version: bool) -> SetReport:
        """Raises `UsageError` where a set of that name differs and no new version is asked for."""


class SetPlanScreen(WorkbenchScreen):
    """The report of a dry run; enter freezes it.

    Args:
        report: What the set would be.
        freeze: Freezes it.
        then: Takes the report of the set that was frozen, when this screen has gone.
    """

    CSS_PATH = "set_plan.tcss"
    TITLE_TEXT = "Plan of a set"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-plan.freeze", "enter", "freeze(False)", "Freeze", "Freeze the set under its name."),
        Action("set-plan.version", "V", "freeze(True)", "As new version", "Freeze it beside one that differs."),
        Action("set-plan.back", "escape", "app.go_back", "Back", "Go back to the form; nothing is written."),
    )

    def __init__(self, report: SetReport, freeze: Freeze, then: Callable[[SetReport], None]) -> None:
        super().__init__()
        self.report = report
        self._freeze = freeze
        self._then = then

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar(self.TITLE_TEXT, "nothing has been written yet")
        with VerticalScroll(id="plan-text"):
            yield Static(view.plan(self.report), markup=False)
        yield Static(id="plan-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def action_freeze(self, new_version: bool) -> None:
        """Freeze what is shown."""
        self.say("freezing …")
        self.in_background(partial(self._freeze, new_version=new_version), self._frozen, group="freeze")

    def _frozen(self, report: SetReport) -> None:
        if report.version is None:
            self._complain(_WAITING)
            return
        self.app.pop_screen()
        self._then(report)

    def trouble(self, error: BaseException | None) -> None:
        """Why it was not frozen."""
        if isinstance(error, WorkbenchError):
            self._complain(str(error))
        else:
            super().trouble(error)

    def _complain(self, text: str) -> None:
        self.say("nothing has been written")
        trouble = self.query_one("#plan-trouble", Static)
        trouble.update(Content(f"! {printable(text)}"))
        trouble.display = True
