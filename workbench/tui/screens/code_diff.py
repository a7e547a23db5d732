"""Two solutions of a problem: what differs in their code, and the tests that tell them apart."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from workbench.model.pass_matrix import MatrixSolution, PassMatrix
from workbench.render.bars import counted
from workbench.render.diff import DiffLine, diff_rows
from workbench.services.coding.arranging import telling
from workbench.services.coding.matrix import solution_code
from workbench.services.items.browsing import reveal_each
from workbench.services.project import Project
from workbench.tui.actions import Action
from workbench.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.tui.widgets import diff_view, pass_texts
from workbench.tui.widgets.cells import printable
from workbench.tui.widgets.columns import OUTCOME_MARKS, TableCell, TableColumn, TableRow
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.reader import Reader
from workbench.tui.widgets.solution_view import outcome_cell, source_of
from workbench.tui.widgets.title_bar import TitleBar
from workbench.tui.widgets.virtual_table import VirtualTable

_COLUMNS = (
    TableColumn("test", "test", min_width=5, ideal_width=5, sortable=False),
    TableColumn("left", "-", min_width=18, ideal_width=18, sortable=False),
    TableColumn("right", "+", min_width=18, ideal_width=18, sortable=False),
    TableColumn("source", "source", min_width=20, ideal_width=80, sortable=False),
)


class CodeDiffScreen(WorkbenchScreen):
    """The first solution is the ``-`` side, the second one the ``+`` side.

    Args:
        matrix: The problem with its outcomes.
        left: Row id of the first solution.
        right: Row id of the second one.

    Attributes:
        whole: Show every line, not only those near a change.
        every: List every test, not only those that tell the two apart.
        rows: The comparison; None until it has come.
    """

    CSS_PATH = "code_diff.tcss"
    TITLE_TEXT = "Diff"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-diff.next", "n", "change(1)", "Next change", "Go to the next change."),
        Action("code-diff.previous", "N,p", "change(-1)", "Change before", "Go to the change before.", footer=False),
        Action("code-diff.swap", "s", "swap", "Swap", "Make the first of the second."),
        Action("code-diff.beside", "b", "beside", "Beside", "Side by side, or removed lines above added ones."),
        Action("code-diff.whole", "w", "whole", "Whole", "Show all lines, or only those near a change."),
        Action("code-diff.every", "t", "every", "All tests", "List all tests, or only those that tell the two apart."),
        Action("code-diff.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
    )

    def __init__(self, matrix: PassMatrix, left: int, right: int) -> None:
        super().__init__()
        self.matrix, self.left, self.right = matrix, left, right
        self.every = False
        self.rows: list[DiffLine] | None = None
        self.whole = False
        self._beside: bool | None = None

    def compose(self) -> ComposeResult:
        """The frame; the comparison comes later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield Static("", id="code-diff-sides", markup=False)
        yield Reader(id="code-diff-code")
        yield Static("", id="code-diff-telling", markup=False)
        yield VirtualTable(id="code-diff-tests")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read."""
        self.query_one(Reader).focus()
        self._open()

    def _solution(self, completion: int) -> MatrixSolution:
        return next(one for one in self.matrix.solutions if one.id == completion)

    def _open(self) -> None:
        self.rows = None
        self._tell()
        self._list()
        work = partial(_read, self.project, self.matrix, (self.left, self.right), self.workbench.names_worked_under)
        self.in_background(work, self._arrived, group="code-diff")

    def _arrived(self, rows: list[DiffLine]) -> None:
        self.rows = rows
        self._tell()
        self._draw()

    @property
    def beside(self) -> bool:
        """Whether both sides stand beside each other: as chosen, else where there is room."""
        return self.has_class("-wide") if self._beside is None else self._beside

    def _draw(self) -> None:
        reader = self.query_one(Reader)
        if self.rows is not None and reader.wrap_width:
            reader.show(diff_view.diff_text(self.rows, reader.wrap_width, beside=self.beside, whole=self.whole))
            self.call_after_refresh(reader.jump, diff_view.CHANGE)

    def on_resize(self, event: events.Resize) -> None:
        """Lay the sides out for another width."""
        if self.is_attached:
            self.call_after_refresh(self._draw)

    def _tell(self) -> None:
        changed = sum(row.kind != "same" for row in self.rows or ())
        said = "reading …" if self.rows is None else f"{counted(changed, 'line')} differ" if changed else "equal texts"
        self.say(f"{printable(self.matrix.problem.task_id)} · {said}")
        sides = (
            _side("-", "error", self._solution(self.left)),
            "\n",
            _side("+", "success", self._solution(self.right)),
        )
        self.query_one("#code-diff-sides", Static).update(Content.assemble(*sides))

    def _list(self) -> None:
        """The tests that tell the two apart."""
        left, right = self._solution(self.left), self._solution(self.right)
        apart = [] if self.matrix.own else telling(left.outcomes, right.outcomes)
        self.query_one("#code-diff-telling", Static).update(self._telling(left, right, len(apart)))
        tests = range(self.matrix.width) if self.every else apart
        rows = [
            TableRow(
                test,
                (
                    TableCell(str(test + 1)),
                    *(outcome_cell(pass_texts.letter_at(one.outcomes, test)) for one in (left, right)),
                    TableCell(source_of(self.matrix.test_of(left, test)), "dim"),
                ),
            )
            for test in tests
        ]
        self.query_one(VirtualTable).show_rows(_COLUMNS, rows)

    def _telling(self, left: MatrixSolution, right: MatrixSolution, apart: int) -> str:
        """How many tests tell the two apart, or why that can't be said."""
        suite = printable(self.matrix.suite)
        if self.matrix.own:
            return f"In suite {suite} each solution has tests of its own"
        if not (left.outcomes and right.outcomes):
            return "Not both have been run"
        if not apart:
            return f"No test of suite {suite} tells them apart"
        return f"{counted(apart, 'test')} of suite {suite} {'tell' if apart > 1 else 'tells'} them apart"

    # -- actions -----------------------------------------------------------------------------------

    def action_change(self, step: int) -> None:
        """Go to another change."""
        if not self.query_one(Reader).jump(diff_view.CHANGE, step):
            self.notify("Nothing differs.", markup=False)

    def action_swap(self) -> None:
        """Change the sides."""
        self.left, self.right = self.right, self.left
        self._open()

    def action_beside(self) -> None:
        """Lay the sides out in the other way."""
        self._beside = not self.beside
        self._draw()

    def action_whole(self) -> None:
        """Show all lines, or only those near a change."""
        self.whole = not self.whole
        self._draw()

    def action_every(self) -> None:
        """List all tests, or only those that tell the two apart."""
        self.every = not self.every
        self._list()


def _side(sign: str, style: str, solution: MatrixSolution) -> Content:
    """A solution in a line behind its sign."""
    mark = OUTCOME_MARKS[solution.gold][0]
    return Content.assemble(
        (f"{sign} ", f"bold $text-{style}"),
        (printable(solution.solution_id), "bold"),
        f" · {pass_texts.passed_words(solution.outcomes)} · gold {mark} {solution.gold}",
        f" · {printable(solution.model)}" if solution.model else "",
    )


def _read(project: Project, matrix: PassMatrix, pair: tuple[int, int], also: Collection[str]) -> list[DiffLine]:
    """Runs in a thread; the look is recorded."""
    reveal_each(project, pair, also)
    left, right = (solution_code(project, matrix, completion).source for completion in pair)
    return diff_rows(left, right)
