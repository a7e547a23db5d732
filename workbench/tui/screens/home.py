"""Home: what there is, how far people and runs are, and the way to every other screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Footer, OptionList, Static
from textual.widgets.option_list import Option

from workbench.model.run import ACTIVE, RunInfo
from workbench.model.status import PersonProgress, Status
from workbench.services.project import Project
from workbench.services.status import status as count
from workbench.tui.actions import Action
from workbench.tui.app import SCREENS
from workbench.tui.live import LiveScreen
from workbench.tui.widgets import overview
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.title_bar import TitleBar

if TYPE_CHECKING:
    from workbench.services.run_status import Watch

WIDE = 140
"""Terminal columns from which the panels stand in two columns."""

_RUNS_SHOWN = 5

_EMPTY = """\
Nothing has been imported yet. In another terminal:

  workbench import {database} FILE…      read questions, references, completions
  workbench demo                         the sample data, with rule verifiers run
"""
_NO_PEOPLE = """\
Nobody labels yet:
  workbench annotators {database} add NAME…
  workbench assign {database} --annotators A,B --per-item 2"""
_NO_RUNS = "No verifier has been run: press v, or\n  workbench verify {database} math-verify"


class Seen(Struct, frozen=True, kw_only=True):
    """What Home has read: everything for the coordinator, only their own for an annotator."""

    status: Status | None = None
    runs: list[RunInfo] = []
    own: PersonProgress | None = None


class HomeScreen(LiveScreen):
    """Panels with counts beside a menu of the other screens."""

    CSS_PATH = "home.tcss"
    TITLE_TEXT = "Home"
    ACTIONS: ClassVar[tuple[Action, ...]] = tuple(
        Action(f"home.{name}", key, f"app.open_screen('{name}')", text.partition(":")[0], f"Open {text}.", footer=False)
        for name, (_, key, text) in SCREENS.items()
        if name != "home"
    )

    def __init__(self) -> None:
        super().__init__()
        self._seen = Seen()
        self._watch: Watch | None = None

    def compose(self) -> ComposeResult:
        """The frame and the menu; the counts come later."""
        person = self.workbench.annotator
        who = f"as {printable(person)}" if person else "coordinator"
        yield TitleBar("workbench", f"{printable(self.project.path.name)} · {who}")
        with Vertical(id="home-menu-box"):
            yield OptionList(*self._menu(), id="home-menu", markup=False)
        with VerticalScroll(id="home-panels", can_focus=False):
            for name, title in self._panels():
                with Vertical(id=f"home-{name}", classes="panel") as panel:
                    panel.border_title = title
                    yield Static("…", markup=False)
        yield Footer()

    def _menu(self) -> list[Option]:
        found = []
        for action in self.own_actions():
            key = next(iter(self.workbench.shown_keys(action.id, action.keys)), " ")
            prompt = Content.assemble((f" {key} ", "bold $text-accent"), f" {action.label}")
            found.append(Option(prompt, id=action.id.partition(".")[2]))
        return found

    def own_actions(self) -> tuple[Action, ...]:
        """Only the screens this person may open."""
        allowed = {f"home.{name}" for name in self.workbench.screen_names}
        return tuple(action for action in self.ACTIONS if action.id in allowed)

    def _panels(self) -> list[tuple[str, str]]:
        if self.workbench.annotator:
            return [("own", "Your work")]
        return [("states", "Items"), ("datasets", "Data sets"), ("people", "People"), ("runs", "Runs")]

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> Seen:
        """Count; an annotator's Home reads nothing of others."""
        person = self.workbench.annotator
        if person is not None:
            return Seen(own=_own_progress(self.project, person))
        if self._watch is None:
            from workbench.services.run_status import Watch

            self._watch = Watch(self.project)
        return Seen(status=count(self.project), runs=self._watch.runs())

    def must_read(self) -> bool:
        """A run at work is looked at again and again: its process may have died."""
        return any(run.state in ACTIVE for run in self._seen.runs)

    def show(self, data: Seen) -> None:
        """Fill the panels."""
        self._seen = data
        for name, _ in self._panels():
            self.query_one(f"#home-{name} Static", Static).update(self._content(name))

    def on_resize(self, event: events.Resize) -> None:
        """Two columns of panels where there is room, and bars of the panels' width."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        if self._seen.status is not None or self._seen.own is not None:
            self.show(self._seen)

    def _content(self, name: str) -> Content:
        width = self.query_one(f"#home-{name} Static", Static).content_size.width or overview.NARROW
        seen, database = self._seen, printable(str(self.project.path))
        if seen.own is not None:
            return _own_content(seen.own, width)
        assert seen.status is not None
        if name == "states":
            return self._states(seen.status, width, database)
        if name == "datasets":
            return overview.datasets_panel(seen.status.datasets, width) or Content("None yet.")
        if name == "people":
            return overview.people_panel(seen.status.people, width) or Content(_NO_PEOPLE.format(database=database))
        shown = sorted(seen.runs, key=lambda run: (run.state not in ACTIVE, -run.run))[:_RUNS_SHOWN]
        return overview.runs_panel(shown, width) or Content(_NO_RUNS.format(database=database))

    def _states(self, found: Status, width: int, database: str) -> Content:
        if not found.items:
            return Content(_EMPTY.format(database=database).rstrip())
        text = Content(f"{found.items:,} items, {found.questions:,} questions\n") + overview.states_panel(found, width)
        if found.quarantined:
            text += Content.styled(f"\n! {found.quarantined:,} rows refused at import (quarantine)", "$text-warning")
        return text

    @on(OptionList.OptionSelected, "#home-menu")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.workbench.open_screen(str(event.option_id))


def _own_progress(project: Project, person: str) -> PersonProgress:
    from workbench.services.adjudicating import AdjudicationSession
    from workbench.services.annotating import AnnotationSession

    session = AnnotationSession(project, person)
    try:
        progress = session.progress()
    finally:
        session.close()
    conflicts = AdjudicationSession(project, person).left()
    return PersonProgress(name=person, role="annotator", done=progress.done, left=progress.left, conflicts=conflicts)


def _own_content(person: PersonProgress, width: int) -> Content:
    lines = [overview.person_line(person, width), Content("")]
    if person.left:
        lines.append(Content("Press a to label the next item."))
    elif person.conflicts:
        lines.append(Content("Nothing left to label. Press j to settle conflicts."))
    else:
        lines.append(Content("Nothing is left for you at the moment."))
    return Content("\n").join(lines)
