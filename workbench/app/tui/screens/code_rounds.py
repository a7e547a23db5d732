"""Evolution: the problems whose tests grow harder round by round, and how their solutions perform on them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final, NamedTuple

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import following
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.table_screen import TableScreen
from workbench.coding.evolution import evolved
from workbench.coding.evolution.evolving import EvolutionName, evolution_names, problems_in
from workbench.coding.problems import task_ids
from workbench.coding.records.evolution import EvolutionReport, ProblemEvolution, ProblemRound
from workbench.core.project import Project
from workbench.core.text.figures import NONE, counted, percent
from workbench.tables.document import Cell
from workbench.tables.table import Columns, column, count, word

_LEFT_OUT: Final = {"few_tests": "out: few tests", "too_easy": "out: too easy"}

_NONE_YET: Final = "No evolution yet. The command Code evolve makes a suite of tests harder, round by round."


class GrownProblem(NamedTuple):
    """A problem (``question`` is its row id) and the metrics of its tests and solutions by round; None if unknown."""

    question: int
    task_id: str
    found: ProblemEvolution | None


class Grown(NamedTuple):
    """The data of an evolution.

    Attributes:
        names: Names of all evolutions.
        shown: Name of the shown evolution.
        problems: Row ids of its problems.
    """

    names: tuple[EvolutionName, ...]
    shown: EvolutionName
    report: EvolutionReport
    problems: array[int]


class CodeRoundsScreen(TableScreen, LiveScreen):
    """The problems of an evolution; its tables and plots are the command's.

    Args:
        question: The initial problem.

    Attributes:
        found: The shown data; None until it has been loaded, or if there is none.
    """

    TITLE_TEXT = "Evolution"
    PREFIX, ABOVE = "code-rounds", ("caption",)
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-rounds.open", "enter", "open_row", "Open", "Open the problem, with its final tests."),
        Action("code-rounds.tables", "w", "tables", "Tables", "Show rounds, sources, scores, steps and models."),
        Action("code-rounds.evolution", "]", "next_evolution", "Evolution", "Show the next evolution."),
    )

    def __init__(self, question: int | None = None) -> None:
        super().__init__()
        self.found: Grown | None = None
        self._question = question
        self._wanted: EvolutionName | None = None

    # -- reading and showing -----------------------------------------------------------------------

    def read(self) -> Grown | None:
        wanted, question = self._wanted, self._question
        names = evolution_names(self.project)
        if not names:
            return None
        having = [one for one in names if question is not None and question in problems_in(self.project, one)]
        shown = wanted if wanted in names and wanted is not None else (having or names)[-1]
        row = evolved.evolution(self.project, shown.name, shown.dataset)
        return Grown(names, shown, evolved.report(self.project, row), problems_in(self.project, shown))

    def show(self, data: Grown | None) -> None:
        before, self.found = self.found, data
        if data is None:
            self.say(printable(self.project.path.name))
            self.put("caption", _NONE_YET)
            return
        of = f" · {data.names.index(data.shown) + 1} of {len(data.names)}" if len(data.names) > 1 else ""
        self.say(f"{printable(data.shown.name)} · {printable(data.shown.dataset)}{of}")
        self.put("caption", _caption_text(data.report))
        if before is None or before.shown != data.shown or before.report != data.report:
            read = partial(_read_problems, self.project, data.shown)
            self.table.set_source(FixedSource(_PROBLEMS, data.problems, read, lambda one: one.question))
            if self._question is not None:
                self.table.jump_to_id(self._question)
                self._question = None

    # -- actions -----------------------------------------------------------------------------------

    def action_tables(self) -> None:
        if self.found is not None:
            shown = self.found.shown
            self.workbench.run_verb("code evolve", name=shown.name, dataset=shown.dataset, show="yes")

    def action_next_evolution(self) -> None:
        if self.found is None or len(self.found.names) < 2:
            self.notify("There is no other evolution.")
            return
        self._wanted = following(self.found.shown, self.found.names)
        self.read_again()

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        if self.found is not None:
            suite = self.found.shown.name
            self.app.push_screen(CodeProblemScreen(row, suite=suite, neighbours=self.found.problems))


def _read_problems(project: Project, shown: EvolutionName, questions: Sequence[int]) -> list[GrownProblem]:
    row = evolved.evolution(project, shown.name, shown.dataset)
    named = task_ids(project, questions)
    return [
        GrownProblem(question, named[question], evolved.problem_evolution(project, row, question))
        for question in questions
        if question in named
    ]


def _caption_text(report: EvolutionReport) -> str:
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


def _join_rounds(found: ProblemEvolution | None, said: Callable[[ProblemRound], str]) -> str:
    return " → ".join(map(said, () if found is None else found.rounds)) or NONE


def _perfect_by_round(found: ProblemEvolution | None) -> str:
    solutions = 0 if found is None else len(found.solutions)
    return _join_rounds(found, lambda one: percent(one.perfect / solutions if solutions and one.kept else None, 0))


def _result_cell(found: ProblemEvolution | None) -> Cell:
    if found is None or not found.rounds:
        return Cell("not through all rounds", "dim")
    left_out = found.rounds[-1].left_out
    return Cell(_LEFT_OUT[left_out], "dim") if left_out in _LEFT_OUT else Cell("in the set", "success")


_PROBLEMS: Columns[GrownProblem] = (
    word("problem", lambda one: one.task_id, room=(12, 24)),
    count("pool", lambda one: 0 if one.found is None else len(one.found.solutions), room=5),
    word("tests by round", lambda one: _join_rounds(one.found, lambda round: str(len(round.kept))), room=(16, 24)),
    word("pass@1 % by round", lambda one: _perfect_by_round(one.found), room=(18, 24), tone="bold"),
    column("result", lambda one: one.found, _result_cell, words=True, room=(16, 24)),
)
