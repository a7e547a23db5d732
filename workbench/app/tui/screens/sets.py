"""Sets: frozen sets, their labelling progress and shortfalls; building and publishing sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Protocol

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static
from textual.worker import Worker, WorkerState

from workbench.app.tui.form import FormScreen, option_field
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import set_view as view
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.set_forms import KINDS, BuildForm, build, prefilled_form
from workbench.app.tui.table_screen import TableScreen
from workbench.benchmarks.building.comparing import every_set, set_detail, set_diff
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.records import PUBLISHABLE, Publication, SetDetail, SetDiff, SetLine
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.core.sets import SetName, SetReport
from workbench.core.text.figures import counted
from workbench.measuring.judged import BASELINE, everybody


class SetDiffScreen(TableScreen):
    """The differences between two sets, one row per item that differs.

    Args:
        old, new: Names of sets with their versions.

    Attributes:
        found: The differences; None until loaded.
    """

    CSS_PATH = "set_diff.tcss"
    TITLE_TEXT = "Differences"
    PREFIX, ABOVE = "diff", ("caption",)
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-diff.open", "enter", "open_row", "Items", "Show the row's item, or its question's, in Browse."),
    )

    def __init__(self, old: str, new: str) -> None:
        super().__init__()
        self._old, self._new = old, new
        self.found: SetDiff | None = None

    def heading(self) -> tuple[str, str]:
        return self.TITLE_TEXT, printable(f"{self._old} → {self._new}")

    def on_mount(self) -> None:
        self.put("caption", "reading …")
        work = partial(set_diff, self.project, self._old, self._new)
        self.in_background(work, self._show, group="set-diff", stops=True)

    def _show(self, found: SetDiff) -> None:
        self.found = found
        self.put("caption", view.diff_caption(found))
        self.table.show_records(view.DIFF_COLUMNS, enumerate(view.differing(found)))

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.browse import BrowseScreen

        if self.found is None:
            return
        _, one = view.differing(self.found)[row]
        found = [Condition("dataset", "=", one.dataset), Condition("question_id", "=", one.question_id)]
        if one.completion_id is not None:
            found.append(Condition("completion_id", "=", one.completion_id))
        self.app.push_screen(BrowseScreen(*found))


_DETAIL = "sets-detail"


class SetsScreen(TableScreen, LiveScreen):
    """The table of sets, and below it the details of the set under the cursor.

    Attributes:
        sets: All sets, in the order they were frozen.
        detail: The set shown in full; None until loaded.
    """

    CSS_PATH = "sets.tcss"
    TITLE_TEXT = "Sets"
    PREFIX, DETAIL, PANE, REST_S, WIDE = "sets", True, True, 0.1, 100
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("sets.items", "i", "items", "Items", "List the set's items in Browse."),
        Action("sets.build", "a", "build", "Build", "Build a set: picks, balanced, hard, or a draw of questions."),
        Action("sets.publish", "e", "publish", "Publish", "Write finished sets into a folder with a data card."),
        Action("sets.accuracy", "v", "accuracy", "Accuracy", "Show verifiers' accuracy on the set's items."),
        Action("sets.diff", "vertical_line", "diff", "Diff", "Show differences from the previous version."),
        Action("sets.diff-other", "backslash", "diff_other", "Diff with", "Show differences from another set.", False),
        Action("sets.pool", "o", "pool", "Pool", "Show the pool of questions, source by source."),
        Action("sets.again", "r", "again", "Read again", "Read the set again, with its judges' later runs.", False),
        Action("sets.pane", "tab", "app.focus_next", "Pane", "Go to the other pane.", False),
    )

    sets: Sequence[SetLine] = ()
    detail: SetDetail | None = None
    _arrive_at: str | None = None
    _reading_of: str | None = None  # full name of the set whose detail is being read

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> list[SetLine]:
        return every_set(self.project)

    def show(self, data: list[SetLine]) -> None:
        self.sets = data
        self.say(f"{printable(self.project.path.name)} · {counted(len(data), 'set')}")
        self.fill()
        if not data:
            build, pool = key_of("sets.build"), key_of("sets.pool")
            self._say_instead(f"No set has been frozen yet: {build} builds one, {pool} shows the pool of questions.")
        elif self._arrive_at is not None:
            self.go_to(self._arrive_at)
        self._read_detail()

    def fill(self) -> None:
        self.table.show_records(view.columns(wide=self.wide), [*enumerate(self.sets)][::-1])

    def go_to(self, name: str) -> None:
        place = next((place for place, line in enumerate(self.sets) if line.full_name == name), None)
        self._arrive_at = name if place is None else None
        if place is not None:
            self.table.jump_to_id(place)

    @property
    def chosen(self) -> SetLine | None:
        selected = self.table.selected_id
        if not self.sets:
            return None
        return self.sets[-1 if selected is None else selected]

    def highlighted(self, row: int) -> None:
        self._read_detail()

    def _read_detail(self) -> None:
        line = self.chosen
        if line is None or self._reading_of == line.full_name or (self.detail and self.detail.set == line):
            return
        self._reading_of = line.full_name
        self.in_background(partial(set_detail, self.project, line.full_name), self._show_detail, group=_DETAIL)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.worker.group == _DETAIL and event.state is WorkerState.ERROR:
            self._reading_of = None

    def action_again(self) -> None:
        self.detail = self._reading_of = None
        self.read_again()

    def _show_detail(self, found: SetDetail) -> None:
        self._reading_of = None
        line = self.chosen
        if line is None or found.set.full_name != line.full_name:
            self._read_detail()
            return
        same = self.detail is not None and self.detail.set.full_name == found.set.full_name
        self.detail = found
        self.put_detail(view.detail(found), begin=not same)

    def _say_instead(self, text: str) -> None:
        self.detail = None
        self.put_detail(text, begin=False)

    # -- what is in a set --------------------------------------------------------------------------

    def opened(self, row: int) -> None:
        self.action_items()

    def action_items(self) -> None:
        from workbench.app.tui.screens.browse import BrowseScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(BrowseScreen(_in_set(line)))

    def action_accuracy(self) -> None:
        from workbench.app.tui.screens.accuracy import AccuracyScreen

        if (line := self.chosen) is not None:
            self.app.push_screen(AccuracyScreen(_in_set(line)))

    def action_pool(self) -> None:
        from workbench.app.tui.screens.pool import PoolScreen

        self.app.push_screen(PoolScreen())

    def action_diff(self) -> None:
        line = self.chosen
        if line is not None and line.version > 1:
            self._diff(f"{line.name}@{line.version - 1}")
        else:
            self.action_diff_other()

    def action_diff_other(self) -> None:
        line = self.chosen
        others = [one.full_name for one in self.sets[::-1] if one is not line]
        if not others:
            self.notify("There is no other set yet.", markup=False)
            return
        choose(self, ChoiceMenu("Compare with", [Choice(name, name) for name in others]), self._diff)

    def _diff(self, old: str) -> None:
        if (line := self.chosen) is not None:
            self.app.push_screen(SetDiffScreen(old, line.full_name))

    # -- building and publishing -------------------------------------------------------------------

    def action_build(self) -> None:
        choices = [Choice(kind, f"{kind}: {about}") for kind, about in KINDS.items()]
        choose(self, ChoiceMenu("Build", choices, wide=True), self._choose_judges)

    def _choose_judges(self, kind: str) -> None:
        self.in_background(partial(everybody, self.project), partial(self._build, kind), group="sets-judges")

    def _build(self, kind: str, verifiers: tuple[str, ...]) -> None:
        judges = tuple(name for name in verifiers if name != BASELINE)
        form = prefilled_form(kind, judges, self.sets, self.chosen)
        self.app.push_screen(BuildSetScreen(form, self._built))

    def _built(self, report: SetReport) -> None:
        state = "it existed already" if report.unchanged else "frozen"
        self.notify(
            f"{report.tuples:,} tuples of {report.questions:,} questions; {state}",
            title=f"{printable(report.name)}@{report.version}",
            markup=False,
        )
        self.go_to(f"{report.name}@{report.version}")
        self.read_again()

    def action_publish(self) -> None:
        finished = [line for line in self.sets[::-1] if line.kind in PUBLISHABLE]
        line = self.chosen
        if line is None or line not in finished:
            self.notify("Only finished sets can be published: balanced and hard ones.", markup=False)
            return
        self.app.push_screen(PublishSetScreen(line.full_name, tuple(one.full_name for one in finished)))


def _in_set(line: SetLine) -> Condition:
    return Condition("set", "=", line.full_name)


# -- A form that builds a set: filled in, planned, frozen.


_WAITING = "Nothing was frozen: the items listed above still need labels."


class Freeze(Protocol):
    def __call__(self, *, new_version: bool) -> SetReport:
        """Freeze the set; raise `UsageError` if a different set has its name and ``new_version`` is False."""


class SetPlanScreen(FormScreen):
    """The report of a planned set; enter freezes the set.

    Args:
        report: The planned set.
        freeze: Freezes the planned set.
        then: Called with the report of the frozen set once this screen has closed.
    """

    CSS_PATH = "set_plan.tcss"
    TITLE_TEXT, REMARK = "Plan of a set", "nothing has been written yet"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("set-plan.freeze", "enter", "freeze(False)", "Freeze", "Freeze the set under its name."),
        Action("set-plan.version", "a", "freeze(True)", "As new version", "Freeze the set as a new version."),
        Action("set-plan.back", "escape,q", "app.go_back", "Back", "Go back to the form; nothing is written."),
    )

    def __init__(self, report: SetReport, freeze: Freeze, then: Callable[[SetReport], None]) -> None:
        super().__init__()
        self.report = report
        self._freeze = freeze
        self._then = then

    def content(self) -> ComposeResult:
        with VerticalScroll(id="plan-text"):
            yield Static(view.plan(self.report), markup=False)
        yield Static(classes="form-trouble", markup=False)

    def action_freeze(self, new_version: bool) -> None:
        self.say("freezing …")
        self.in_background(partial(self._freeze, new_version=new_version), self._frozen, group="freeze")

    def _frozen(self, report: SetReport) -> None:
        if report.version is None:
            self.complain(_WAITING)
            return
        self.app.pop_screen()
        self._then(report)

    def complain(self, text: str) -> None:
        self.say("nothing has been written")
        super().complain(text)


class BuildSetScreen(FormScreen):
    """One field per option; the set is built only after its plan was shown.

    Args:
        form: The form.
        then: Called with the report of the frozen set.
    """

    CSS_PATH = "build_set.tcss"
    TITLE_TEXT, FORM = "Build a set", "build-form"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("build-set.plan", "f3,ctrl+t", "plan", "Plan (enter)", "Show the planned set.", priority=True),
        Action("build-set.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
    )

    def __init__(self, form: BuildForm, then: Callable[[SetReport], None]) -> None:
        super().__init__((form.kind, *((field.name, field.value) for field in form.fields)))
        self.form = form
        self._then = then

    def heading(self) -> tuple[str, str]:
        return f"Build: {self.form.kind}", KINDS[self.form.kind]

    def fields(self) -> ComposeResult:
        yield from map(option_field, self.form.fields)

    def on_mount(self) -> None:
        self.take_up(self.query(OptionField))

    @on(Input.Submitted)
    def action_plan(self) -> None:
        self.say("planning …")
        typed = self.values()
        work = partial(build, self.project, self.form.kind, typed, dry_run=True)
        self.in_background(work, partial(self._planned, typed), group="build-set")

    def _planned(self, typed: dict[str, str], report: SetReport) -> None:
        self._schedule_pause()
        if self.is_current:
            freeze = partial(build, self.project, self.form.kind, typed)
            self.app.push_screen(SetPlanScreen(report, freeze, self._frozen))

    def _frozen(self, report: SetReport) -> None:
        self.forget()
        self.app.pop_screen()
        self._then(report)

    def show_error(self, error: BaseException | None) -> None:
        self._schedule_pause()
        super().show_error(error)

    def _schedule_pause(self) -> None:
        self.say(printable(KINDS[self.form.kind]))


# -- A form that publishes finished sets: where to, under which licence; and what was written.


_ABOUT: Final = "data as of the freeze: items, labels, data card, leaderboard, checksums"
_YES: Final = "yes"


class PublishSetScreen(FormScreen):
    """One field per option; enter writes the folder.

    Args:
        name: The set to publish.
        finished: All sets that can be published.
    """

    CSS_PATH = "publish_set.tcss"
    TITLE_TEXT, REMARK, FORM = "Publish", _ABOUT, "publish-form"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("publish.write", "f4,ctrl+r", "write", "Write (enter)", "Write the folder.", priority=True),
        Action("publish.next", "tab", "app.focus_next", "Next", "Go to the next field (shift+tab: back)."),
        Action("publish.back", "escape,q", "back", "Back", "Go back to the sets, once nothing is being written."),
    )

    def __init__(self, name: str, finished: tuple[str, ...]) -> None:
        super().__init__(("publish", name))
        self._begin_with, self._finished = name, finished
        self._writing = False

    def fields(self) -> ComposeResult:
        folder = self.project.path.parent / SetName.parse(self._begin_with).name.replace("/", "-")
        names = [Choice("no", "no: pseudonyms"), Choice(_YES, "yes")]
        replace = [Choice("no", "no"), Choice(_YES, "yes: if it was published, and is unchanged since")]
        yield OptionField("folder", "folder to write; it is created whole or not at all", value=str(folder))
        yield OptionField(
            "licence", "licence of labels, selection and data card, such as cc-by-4.0; sources keep their own"
        )
        sets = [Choice(name, name) for name in self._finished]
        yield OptionField("sets", "sets to write into the folder", sets, self._begin_with, several=True)
        yield OptionField("title", "title on the data card; empty: the names of the sets")
        yield OptionField("languages", "languages of the data: ISO 639 codes separated by spaces, such as en")
        yield OptionField("names", "whether annotators' names are written", names)
        yield OptionField("replace", "whether an existing folder is replaced", replace)

    def below(self) -> ComposeResult:
        yield Static(id="publish-written", markup=False)

    def on_mount(self) -> None:
        self.take_up(self.query(OptionField))

    @on(Input.Submitted)
    def action_write(self) -> None:
        typed = self.values()
        if self._writing:
            return
        if not typed["folder"] or not typed["sets"]:
            self.complain("Choose the sets and the folder.")
            return
        self._update_title(writing=True)
        self.complain("")
        self.in_background(partial(_published, self.project, typed), self._report_written, group="publish")

    def _report_written(self, found: Publication) -> None:
        self._update_title(writing=False)
        self.forget()
        written = self.query_one("#publish-written", Static)
        written.update(_words(found))
        written.display = True

    def show_error(self, error: BaseException | None) -> None:
        self._update_title(writing=False)
        super().show_error(error)

    def _update_title(self, *, writing: bool) -> None:
        self._writing = writing
        self.say("writing …" if writing else _ABOUT)

    def action_back(self) -> None:
        if self._writing:
            self.notify("The folder is being written.", markup=False)
        else:
            self.workbench.action_go_back()


def _published(project: Project, typed: dict[str, str]) -> Publication:
    from workbench.benchmarks.publishing.publishing import publish

    options = PublishOptions(
        sets=tuple(typed["sets"].split()),
        folder=Path(typed["folder"]).expanduser(),
        title=typed["title"] or None,
        licence=typed["licence"] or None,
        languages=tuple(typed["languages"].replace(",", " ").split()),
        names=typed["names"] == _YES,
        force=typed["replace"] == _YES,
    )
    return publish(project, options)


def _words(found: Publication) -> Content:
    lines = [Content.styled(printable(f"✓ {len(found.files)} files, {found.bytes:,} bytes in {found.folder}"), "bold")]
    for one in found.sets:
        size = f"{counted(one.tuples, 'completion')} of {counted(one.questions, 'question')}"
        people = f"{counted(one.labels, 'label')}, {counted(one.verifiers, 'verifier')}"
        lines.append(Content(printable(f"{one.name}@{one.version}: {size}, {people}")))
    lines += [Content.styled(f"! {printable(note)}", "$text-warning") for note in found.notes]
    return Content("\n").join(lines)
