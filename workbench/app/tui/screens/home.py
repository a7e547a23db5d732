"""Home: what there is, how far people and runs are, and the way to every other screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.app import SCREENS
from workbench.app.tui.keymap import Action
from workbench.app.tui.kit import overview
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix import as_typed, printable
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.live import LiveScreen
from workbench.core.project import Project
from workbench.core.run import ACTIVE, RunInfo
from workbench.core.status import PersonProgress, Status
from workbench.core.text.figures import counted
from workbench.measuring.suggesting import status as count

if TYPE_CHECKING:
    from workbench.runs.run_status import Watch

WIDE = 140
"""Terminal columns from which the panels stand in two columns."""

_RUNS_SHOWN = 5

_HINTS = {
    "states": """\
Nothing has been imported yet. In another terminal:
workbench import {database} FILE…
or, for the sample data with rule verifiers run:
workbench demo""",
    "pool": """\
Questions without completions: a pool to curate and draw from. In another terminal:
workbench curate {database} status""",
    "datasets": "None yet.",
    "people": """\
Nobody labels yet:
workbench annotators {database} add NAME…
workbench assign {database} --annotators A,B --per-item 2""",
    "runs": """\
No verifier has been run. Start one in Verifiers & runs, or:
workbench verify {database} math-verify""",
}
"""What an empty panel says."""


class Own(Struct, frozen=True, kw_only=True):
    """What an annotator's Home says: their own work, answers they have not read, guidelines that are new to them."""

    progress: PersonProgress
    answers: int = 0
    news: str = ""


class Seen(Struct, frozen=True, kw_only=True):
    """What Home has read: everything for the coordinator, only their own for an annotator."""

    status: Status | None = None
    runs: list[RunInfo] = []
    own: Own | None = None


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
        with VerticalScroll(id="home-panels"):
            for name, title in self._panels():
                with Vertical(id=f"home-{name}", classes="panel") as panel:
                    panel.border_title = title
                    yield Static("…", markup=False)
        yield Footer()

    def _menu(self) -> list[Option]:
        found = []
        for action in self.own_actions():
            key = next(iter(self.workbench.shown_keys(action.id, action.keys)), " ")
            prompt = Content.assemble((f" {key} ", "bold"), f" {action.label}")
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
            from workbench.runs.run_status import Watch

            self._watch = Watch(self.project)
        return Seen(status=count(self.project), runs=self._watch.runs())

    def must_read(self) -> bool:
        """A run at work is looked at again and again: its process may have died."""
        return any(run.state in ACTIVE for run in self._seen.runs)

    def show(self, data: Seen) -> None:
        """Fill the panels."""
        self._seen = data
        for name, _ in self._panels():
            panel = self.query_one(f"#home-{name} Static", Static)
            content = self._content(name, panel.content_size.width or overview.NARROW)
            panel.set_class(not content, "hint")
            panel.update(content or Content(self._hint(name).format(database=as_typed(str(self.project.path)))))

    def _hint(self, name: str) -> str:
        status = self._seen.status
        return _HINTS["pool" if name == "states" and status is not None and status.questions else name]

    def on_resize(self, event: events.Resize) -> None:
        """Two columns of panels where there is room, and bars of the panels' width."""
        self.set_class(event.size.width >= WIDE, "wide")
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        if self._seen.status is not None or self._seen.own is not None:
            self.show(self._seen)

    def _content(self, name: str, width: int) -> Content:
        """What a panel shows; nothing where there is nothing yet."""
        seen = self._seen
        if seen.own is not None:
            return _own_content(seen.own, width)
        if seen.status is None:
            return Content()
        if name == "states":
            return _states(seen.status, width)
        if name == "datasets":
            return overview.datasets_panel(seen.status.datasets, width)
        if name == "people":
            return _people(seen.status, width)
        shown = sorted(seen.runs, key=lambda run: (run.state not in ACTIVE, -run.run))[:_RUNS_SHOWN]
        return overview.runs_panel(shown, width)

    @on(OptionList.OptionSelected, "#home-menu")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.workbench.open_screen(str(event.option_id))


def _states(found: Status, width: int) -> Content:
    if not found.items and not found.quarantined:
        return Content()
    text = Content(f"{counted(found.items, 'item')}, {counted(found.questions, 'question')}\n") + overview.states_panel(
        found, width
    )
    if found.quarantined:
        text += Content.styled(f"\n! rows refused at import, in quarantine: {found.quarantined:,}", "$text-warning")
    return text


def _people(found: Status, width: int) -> Content:
    people = overview.people_panel(found.people, width)
    if not found.flags:
        return people
    waiting = Content.styled(f"⚑ {counted(found.flags, 'flag')} to answer: f", "bold $text-warning")
    return waiting + "\n" + people if found.people else waiting


def _own_progress(project: Project, person: str) -> Own:
    from workbench.labelling.adjudicating import AdjudicationSession
    from workbench.labelling.annotating import AnnotationSession

    session = AnnotationSession(project, person)
    try:
        progress, news = session.progress(), session.guidelines.news()
        answers = sum(not answer.heard for answer in session.answers())
    finally:
        session.close()
    conflicts = AdjudicationSession(project, person).left()
    own = PersonProgress(
        name=person,
        role="annotator",
        done=progress.done,
        left=progress.left,
        conflicts=conflicts,
        away=progress.away,
    )
    return Own(progress=own, answers=answers, news=news)


def _own_content(own: Own, width: int) -> Content:
    person = own.progress
    lines = [overview.person_line(person, width), Content("")]
    if own.news:
        lines.append(Content.styled("The guidelines have changed: g in Annotate shows them.", "bold $text-warning"))
    if own.answers:
        said = f"The coordinator has answered {counted(own.answers, 'flag')} of yours: F in Annotate shows it."
        lines.append(Content.styled(said, "bold $text-success"))
    if person.left:
        lines.append(Content("Open Annotate to label the next item."))
    elif person.conflicts:
        lines.append(Content("Open Adjudicate to settle the conflicts."))
    elif person.away:
        lines.append(Content(f"What is left is in your bundle: {counted(person.away, 'item')}."))
    else:
        lines.append(Content("Nothing is left for you at the moment."))
    return Content("\n").join(lines)
