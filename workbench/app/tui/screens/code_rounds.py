"""Evolution: how suites of tests grow harder round by round, and how solutions fare against them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final, Literal, NamedTuple, get_args

from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.columns import TableCell, TableColumn, TableRow
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.switches import following
from workbench.app.tui.table_screen import TableScreen
from workbench.coding.evolution import evolved
from workbench.coding.evolution.evolving import EvolutionName, evolution_names, problems_in
from workbench.coding.problems import task_ids
from workbench.coding.records.evolution import REJECTIONS, EvolutionReport, ProblemEvolution, StepRow
from workbench.core.project import Project
from workbench.core.text.figures import NONE, bar, counted, percent

_BAR: Final = 20  # cells of a full bar

_FIRST_K: Final = "1"

_LEFT_OUT: Final = {"few_tests": "out: few tests", "too_easy": "out: too easy"}

_PROBLEM_COLUMNS: Final = (
    TableColumn("task_id", "problem", min_width=12, ideal_width=24),
    TableColumn("pool", "pool", 5, 5, "right"),
    TableColumn("tests", "tests by round", min_width=16, ideal_width=24),
    TableColumn("passing", "pass@1 % by round", min_width=18, ideal_width=24),
    TableColumn("state", "result", min_width=16, ideal_width=24),
)

_STEP_COLUMNS: Final = (
    TableColumn("step", "step", 16, 18),
    *(
        TableColumn(key, title, width, width, "right")
        for key, title, width in (
            ("asked", "asked", 6),
            ("replied", "replied", 7),
            ("proposed", "proposed", 8),
            ("taken", "taken", 6),
            ("kept", "kept", 6),
        )
    ),
    TableColumn("rejected", "not taken", 14, 60),
)

_MODEL_COLUMNS: Final = (
    TableColumn("model", "model", 12, 30),
    TableColumn("problems", "problems", 8, 8, "right"),
    TableColumn("solutions", "solutions", 9, 9, "right"),
    TableColumn("passing", "pass@1 on the final suites", 26, 30),
)


Listed = Literal["problems", "steps", "models"]
"""What stands below the rounds."""

_NONE_YET: Final = "No evolution yet: workbench code evolve DB --name NAME …"


class Grown(NamedTuple):
    """What has been read of an evolution.

    Attributes:
        names: All evolutions there are.
        shown: Which of them this is.
        problems: Row ids of its problems.
    """

    names: tuple[EvolutionName, ...]
    shown: EvolutionName
    report: EvolutionReport
    problems: array[int]


class CodeRoundsScreen(TableScreen, LiveScreen):
    """Rounds with bars above a table of the problems, the steps or the models.

    Args:
        question: The problem to begin at.

    Attributes:
        found: What is shown; None until it has come, or where there is none.
        listed: What stands below.
    """

    CSS_PATH = "code_rounds.tcss"
    TITLE_TEXT = "Evolution"
    PREFIX = "code-rounds"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-rounds.open", "o,enter", "open_row", "Open", "Open the problem, with the tests it has ended in."),
        Action("code-rounds.list", "w", "next_list(1)", "List", "List problems, steps or models."),
        Action("code-rounds.list-before", "W", "next_list(-1)", "List before", "List the kind before.", footer=False),
        Action("code-rounds.evolution", "u", "next_evolution", "Evolution", "Show the next evolution."),
    )

    def __init__(self, question: int | None = None) -> None:
        super().__init__()
        self.found: Grown | None = None
        self.listed: Listed = "problems"
        self._question = question
        self._wanted: EvolutionName | None = None

    def above(self) -> Iterator[Widget]:
        """The chart, and what is listed below it."""
        yield Static(id="code-rounds-caption", markup=False)
        yield VerticalScroll(Static(markup=False), id="code-rounds-chart", can_focus=False)
        yield Static(id="code-rounds-tabs", markup=False)

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> Grown | None:
        """The evolution's figures; slow where it has many problems."""
        return _read(self.project, self._wanted, self._question)

    def show(self, data: Grown | None) -> None:
        """Fill the chart and the table."""
        before, self.found = self.found, data
        if data is None:
            self.say(printable(self.project.path.name))
            self.put("caption", _NONE_YET)
            return
        of = f" · {data.names.index(data.shown) + 1} of {len(data.names)}" if len(data.names) > 1 else ""
        self.say(f"{printable(data.shown.name)} · {printable(data.shown.dataset)}{of}")
        self.put("caption", _caption(data.report))
        self.query_one("#code-rounds-chart Static", Static).update(_chart(data.report))
        if before is None or before.shown != data.shown or before.report != data.report:
            self._list(data)

    def _list(self, found: Grown) -> None:
        tabs = (f"[{name}]" if name == self.listed else f" {name} " for name in get_args(Listed))
        self.put("tabs", " ".join(tabs))
        if self.listed == "problems":
            rows = partial(_problem_rows, self.project, found.shown)
            self.table.set_source(FixedSource(_PROBLEM_COLUMNS, found.problems, rows))
            if self._question is not None:
                self.table.jump_to_id(self._question)
                self._question = None
        elif self.listed == "steps":
            self.table.show_rows(_STEP_COLUMNS, _step_rows(found.report))
        else:
            self.table.show_rows(_MODEL_COLUMNS, _model_rows(found.report))

    # -- actions -----------------------------------------------------------------------------------

    def action_next_list(self, step: int) -> None:
        """List something else."""
        self.listed = following(self.listed, get_args(Listed)[::step])
        if self.found is not None:
            self._list(self.found)

    def action_next_evolution(self) -> None:
        """Show another evolution."""
        if self.found is None or len(self.found.names) < 2:
            self.notify("There is no other evolution.", markup=False)
            return
        self._wanted = following(self.found.shown, self.found.names)
        self.read_again()

    def opened(self, row: int) -> None:
        """Open the problem."""
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        if self.found is not None and self.listed == "problems":
            suite = self.found.shown.name
            self.app.push_screen(CodeProblemScreen(row, suite=suite, neighbours=self.found.problems))


def _read(project: Project, wanted: EvolutionName | None, question: int | None) -> Grown | None:
    """Runs in a thread. Without a wish: the newest evolution, or the newest that has the problem."""
    names = evolution_names(project)
    if not names:
        return None
    having = [one for one in names if question is not None and question in problems_in(project, one)]
    shown = wanted if wanted in names and wanted is not None else (having or names)[-1]
    row = evolved.evolution(project, shown.name, shown.dataset)
    return Grown(names, shown, evolved.report(project, row), problems_in(project, shown))


def _problem_rows(project: Project, shown: EvolutionName, questions: Sequence[int]) -> list[TableRow]:
    """Runs in a thread."""
    row = evolved.evolution(project, shown.name, shown.dataset)
    named = task_ids(project, questions)
    return [
        _problem_row(named[question], evolved.problem_evolution(project, row, question), question)
        for question in questions
        if question in named
    ]


def _chart(report: EvolutionReport) -> str:
    """The rounds, a line each: tests, and pass@1 as a bar; round 0 is what it began with."""
    lines = [f"{'round':>5} {'problems':>8} {'tests':>6} {'each':>5}  {'pass@1':<{_BAR + 7}} {'alike %':>7}  left out"]
    for row in report.rounds:
        share = row.pass_at.get(_FIRST_K)
        out = ", ".join(f"{name} {number}" for name, number in row.left_out.items())
        mean = NONE if row.mean_tests is None else f"{row.mean_tests:.1f}"
        lines.append(
            f"{row.round:>5} {row.problems:>8,} {row.tests:>6,} {mean:>5}  {_barred(share)} "
            f"{percent(row.kept_alike, 0):>7}  {out or NONE}"
        )
    return "\n".join(lines)


def _caption(report: EvolutionReport) -> str:
    """What it is, and how far it has come."""
    settings = report.settings
    skipped = sum(report.skipped.values())
    parts = [
        f"{report.finished:,} of {counted(report.problems, 'problem')} through {counted(settings.rounds, 'round')}",
        f"from suite {printable(settings.suite)}",
        f"tests by {printable(settings.model)}",
        f"seed {settings.seed}",
        f"{skipped:,} can't evolve" if skipped else "",
    ]
    return " · ".join(filter(None, parts))


def _barred(share: float | None) -> str:
    return f"{bar(share or 0.0, _BAR)} {percent(share):>6}"


def _problem_row(task_id: str, found: ProblemEvolution | None, question: int) -> TableRow:
    """One problem: how its tests and its solutions fare from round to round."""
    rounds = () if found is None else found.rounds
    solutions = 0 if found is None else len(found.solutions)
    state = _LEFT_OUT.get(rounds[-1].left_out or "", "in the set") if rounds else "not through all rounds"
    return TableRow(
        question,
        (
            TableCell(task_id),
            TableCell(f"{solutions:,}"),
            TableCell(_arrows([str(len(one.kept)) for one in rounds])),
            TableCell(
                _arrows([percent(one.perfect / solutions if solutions and one.kept else None, 0) for one in rounds]),
                "bold",
            ),
            TableCell(state, "success" if state == "in the set" else "dim"),
        ),
    )


def _arrows(values: Sequence[str]) -> str:
    return " → ".join(values) or NONE


def _step_rows(report: EvolutionReport) -> list[TableRow]:
    """What each step of each round brought."""
    return [
        TableRow(
            place,
            (
                TableCell(f"{one.round} {one.mode}"),
                *(
                    TableCell(f"{number:,}")
                    for number in (one.asked, one.replied, one.proposed, one.taken, one.retained)
                ),
                TableCell(_rejected(one), "dim"),
            ),
        )
        for place, one in enumerate(report.steps)
    ]


def _rejected(one: StepRow) -> str:
    return ", ".join(f"{number} {REJECTIONS.get(code, code)}" for code, number in one.rejected.items()) or NONE


def _model_rows(report: EvolutionReport) -> list[TableRow]:
    """How each model's solutions fare against the result."""
    return [
        TableRow(
            place,
            (
                TableCell(one.model or "unknown"),
                TableCell(f"{one.problems:,}"),
                TableCell(f"{one.solutions:,}"),
                TableCell(_barred(one.pass_at.get(_FIRST_K))),
            ),
        )
        for place, one in enumerate(report.models)
    ]
