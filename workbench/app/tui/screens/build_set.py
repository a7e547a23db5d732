"""A form that builds a set: filled in, planned, frozen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar, Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from workbench.app.tui.actions import Action
from workbench.app.tui.form import FormScreen
from workbench.app.tui.kit import set_view as view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screen import WorkbenchScreen
from workbench.app.tui.set_forms import KINDS, BuildForm, FormField, build
from workbench.core.errors import WorkbenchError
from workbench.core.sets import SetReport

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


class BuildSetScreen(FormScreen):
    """One field an option; nothing is written before its plan has been seen.

    Args:
        form: What is asked.
        then: Takes the report of the set that was frozen.
    """

    CSS_PATH = "build_set.tcss"
    TITLE_TEXT = "Build a set"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("build-set.plan", "f3,ctrl+t", "plan", "Plan (enter)", "Show what the set would be.", priority=True),
        Action("build-set.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: the one before)."),
    )

    def __init__(self, form: BuildForm, then: Callable[[SetReport], None]) -> None:
        super().__init__()
        self.form = form
        self._then = then

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar(f"Build: {self.form.kind}", KINDS[self.form.kind])
        with VerticalScroll(id="build-form", can_focus=False):
            yield from map(_line, self.form.fields)
        yield Static(classes="form-trouble", markup=False)
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin at the first field."""
        self.query(OptionField).first().line.focus()

    def values(self) -> dict[str, str]:
        """What stands in each field."""
        return {field.option: field.value for field in self.query(OptionField)}

    @on(Input.Submitted)
    def action_plan(self) -> None:
        """Show what would be frozen."""
        self.say("planning …")
        typed = self.values()
        work = partial(build, self.project, self.form.kind, typed, dry_run=True)
        self.in_background(work, partial(self._planned, typed), group="build-set")

    def _planned(self, typed: dict[str, str], report: SetReport) -> None:
        self._rest()
        if self.is_current:
            freeze = partial(build, self.project, self.form.kind, typed)
            self.app.push_screen(SetPlanScreen(report, freeze, self._frozen))

    def _frozen(self, report: SetReport) -> None:
        self.app.pop_screen()
        self._then(report)

    def trouble(self, error: BaseException | None) -> None:
        """Nothing is planned any more."""
        self._rest()
        super().trouble(error)

    def _rest(self) -> None:
        self.say(printable(KINDS[self.form.kind]))


def _line(field: FormField) -> OptionField:
    choices = [Choice(name, ": ".join(filter(None, (name or "none", about)))) for name, about in field.choices.items()]
    return OptionField(field.name, field.about, choices, field.value, several=field.several)
