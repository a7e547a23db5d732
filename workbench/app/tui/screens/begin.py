"""Begin: from a file to a first metric in four steps, each of which can be skipped and resumed."""

from __future__ import annotations

import getpass
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import ClassVar, Final, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import Choice, ChoiceMenu, choose
from workbench.app.tui.live import LiveScreen
from workbench.coding import problems
from workbench.coding.problems import SuitesToRun
from workbench.core.project import Project
from workbench.core.run import ACTIVE, RunInfo
from workbench.core.status import PersonProgress, Status
from workbench.core.taxonomy import UNTYPED
from workbench.core.text.figures import counted, verb_wait
from workbench.labelling import people
from workbench.labelling.assigning import Assigned, earlier_text
from workbench.measuring.briefing import ProjectFacts
from workbench.measuring.counting import status
from workbench.runs import run_status, verifying

_RULES: Final = "rules"
_OTHER: Final = "other"
_ME: Final = "me"
_SEVERAL: Final = "several"
_WHO: Final = "Your name, as shown with labels"


class ProjectProgress(NamedTuple):
    """The state of a project.

    Attributes:
        counts: Counts of its items, and the progress of its people.
        runs: Its runs.
        gold: Whether any item has gold.
        typed: Whether any item has an answer type; None while no verifier has judged any.
        code: Whether it has code problems, whose solutions are judged by tests.
        suites: Suites of tests that can be run, each alone or several together.
        passing: One sentence per verifier of code: how many solutions pass, and why others were not judged.
    """

    counts: Status
    runs: list[RunInfo]
    gold: bool
    typed: bool | None
    code: bool = False
    suites: Sequence[SuitesToRun] = ()
    passing: Sequence[str] = ()

    @property
    def judged(self) -> list[str]:
        return list(dict.fromkeys(run.verifier for run in self.runs if run.completed_at))

    @property
    def _verifier_text(self) -> str:
        at_work = next((run for run in self.runs if run.state in ACTIVE), None)
        return f"{at_work.verifier} (at {at_work.done:,} of {at_work.items:,})" if at_work else "a verifier"

    @property
    def newest(self) -> list[RunInfo]:
        return list({run.verifier: run for run in self.runs if run.completed_at}.values())

    @property
    def missing(self) -> list[str]:
        """Return what is still missing for the first metric, in words."""
        wants = {
            "a file": bool(self.counts.items),
            self._verifier_text: not self.counts.items or bool(self.judged),
            "gold: a column of the file, or annotators' labels": not self.judged or self.gold or self.code,
        }
        return [what for what, is_there in wants.items() if not is_there]


class BeginStep(NamedTuple):
    """One of the four steps.

    Attributes:
        state: Its state, in words.
        done: Whether the step is complete or isn't needed.
    """

    title: str
    state: str
    done: bool


def steps(found: ProjectProgress) -> tuple[BeginStep, ...]:
    return (_file_step(found), _verifiers_step(found), _people_step(found), _metric_step(found))


def _file_step(found: ProjectProgress) -> BeginStep:
    counts = found.counts
    if counts.questions and not counts.items:
        waits = f"{counted(counts.questions, 'question')} without completions: next: a file of completions or solutions"
        return BeginStep("File", waits, False)
    if not counts.items:
        return BeginStep("File", "your questions, reference answers and completions; none imported yet", False)
    listed = f"; {counted(counts.quarantined, 'row')} rejected, in quarantine ({DESTINATIONS['quarantine'].keys})"
    refused = listed if counts.quarantined else ""
    names = ", ".join(one.name for one in counts.datasets)
    return BeginStep("File", f"{counted(counts.items, 'item')} of {names}{refused}", True)


def _verifiers_step(found: ProjectProgress) -> BeginStep:
    if at_work := [run for run in found.runs if run.state in ACTIVE]:
        run = at_work[0]
        return BeginStep("Verifiers", f"{run.verifier} is running: {run.done:,} of {run.items:,}", True)
    if not found.judged:
        easy = "execution runs solutions against their tests" if found.code else "rules needs no model server"
        return BeginStep("Verifiers", f"none has been run yet; {easy}", False)
    have = "have" if len(found.judged) > 1 else "has"
    said = f"{', '.join(found.judged)} {have} judged"
    behind = max(found.newest, key=lambda run: run.new)
    if behind.new:
        came = f"{counted(behind.new, 'new item')} {verb_wait(behind.new)} for {behind.verifier}"
        return BeginStep("Verifiers", f"{said}; {came}: start it again to continue", False)
    return BeginStep("Verifiers", said + "".join(f"; {words}" for words in found.passing), True)


def _people_step(found: ProjectProgress) -> BeginStep:
    those = [one for one in found.counts.people if one.done or one.left or one.settled]
    if not those:
        waits = "not needed for a metric: the file has gold" if found.gold else "no annotators yet"
        return BeginStep("People", waits, False)
    return BeginStep("People", "; ".join(map(_work_text, those)), True)


def _work_text(one: PersonProgress) -> str:
    labels = [f"{one.done:,} done, {one.left:,} left"] if one.done or one.left else []
    return f"{one.name} {', '.join([*labels, *([f'{one.settled:,} resolved'] if one.settled else [])])}"


def _metric_step(found: ProjectProgress) -> BeginStep:
    by = "subtype" if found.typed is not False else "data set"
    what = "each problem's pass matrix" if found.code else f"accuracy by {by}"
    if found.missing:
        return BeginStep("First metric", f"{what}; it still needs {', then '.join(found.missing)}", False)
    offered = "; by subtype once questions have types: they can be derived from the references"
    told = "" if found.code or found.typed else offered
    return BeginStep("First metric", f"{what}{told}", True)


class BeginScreen(LiveScreen):
    """The list of steps; enter, or a step's number, opens it.

    Attributes:
        standing: The project's progress; None until it has been read.
    """

    CSS_PATH = "begin.tcss"
    TITLE_TEXT, PALETTE = "Begin", True
    REMARK = "from a file to a first metric; any step can be skipped and resumed"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        *(
            Action(f"begin.step-{number}", str(number), f"step({number})", name, f"Go to step {number}.", False)
            for number, name in enumerate(("File", "Verifiers", "People", "First metric"), 1)
        ),
        Action("begin.types", "t", "types", "Types", "Derive answer types from the references."),
    )
    standing: ProjectProgress | None = None
    _offered_types = False

    def content(self) -> ComposeResult:
        yield OptionList(id="begin-steps", markup=False)
        yield Static(
            "Stored data stays, whatever happens in the next step.",
            id="begin-about",
            markup=False,
        )

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> ProjectProgress:
        counts, runs = status(self.project), run_status.runs(self.project)
        code = bool(problems.datasets(self.project))
        suites = problems.runnable_suites(self.project) if code else []
        if not any(run.completed_at for run in runs):
            return ProjectProgress(counts, runs, gold=False, typed=None, code=code, suites=suites)
        passing = [
            _passing_text(self.project, run) for run in runs if code and run.kind == problems.KIND and run.completed_at
        ]
        report = ProjectFacts(self.project, counts, runs).report
        gold = any(many for source, many in report.gold.items() if source != "none")
        typed = any(row.n for row in report.rows if row.group not in (None, UNTYPED))
        return ProjectProgress(counts, runs, gold=gold, typed=typed, code=code, suites=suites, passing=passing)

    def must_read(self) -> bool:
        return self.standing is not None and any(run.state in ACTIVE for run in self.standing.runs)

    def show(self, data: ProjectProgress) -> None:
        first = self.standing is None
        before, self.standing = self.standing, data
        listed, menu = steps(data), self.query_one(OptionList)
        at = menu.highlighted
        menu.set_options([Option(_step_line(number, step)) for number, step in enumerate(listed, 1)])
        moved = before is not None and [one.done for one in steps(before)] != [one.done for one in listed]
        undone = next((place for place, step in enumerate(listed) if not step.done), len(listed) - 1)
        if not data.missing and undone == 2:
            undone = 3
        menu.highlighted = undone if first or moved else at

    # -- the steps ---------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _work_under(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_step(event.option_index + 1)

    def action_step(self, number: int) -> None:
        (partial(self.workbench.open_verb, "import"), self._choose_verifier, self._ask_people, self._open_metric)[
            number - 1
        ]()

    def _has_items(self) -> bool:
        if self.standing is not None and self.standing.counts.items:
            return True
        self.notify("There are no items yet: begin with a file.", markup=False)
        return False

    def _choose_verifier(self) -> None:
        if self._has_items():
            choices = [*self._verifier_choices(), Choice(_OTHER, "another verifier, or a judge: choose and configure")]
            choose(self, ChoiceMenu("Which verifier?", choices, wide=True), self._verifier_chosen)

    def _verifier_choices(self) -> Iterator[Choice]:
        if self.standing is None or not self.standing.code:
            yield Choice(_RULES, "rules: type-aware, needs no model server; start it now")
        for place, one in enumerate(() if self.standing is None else self.standing.suites):
            words = f"{one.name}: run every solution against its tests ({one.words}); start it now"
            yield Choice(str(place), printable(words))

    def _verifier_chosen(self, chosen: str) -> None:
        if chosen == _OTHER:
            self.workbench.action_start_verifier()
        elif chosen == _RULES:
            self._begin_run(_RULES, {}, None)
        elif self.standing is not None:
            one = self.standing.suites[int(chosen)]
            self._begin_run(problems.KIND, {"suite": one.option}, one.name)

    def _begin_run(self, kind: str, options: dict[str, str], name: str | None) -> None:
        work = partial(verifying.start, self.project, kind, options, name)
        self.in_background(work, self._report_started, group="begin-start")

    def _report_started(self, run: RunInfo) -> None:
        self.notify(f"{run.verifier} judges {counted(run.items, 'item')}, run {run.run}.", markup=False)
        self.read_again()

    def _ask_people(self) -> None:
        if self._has_items():
            choices = [
                Choice(_ME, "just me: every item once"),
                Choice(_SEVERAL, "several people: their names, and labels per item"),
            ]
            choose(self, ChoiceMenu("Who labels?", choices, wide=True), self._annotators_chosen)

    def _annotators_chosen(self, chosen: str) -> None:
        if chosen == _SEVERAL:
            self.workbench.open_verb("assign")
        else:
            self.workbench.unstored_lines.setdefault((_WHO, _ME), _own_name())
            self.ask_line(_WHO, _ME, self._use_typed_name)

    def _use_typed_name(self, name: str) -> None:
        work = partial(people.assign, self.project, [name], per_item=1)
        self.in_background(work, partial(self._report_assigned, name), group="begin-people")

    def _report_assigned(self, name: str, done: Assigned) -> None:
        self.line_stored(_WHO, _ME)
        self.workbench.working_as["annotator"] = name
        said = done.nothing or f"{counted(done.assigned, 'item')} to label; Annotate, on Home, serves them."
        self.notify(f"{said} {earlier_text(done)}".strip(), title=printable(name), markup=False)
        self.read_again()

    def _open_metric(self) -> None:
        standing = self.standing
        if standing is None or standing.missing:
            waits = ", then ".join(standing.missing) if standing else "the counts"
            self.notify(f"The metric still needs {waits}.", markup=False)
        elif standing.code:
            self.workbench.open_screen("code")
        elif not standing.typed and not self._offered_types:
            self._offered_types = True
            self.action_types()
        else:
            from workbench.app.tui.screens.accuracy import AccuracyScreen

            self.app.push_screen(AccuracyScreen(by="subtype" if standing.typed else "dataset"))

    def action_types(self) -> None:
        from workbench.app.tui.screens.type_proposals import TypeProposalsScreen

        if self._has_items():
            self.app.push_screen(TypeProposalsScreen())


def _passing_text(project: Project, run: RunInfo) -> str:
    info = run_status.run_info(project, run.run)
    said = info.verdicts or {"correct": 0, "incorrect": 0}
    judged = said["correct"] + said["incorrect"]
    passing = f"{said['correct']:,} of {counted(judged, 'solution')} pass" if judged else "no solution could be judged"
    return f"{passing} in {run.verifier}{f': {info.untested}' if info.untested else ''}"


def _own_name() -> str:
    with suppress(OSError, KeyError):
        return getpass.getuser()
    return ""


def _step_line(number: int, step: BeginStep) -> Content:
    mark = ("✓ ", "bold $text-success") if step.done else ("○ ", "$text-muted")
    key = f" {key_of(f'begin.step-{number}')} "
    return Content.assemble((key, "bold"), mark, (f"{step.title}\n", "bold"), f"     {printable(step.state)}\n")
