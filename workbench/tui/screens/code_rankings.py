"""Rankings: how verifiers rank and score solutions against what tests say of them, in all and on one problem."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.widgets import Static

from workbench.errors import UsageError
from workbench.model.ranking import RankingReport, ScoredProblem
from workbench.services.coding.ranking.measuring import RankedVerifiers, compared
from workbench.services.coding.ranking.truth import truth_of
from workbench.services.items.browsing import reveal_each
from workbench.services.project import Project
from workbench.tui.actions import Action
from workbench.tui.neighbours import index_of
from workbench.tui.screen import WorkbenchScreen
from workbench.tui.switches import following
from workbench.tui.widgets import rankings_view as view
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.table_messages import RowHighlighted, RowSelected
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

WIDE = 150
"""Terminal columns from which figures have their intervals beside them."""


SELECTED = 5
"""Solutions of each problem that ``f`` narrows the figures to, as ``workbench code metrics --k 5`` does."""


class RankedProblem(NamedTuple):
    """One problem's solutions with the scores of these verifiers."""

    verifiers: tuple[str, ...]
    problem: ScoredProblem | None


class CodeRankingsScreen(WorkbenchScreen):
    """Figures of the verifiers above the solutions of one problem.

    Args:
        question: The problem whose solutions are ranked.
        neighbours: Row ids of the problems ``[`` and ``]`` go to, in order.

    Attributes:
        report: The figures; None until they have come.
        ranked: The problem; None until it has come.
        k: How many solutions of each problem are measured and shown; None for all.
        by: By whose scores the solutions stand: a verifier, or truth.
    """

    CSS_PATH = "code_rankings.tcss"
    TITLE_TEXT = "Rankings"
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-rankings.open", "o,enter", "open_solution", "Open", "Open the solution in the pass matrix."),
        Action("code-rankings.order", "s", "next_order(1)", "Sort by", "Sort by the next verifier's scores, or truth."),
        Action("code-rankings.order-before", "S", "next_order(-1)", "Sort before", "Sort by the one before.", False),
        Action("code-rankings.next", "n,right_square_bracket", "go(1)", "Next", "Show the next problem."),
        Action("code-rankings.previous", "N,p,left_square_bracket", "go(-1)", "Previous", "The problem before.", False),
        Action("code-rankings.selected", "f", "selected", "Selected", "Only 5 solutions a problem, or all again."),
        Action("code-rankings.pane", "tab", "app.focus_next", "Pane", "Go to the other table."),
    )

    def __init__(self, question: int, neighbours: Sequence[int] = ()) -> None:
        super().__init__()
        self.question = question
        self.report: RankingReport | None = None
        self.ranked: RankedProblem | None = None
        self.by = view.BY_TRUTH
        self.k: int | None = None
        self._neighbours = neighbours
        self._compared: RankedVerifiers | None = None

    def compose(self) -> ComposeResult:
        """The frame; figures and solutions come later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield Static("", id="code-rankings-notes", markup=False)
        yield VirtualTable(id="code-rankings-figures")
        yield Static("", id="code-rankings-problem", markup=False)
        yield VirtualTable(id="code-rankings-solutions")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read."""
        self.query_one("#code-rankings-solutions", VirtualTable).focus()
        self._measure()

    def _measure(self) -> None:
        self.in_background(
            partial(_figures, self.project, self.k), self._show_figures, group="code-figures", stops=True
        )

    def _open(self) -> None:
        """Show the problem with the very solutions that the figures are counted from."""
        if self._compared is not None:
            found = (one for one in self._compared.problems if one.question == self.question)
            ranked = RankedProblem(self._compared.verifiers, next(found, None))
            work = partial(_seen, self.project, ranked, self.workbench.names_worked_under)
            self.in_background(work, self._show_problem, group="code-ranked")

    # -- showing -----------------------------------------------------------------------------------

    def _show_figures(self, found: RankedVerifiers) -> None:
        self._compared, self.report = found, found.report
        self.say(printable(self.project.path.name))
        self._tell_figures()
        self._fill_figures()
        self._open()

    def _tell_figures(self) -> None:
        """What the figures are over, and those of the verifier under the cursor with their intervals."""
        if self.report is None:
            return
        place = self.query_one("#code-rankings-figures", VirtualTable).selected_id or 0
        about = view.intervals(self.report.rows[place]) if place < len(self.report.rows) else ""
        self.query_one("#code-rankings-notes", Static).update(f"{view.notes(self.report)}\n{about}")

    @on(RowHighlighted, "#code-rankings-figures")
    def _highlighted(self) -> None:
        self._tell_figures()

    def _fill_figures(self) -> None:
        if self.report is None:
            return
        wide = self.size.width >= WIDE
        table = self.query_one("#code-rankings-figures", VirtualTable)
        columns, rows = view.figure_columns(wide=wide), view.figure_rows(self.report, wide=wide)
        table.show_rows(columns, rows)

    def on_resize(self, event: events.Resize) -> None:
        """Other columns at another width."""
        if self.is_attached:
            self.call_after_refresh(self._fill_figures)

    def _show_problem(self, ranked: RankedProblem) -> None:
        self.ranked = ranked
        if self.by not in (view.BY_TRUTH, *ranked.verifiers):
            self.by = view.BY_TRUTH
        self._fill_problem()

    def _fill_problem(self) -> None:
        if self.ranked is None:
            return
        verifiers, problem = self.ranked
        table = self.query_one("#code-rankings-solutions", VirtualTable)
        columns = view.solution_columns(verifiers, self.by)
        rows = [] if problem is None else view.solution_rows(problem, verifiers, self.by)
        table.show_rows(columns, rows)
        if rows and table.selected_id not in {row.id for row in rows}:
            table.jump_to_id(rows[0].id)
        at = index_of(self._neighbours, self.question)
        place = "" if at is None else f" · {at + 1:,} of {len(self._neighbours):,}"
        named = "nothing of it is chosen" if problem is None else printable(problem.task_id)
        said = f"{named}{place} · by {printable(self.by)} · ↑ ranked too high, ↓ too low"
        figures = "" if problem is None or self.report is None else view.on_problem(self.report, problem)
        self.query_one("#code-rankings-problem", Static).update(f"{said}\n{figures}")

    def trouble(self, error: BaseException | None) -> None:
        """What is missing for figures stands in their place."""
        if isinstance(error, UsageError):
            self.say("no figures yet")
            said = f"{printable(error.message)}\n{printable(error.hint)}"
            self.query_one("#code-rankings-notes", Static).update(said)
        else:
            super().trouble(error)

    # -- actions -----------------------------------------------------------------------------------

    def action_selected(self) -> None:
        """Measure and show the solutions that selection would keep, or all again."""
        self.k = SELECTED if self.k is None else None
        self._measure()

    def action_next_order(self, step: int) -> None:
        """Sort the solutions by another verifier's scores."""
        if self.ranked is not None:
            self.by = following(self.by, (view.BY_TRUTH, *self.ranked.verifiers)[::step])
            self._fill_problem()

    def action_go(self, step: int) -> None:
        """Show a neighbour."""
        place = index_of(self._neighbours, self.question)
        if place is None or not 0 <= place + step < len(self._neighbours):
            self.notify("There is no problem further on." if step > 0 else "This is the first problem.", markup=False)
            return
        self.question = self._neighbours[place + step]
        self._open()

    def action_open_solution(self) -> None:
        """Open the solution under the cursor."""
        self.query_one("#code-rankings-solutions", VirtualTable).action_open()

    @on(RowSelected, "#code-rankings-solutions")
    def _row_selected(self, event: RowSelected) -> None:
        from workbench.tui.screens.code_problem import CodeProblemScreen

        screen = CodeProblemScreen(self.question, neighbours=self._neighbours, solution=event.row_id)
        self.app.push_screen(screen)


def _figures(project: Project, k: int | None) -> RankedVerifiers:
    """Runs in a thread."""
    return compared(project, truth_of(project), k=k)


def _seen(project: Project, ranked: RankedProblem, also: Collection[str]) -> RankedProblem:
    """Runs in a thread; the look at the solutions' scores is recorded."""
    if ranked.problem is not None:
        reveal_each(project, [one.item for one in ranked.problem.solutions], also)
    return ranked
