"""Home: open tasks, the most urgent first, the accuracy of verifiers, and a menu of the other screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import overview
from workbench.app.tui.kit.cells import fit, printable
from workbench.app.tui.live import LiveScreen
from workbench.app.verbs import verb_of
from workbench.core.run import ACTIVE
from workbench.core.status import Matter, PersonProgress, Status
from workbench.core.text.figures import compact_count, counted, interval_bar, percent, percent_interval

if TYPE_CHECKING:
    from workbench.measuring.briefing import AccuracyRanking, ProjectFacts
    from workbench.measuring.records.review import Queue
    from workbench.runs.run_status import Watch
    from workbench.statistics.records.report import AccuracyRow


WIDE = 140
"""Terminal columns from which the panels form two columns."""
TALL = 34
"""Terminal lines from which more verifiers are listed."""

_VERIFIERS = {False: 5, True: 12}
_MAX_RUNS = 5
_MIN_TASK_LINES = 9
"""Minimum lines reserved for open tasks."""

_HINTS = {
    "states": "Nothing has been imported yet.",
    "pool": "Questions without completions: a pool to curate and draw from (command: Curate status).",
    "datasets": "None yet.",
    "people": "There are no annotators yet: the command Assign adds them.",
    "runs": "No verifier has been run. Start one in Verifiers & runs.",
}
"""Panel -> its text while it is empty."""


_COORDINATORS = ("home.start", "home.types")
"""Actions that an annotator doesn't have."""
NUMBERED = 9
"""Number of tasks with a number key; the others are reached with the cursor."""


class Seen(NamedTuple):
    """The data of Home: all counts for the coordinator; for an annotator, only their own progress.

    Attributes:
        facts: The project's counts, from which tasks are derived; None for an annotator.
        matters: The open tasks that counts alone reveal; for an annotator, all open tasks.
    """

    facts: ProjectFacts | None = None
    own: PersonProgress | None = None
    matters: Sequence[Matter] = ()


class Late(NamedTuple):
    """Data that takes long to compute.

    Attributes:
        version: The database's change counter when the data was computed.
    """

    version: int | None
    matters: list[Matter]
    standing: AccuracyRanking


class HomeScreen(LiveScreen):
    """Open tasks, in sentences, next to a menu of the other screens; counts are below.

    Tasks that need metrics appear after the others: a thread computes them only while Home is visible, and pauses ten
    times as long as it works.

    Attributes:
        matters: Open tasks, in the order they are listed.
    """

    TITLE_TEXT, PALETTE = "Home", True
    LATE_REST = 10
    AUTO_FOCUS = "#home-briefing"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        *(
            Action(f"home.{name}", "", f"app.open_screen('{name}')", one.title, f"Open {one.title}: {one.text}.", False)
            for name, one in DESTINATIONS.items()
            if name != "home"
        ),
        Action("home.start", "a", "app.start_verifier", "Start", "Start a verifier."),
        Action("home.types", "t", "types", "Derive types", "Derive answer types from the references.", False),
        Action("home.projects", "ctrl+n", "app.projects", "Projects", "Leave this project for another one."),
        *(
            Action(f"home.matter-{n}", str(n), f"open_matter({n})", f"Task {n}", "Open this task.", False)
            for n in range(1, NUMBERED + 1)
        ),
        Action("home.back", "escape,q", "app.help_quit", "Back", "Show how to leave the app.", False),
    )

    matters: Sequence[Matter] = ()
    _seen = Seen()
    _seen_of: int | None = None
    """The database's change counter when it was read."""
    _late: Late | None = None
    _watch: Watch | None = None

    def heading(self) -> tuple[str, str]:
        return self.TITLE_TEXT, self._title_text()

    def content(self) -> ComposeResult:
        person = self.workbench.annotator
        with Vertical(id="home-menu-box"):
            places = (one for one in self.workbench.places if one.name != "home")
            named = (Option(Content.assemble((f"{one.keys} ", "bold"), one.title), id=one.name) for one in places)
            yield OptionList(*named, id="home-menu", markup=False)
        with VerticalScroll(id="home-panels"):
            yield OptionList(_placeholder_option(), id="home-briefing", markup=False)
            if not person:
                with Vertical(id="home-standing", classes="panel") as panel:
                    panel.border_title = "Accuracy"
                    yield Static("…", markup=False)
            with Container(id="home-counts"):
                for name, title in self._panel_titles():
                    with Vertical(id=f"home-{name}", classes="panel") as panel:
                        panel.border_title = title
                        yield Static("…", markup=False)

    def _title_text(self) -> str:
        name = self.workbench.annotator
        person = "coordinator" if name is None else f"as {printable(name)}"
        return f"{printable(self.project.path.name)} · {person}"

    def own_actions(self) -> tuple[Action, ...]:
        numbered = zip((action for action in self.ACTIONS if "matter" in action.id), self.matters, strict=False)
        start = () if self.workbench.annotator else (one for one in self.ACTIONS if one.id in _COORDINATORS)
        opened = {f"home.{name}" for name in self.workbench.screen_names}
        screens = (one for one in self.ACTIONS if one.id in opened)
        matters = (action._replace(help=printable(one.sentence)) for action, one in numbered)
        return (*screens, *start, *matters, self.ACTIONS[-1])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return self.workbench.annotator is None if action == "types" else super().check_action(action, parameters)

    def _panel_titles(self) -> list[tuple[str, str]]:
        if self.workbench.annotator:
            return [("own", "Your work")]
        return [("states", "Items"), ("datasets", "Data sets"), ("people", "People"), ("runs", "Runs")]

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> Seen:
        person = self.workbench.annotator
        if person is not None:
            from workbench.labelling.waiting import own_work

            own = own_work(self.project, person)
            return Seen(own=own.progress, matters=own.matters)
        from workbench.measuring.briefing import ProjectFacts, matters, status
        from workbench.runs.run_status import Watch

        if self._watch is None:
            self._watch = Watch(self.project)
        facts = ProjectFacts(self.project, status(self.project), self._watch.runs())
        return Seen(facts=facts, matters=matters(facts, late=False))

    def must_read(self) -> bool:
        facts = self._seen.facts
        return facts is not None and any(run.state in ACTIVE for run in facts.runs)

    def show(self, data: Seen) -> None:
        self._seen, self._seen_of = data, self._version
        if data.facts is not None:
            counts = data.facts.counts
            sizes = f"{counted(counts.items, 'item')}, {counted(counts.questions, 'question')}"
            self.say(f"{self._title_text()} · {sizes}")
        self._fill()

    def late(self) -> Callable[[], Late] | None:
        facts, known = self._seen.facts, None if self._late is None else self._late.version
        return None if facts is None or known == self._seen_of else partial(_measured, facts, self._seen_of)

    def show_late(self, data: Late) -> None:
        self._late = data
        self._fill()

    @property
    def _is_late_stale(self) -> bool:
        return self._late is not None and self._late.version != self._seen_of

    # -- what is shown -----------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE, "wide")

    def redraw(self) -> None:
        if self._seen.matters or self._seen.facts is not None:
            self._fill()

    def _fill(self) -> None:
        facts = self._seen.facts
        for name, _ in self._panel_titles():
            panel = self.query_one(f"#home-{name} Static", Static)
            content = self._panel_content(name, panel.content_size.width or overview.NARROW)
            panel.set_class(not content, "hint")
            hint = "pool" if name == "states" and facts is not None and facts.counts.questions else name
            panel.update(content or Content(_HINTS[hint]))
        if facts is not None:
            self._fill_ranking()
        self._list()

    def _panel_content(self, name: str, width: int) -> Content:
        seen = self._seen
        if seen.own is not None:
            return overview.person_line(seen.own, width)
        if seen.facts is None:
            return Content()
        counts = seen.facts.counts
        if name == "states":
            return _states_text(counts, width)
        if name == "datasets":
            return overview.datasets_panel(counts.datasets, width)
        if name == "people":
            return overview.people_panel(counts.people, width)
        shown = sorted(seen.facts.runs, key=lambda run: (run.state not in ACTIVE, -run.run))[:_MAX_RUNS]
        return overview.runs_panel(shown, width)

    def _fill_ranking(self) -> None:
        panel = self.query_one("#home-standing Static", Static)
        width, most = panel.content_size.width or overview.NARROW, _VERIFIERS[self.size.height >= TALL]
        if self._late is not None and self._late.standing.verifiers:
            panel.update(verifier_lines(self._late.standing, width, most))
        elif self._late is None or self._is_late_stale:
            panel.update("being counted …")
        else:
            panel.update("No verifier has a complete run yet.")

    def _list(self) -> None:
        from workbench.measuring.briefing import sort_matters

        briefing, matters = self.query_one("#home-briefing", OptionList), list(self._seen.matters)
        if self._late is not None and not (self._is_late_stale and not matters and not self._late.matters):
            matters = sort_matters([*matters, *self._late.matters])
        at = briefing.highlighted
        chosen = self.matters[at] if at is not None and at < len(self.matters) else None
        self.matters = matters
        width = briefing.content_size.width or overview.NARROW
        waiting = self._seen.facts is not None and (self._late is None or not matters)
        lines = [matter_text(number, one, width) for number, one in enumerate(matters, 1)]
        briefing.set_options(lines or [_placeholder_option()] * waiting)
        about = chosen and (chosen.kind, chosen.about)
        same = (place for place, one in enumerate(matters) if (one.kind, one.about) == about)
        briefing.highlighted = next(same, 0 if matters else None)
        briefing.border_title = f"Open · {'more is being counted …' if waiting else 'enter or its key leads there'}"
        self.call_after_refresh(self._limit_briefing)

    def _limit_briefing(self) -> None:
        panels, briefing = self.query_one("#home-panels"), self.query_one("#home-briefing")
        beside = sum(panel.outer_size.height for panel in self.query("#home-standing"))
        briefing.styles.max_height = max(panels.size.height - beside, _MIN_TASK_LINES)

    # -- where matters lead ------------------------------------------------------------------------

    @on(OptionList.OptionSelected, "#home-menu")
    def _place_chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.workbench.open_screen(str(event.option_id))

    @on(OptionList.OptionSelected, "#home-briefing")
    def _matter_chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open_matter(event.option_index + 1)

    def action_open_matter(self, number: int) -> None:
        if number > len(self.matters):
            return
        matter = self.matters[number - 1]
        about = matter.about
        if matter.kind == "unknown-types":
            from workbench.app.tui.screens.accuracy import AccuracyScreen

            self.app.push_screen(AccuracyScreen(by=str(about["by"])))
        elif matter.kind == "verify" and about["verifier"] == "execution":
            from workbench.app.tui.suite_start import choose_suite

            choose_suite(self)
        elif matter.kind == "verify":
            self.workbench.action_start_verifier(str(about["verifier"]))
        elif matter.kind == "out":
            self.workbench.open_verb("datasets", verb="restore", names=quote(str(about["dataset"])))
        elif matter.kind == "paused":
            self.workbench.open_verb("annotators", verb="resume", names=quote(str(about["person"])))
        elif matter.screen == "accuracy" and "group" in about:
            from workbench.app.tui.kit.accuracy_view import group_name
            from workbench.app.tui.screens.accuracy_items import AccuracyCell, AccuracyItemsScreen

            verifier, by, group = (str(about[name]) for name in ("verifier", "by", "group"))
            cell = AccuracyCell(verifier=verifier, by=by, group=group)
            self.app.push_screen(AccuracyItemsScreen(cell, group_name(group, by)))
        elif matter.screen == "disagreements":
            from workbench.app.tui.kit.queue_view import QueueRequest

            self.workbench.open_screen(matter.screen, QueueRequest(queue=cast("Queue", about["queue"]), hidden=True))
        elif matter.screen == "runs":
            self.workbench.open_screen(matter.screen, *(about[name] for name in ("run",) if name in about))
        elif matter.screen:
            self.workbench.open_screen(matter.screen)
        elif matter.command:
            self.workbench.open_verb(verb_of(matter.command))

    def action_types(self) -> None:
        from workbench.app.tui.screens.type_proposals import TypeProposalsScreen

        if self._seen.facts is not None and self._seen.facts.counts.items:
            self.app.push_screen(TypeProposalsScreen())
        else:
            self.notify("There are no items yet: begin with a file.")


def _placeholder_option() -> Option:
    return Option("…", disabled=True)


def _measured(facts: ProjectFacts, version: int | None) -> Late:
    from workbench.measuring.briefing import matters

    return Late(version, matters=matters(facts, late=True), standing=facts.accuracy_ranking)


def _states_text(found: Status, width: int) -> Content:
    if not found.items and not found.quarantined:
        return Content()
    text = Content(f"{counted(found.items, 'item')}, {counted(found.questions, 'question')}\n") + overview.states_panel(
        found, width
    )
    if found.quarantined:
        refused = f"\n! rows rejected at import ({DESTINATIONS['quarantine'].keys}): {found.quarantined:,}"
        text += Content.styled(refused, "$text-warning")
    return text


_MARGIN = 3
_NAMES, _WIDE_NAMES = 14, 28
"""Minimum and maximum cells of a verifier's name; the drawn interval takes the remaining cells and is dropped if there
are too few."""
_FIGURES = 33
"""Cells that a verifier's accuracy, its interval and its item count take."""


def matter_text(number: int, matter: Matter, width: int) -> Content:
    """Return the line of an open task: the key that opens it, and its sentence."""
    key = f"{key_of(f'home.matter-{number}')}) " if number <= NUMBERED else "   "
    first, *others = wrap(printable(matter.sentence), max(width - _MARGIN, 20), break_on_hyphens=False) or [""]
    lines = [Content.assemble((key, "bold"), first), *(Content(" " * _MARGIN + line) for line in others)]
    return Content("\n").join(lines)


def verifier_lines(standing: AccuracyRanking, width: int, most: int) -> Content:
    """Return the accuracy of verifiers as text.

    Args:
        most: Maximum number of lines.
    """
    listed = standing.verifiers[:most]
    needed = max((cell_len(printable(row.verifier)) for row in listed), default=0)
    names = min(needed, _WIDE_NAMES, max(_NAMES, width - _FIGURES - 1))
    lines = [_verifier_line(row, standing.constant, names, width) for row in listed]
    more = len(standing.verifiers) - most
    said = [f"{more:,} more"] if more > 0 else []
    if standing.constant is not None:
        said += [f"protocol {standing.protocol}", f"┊ majority-class baseline: {percent(standing.constant)} %"]
    lines.append(Content.styled(" · ".join(said) or "There are no metrics: no item has gold.", "$foreground-muted"))
    return Content("\n").join(lines)


def _verifier_line(row: AccuracyRow, constant: float | None, names: int, width: int) -> Content:
    name = Content.styled(fit(row.verifier, names), "bold")
    if row.accuracy is None or row.ci is None:
        return Content.assemble(name, (" no metrics", "$text-warning"))
    room = width - names - _FIGURES - 2
    drawn = f" {interval_bar(row.accuracy, *row.ci, room, constant)}" if room >= 4 else ""
    figures = f"{percent(row.accuracy):>5} % {percent_interval(row.ci):<14} n {compact_count(row.n)}"
    return Content.assemble(name, (drawn, "$text-accent"), f" {figures}")
