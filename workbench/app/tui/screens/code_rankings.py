"""Rankings: how verifiers rank and score solutions compared with test results, overall and on one problem."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar, Final

from textual import on
from textual.app import ComposeResult

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import index_of
from workbench.app.tui.kit.pass_view import TRUTH
from workbench.app.tui.kit.table_messages import RowSelected
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import WorkbenchScreen
from workbench.coding.ranking.measuring import RankedVerifiers, compare_verifiers
from workbench.coding.ranking.scores import truth_of
from workbench.coding.ranking.tables import exclusion_notes, ranking_table
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.text.figures import NONE, number
from workbench.measuring.browsing import reveal_each
from workbench.statistics.records.ranking import RankingReport, ScoredProblem, ScoredSolution
from workbench.tables.document import Cell
from workbench.tables.table import Column, Columns, column, text, word

SELECTED = 5
"""Number of solutions per problem that ``f`` restricts the metrics to, as ``workbench code metrics --k 5`` does."""


_EMPTY: Final = """\
This screen compares verifiers that score solutions, such as judges, with the order given by the tests. Start one \
in Verifiers & runs. Each problem's screen shows the order by tests alone, the best solution first.\
"""


class CodeRankingsScreen(WorkbenchScreen):
    """Metrics of the verifiers above the solutions of one problem.

    Args:
        question: The problem whose solutions are ranked.
        neighbours: Row ids of the problems ``[`` and ``]`` go to, in order.

    Attributes:
        report: The verifiers' metrics; None until they have been loaded.
        k: Number of solutions per problem that the metrics use; None for all.
    """

    TITLE_TEXT, PREFIX = "Rankings", "code-rankings"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-rankings.open", "enter", "open_solution", "Open", "Open the solution in the pass matrix."),
        Action("code-rankings.next", "]", "go(1)", "Next", "Show the next problem."),
        Action("code-rankings.previous", "[", "go(-1)", "Previous", "Show the previous problem.", False),
        Action("code-rankings.selected", "w", "selected", "Selected", "Use 5 selected solutions per problem, or all."),
        Action("code-rankings.pane", "tab", "app.focus_next", "Pane", "Go to the other table."),
    )

    def __init__(self, question: int, neighbours: Sequence[int] = ()) -> None:
        super().__init__()
        self.question = question
        self.report: RankingReport | None = None
        self.k: int | None = None
        self._neighbours = neighbours
        self._compared: RankedVerifiers | None = None

    def content(self) -> ComposeResult:
        yield from self.texts("notes")
        yield VirtualTable(id="code-rankings-figures")
        yield from self.texts("problem")
        yield VirtualTable(id="code-rankings-solutions")

    def on_mount(self) -> None:
        self.query_one("#code-rankings-solutions", VirtualTable).focus()
        self._load_metrics()

    def _load_metrics(self) -> None:
        def work() -> RankedVerifiers:
            return compare_verifiers(self.project, truth_of(self.project), k=self.k)

        self.in_background(work, self._show_metrics, group="code-figures", stops=True)

    def _read_problem(self) -> None:
        if self._compared is not None:
            problem = next((one for one in self._compared.problems if one.question == self.question), None)
            work = partial(_reveal_ranked, self.project, problem, self.workbench.names_worked_under)
            show = partial(self._show_problem, self._compared.verifiers, problem)
            self.in_background(work, lambda _: show(), group="code-ranked")

    # -- showing -----------------------------------------------------------------------------------

    def _show_metrics(self, found: RankedVerifiers) -> None:
        self.set_class(False, "empty")
        self._compared, self.report = found, found.report
        self.say(printable(self.project.path.name))
        table = ranking_table(found.report)
        scaled = ["* scaled to 0 … 1 in each problem"] if any(row.normalised for row in found.report.rows) else []
        notes = (table.caption, *scaled, *exclusion_notes(found.report))
        self.put("notes", "\n".join(map(printable, notes)))
        self.query_one("#code-rankings-figures", VirtualTable).show_table(table)
        self._read_problem()

    def _show_problem(self, verifiers: Sequence[str], problem: ScoredProblem | None) -> None:
        table = self.query_one("#code-rankings-solutions", VirtualTable)
        solutions = () if problem is None else sorted(problem.solutions, key=lambda one: (one.rank is None, one.rank))
        rows = {one.item: one for one in solutions}
        table.show_records(solution_columns(verifiers), rows.items())
        if rows and table.selected_id not in rows:
            table.jump_to_id(next(iter(rows)))
        at = index_of(self._neighbours, self.question)
        place = "" if at is None else f" · {at + 1:,} of {len(self._neighbours):,}"
        named = "none of its solutions is selected" if problem is None else printable(problem.task_id)
        said = f"{named}{place} · ↑ ranked too high, ↓ too low"
        figures = "" if problem is None or self.report is None else problem_correlations(self.report, problem)
        self.put("problem", f"{said}\n{figures}")

    def show_error(self, error: BaseException | None) -> None:
        if isinstance(error, UsageError):
            self.say("no metrics yet")
            self.set_class(True, "empty")
            self.put("notes", f"{printable(str(error))}\n\n{_EMPTY}")
        else:
            super().show_error(error)

    # -- actions -----------------------------------------------------------------------------------

    def action_selected(self) -> None:
        self.k = SELECTED if self.k is None else None
        self._load_metrics()

    def action_go(self, step: int) -> None:
        beside = self.neighbour(self._neighbours, self.question, step, "problem")
        if beside is not None:
            self.question = beside
            self._read_problem()

    def action_open_solution(self) -> None:
        self.query_one("#code-rankings-solutions", VirtualTable).action_open()

    @on(RowSelected, "#code-rankings-solutions")
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.app.tui.screens.code_problem import CodeProblemScreen

        screen = CodeProblemScreen(self.question, neighbours=self._neighbours, solution=event.row_id)
        self.app.push_screen(screen)


def _reveal_ranked(project: Project, problem: ScoredProblem | None, also: Collection[str]) -> None:
    if problem is not None:
        reveal_each(project, [one.item for one in problem.solutions], also)


def problem_correlations(report: RankingReport, problem: ScoredProblem) -> str:
    found = (
        f"{printable(row.verifier)} {number(row.spearman)}"
        for row in report.problems
        if (row.dataset, row.task_id) == (problem.dataset, problem.task_id)
    )
    return "Spearman with truth: " + (" · ".join(found) or NONE)


# -- one problem -----------------------------------------------------------------------------------


def solution_columns(verifiers: Sequence[str]) -> Columns[ScoredSolution]:
    """Return the columns for the true score and rank, then for each verifier's."""

    def score(name: str) -> Column[ScoredSolution]:
        room = (7, max(7, min(16, len(name) + 1)))
        return column(name, lambda one: one.scores.get(name), number, key=f"{name} score", room=room)

    def rank(name: str) -> Column[ScoredSolution]:
        def cell(one: ScoredSolution) -> Cell:
            return _rank_cell(one.rank, one.ranks.get(name))

        return text("rank", cell, by=lambda one: one.ranks.get(name), key=f"{name} rank of", room=5)

    return (
        word("solution", lambda one: one.solution_id + (TRUTH if one.ground_truth else ""), room=(8, 16)),
        column("truth", lambda one: one.score, number, key="truth", room=7, tone="bold"),
        column("rank", lambda one: one.rank, _format_rank, key="truth rank", room=5),
        *(one for name in verifiers for one in (score(name), rank(name))),
    )


def _rank_cell(truth: float | None, rank: float | None) -> Cell:
    if truth is None or rank is None:
        return Cell(f"{_format_rank(rank)} ", "dim")
    arrow = "↑" if rank < truth else "↓" if rank > truth else "="
    return Cell(_format_rank(rank) + arrow, "success" if rank == truth else "warning")


def _format_rank(rank: float | None) -> str:
    return NONE if rank is None else f"{rank:g}"
