"""One code problem: its pass matrix, and the test and the solution under the cursor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar, Literal, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container
from textual.widgets import Static

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit import pass_texts as texts
from workbench.app.tui.kit import pass_view as view
from workbench.app.tui.kit import solution_view as kit_view
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.matrix import printable
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.pass_view import found_by
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.table_messages import RowHighlighted, RowSelected
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.app.tui.screens.code_diff import Comparing, compare
from workbench.app.tui.suite_start import export_outcomes, start_suite
from workbench.app.tui.switches import following, index_of
from workbench.coding.matrix import Arrangement, arranged, read_matrix, solution_code
from workbench.core.code import counted
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.data.records.pass_matrix import MatrixSolution, PassMatrix, SolutionCode
from workbench.measuring.browsing import reveal, reveal_each


class CodeProblemScreen(LiveScreen):
    """Solutions × tests with a cursor on one cell; the look at their outcomes is recorded as a reveal.

    Args:
        question: Row id of the problem.
        suite: The suite to begin with.
        run: The run to begin with.
        neighbours: Row ids of the problems ``[`` and ``]`` go to, in order.
        solution: The completion to begin at.

    Attributes:
        matrix: What is shown; None until it has come.
        laid: How it is laid out.
        by_rate: Columns stand by pass rate.
        folded: Letters of the clusters that are folded.
        verdicts: Whether other verifiers' verdicts stand beside gold.
        comparing: The solution that waits for another one to be compared with.
    """

    CSS_PATH = "code_problem.tcss"
    TITLE_TEXT = "Problem"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-problem.open", "enter", "open_solution", "Open", "Open the solution: its code, why it fails."),
        Action("code-problem.suite", "w", "next_suite(1)", "Suite", "Show the next suite of tests."),
        Action("code-problem.suite-before", "W", "next_suite(-1)", "Suite before", "Show the suite before.", False),
        Action("code-problem.run", "at", "next_run", "Run", "Show the outcomes of the next run of this suite."),
        Action("code-problem.start", "a", "start", "Start", "Run the solutions against this suite of tests."),
        Action("code-problem.columns", "s", "columns", "Columns", "Order tests by pass rate, or as in the suite."),
        Action("code-problem.export", "e", "export", "Export", "Write the outcomes to a file.", footer=False),
        Action("code-problem.fold", "space", "fold", "Fold", "Fold solutions that fail alike, or open them."),
        Action("code-problem.fold-all", "h", "fold_all", "Fold all", "Fold all clusters, or open them all."),
        Action("code-problem.verdicts", "v", "verdicts", "Verdicts", "Show what other verifiers say, beside gold."),
        Action(
            "code-problem.diff", "vertical_line", "diff", "Diff", "Mark the solution; on a second one: compare the two."
        ),
        Action("code-problem.item", "i", "item", "Item", "Open the item: labels, verdicts, decisions.", footer=False),
        Action("code-problem.rankings", "V", "rankings", "Rankings", "Show how verifiers rank the solutions.", False),
        Action("code-problem.evolution", "o", "rounds", "Evolution", "Show the rounds its tests have grown by.", False),
        Action("code-problem.panes", "d", "panes", "Panes", "Hide the texts below, for more rows.", footer=False),
        Action("code-problem.next", "right_square_bracket", "go(1)", "Next", "Open the next problem.", footer=False),
        Action("code-problem.previous", "left_square_bracket", "go(-1)", "Previous", "Open the problem before.", False),
    )

    def __init__(
        self,
        question: int,
        *,
        suite: str | None = None,
        run: int | None = None,
        neighbours: Sequence[int] = (),
        solution: int | None = None,
    ) -> None:
        super().__init__()
        self.question = question
        self.matrix: PassMatrix | None = None
        self.laid: Arrangement | None = None
        self.by_rate = True
        self.folded: set[str] = set()
        self.verdicts = False
        self.comparing = Comparing()
        self._suite, self._run = suite, run
        self._neighbours = neighbours
        self._begin_at = solution
        self._revealed: set[int] = set()

    def compose(self) -> ComposeResult:
        """The frame; the matrix comes later."""
        yield TitleBar(self.TITLE_TEXT, "reading …")
        yield Static("", id="code-problem-caption", markup=False)
        yield PassGrid(id="code-problem-grid")
        yield Static("", id="code-problem-legend", markup=False)
        with Container(id="code-problem-panes"):
            yield Reader(id="code-problem-test")
            yield Reader(id="code-problem-solution")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """The cursor belongs to the grid."""
        self.query_one(PassGrid).focus()

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> tuple[tuple[object, ...], PassMatrix]:
        """The matrix; who is shown it has seen gold and outcomes of its solutions."""
        asked = self._asked
        matrix = read_matrix(self.project, self.question, suite=self._suite, run=self._run)
        unseen = [one.id for one in matrix.solutions if one.id not in self._revealed]
        if unseen:
            reveal_each(self.project, unseen, self.workbench.names_worked_under)
            self._revealed.update(unseen)
        return asked, matrix

    @property
    def _asked(self) -> tuple[object, ...]:
        return self.question, self._suite, self._run

    def show(self, data: tuple[tuple[object, ...], PassMatrix]) -> None:
        """Fill the grid; the cursor stays with its solution and test."""
        asked, matrix = data
        if asked == self._asked:
            self.matrix = matrix
            self._lay_out()

    def _lay_out(self) -> None:
        """Order and draw what has been read."""
        if self.matrix is None:
            return
        matrix = self.matrix
        by_rate = self.by_rate and not matrix.own
        laid = self.laid = arranged([one.outcomes for one in matrix.solutions], matrix.width, by_rate=by_rate)
        self._tell(matrix)
        self.query_one("#code-problem-caption", Static).update(view.caption(matrix, laid))
        self.query_one("#code-problem-legend", Static).update(
            view.legend(matrix, verdicts=self.verdicts, wide=self.has_class("-wide"))
        )
        grid = self.query_one(PassGrid)
        grid.put(
            view.heads(matrix, verdicts=self.verdicts),
            view.columns(matrix, laid),
            view.rows(matrix, laid, self.folded, verdicts=self.verdicts, marked=self.comparing.marked),
        )
        if self._begin_at is not None:
            grid.move_to(self._begin_at, grid.column_key)
            self._begin_at = None

    def _tell(self, matrix: PassMatrix) -> None:
        at = index_of(self._neighbours, self.question)
        place = "" if at is None else f"{at + 1:,} of {len(self._neighbours):,}"
        names = (matrix.problem.task_id, matrix.problem.entry_point or "", matrix.dataset, matrix.problem.language)
        parts = [RemarkPiece(printable(name), rank) for name, rank in zip(names, (0, 2, 4, 5), strict=True)]
        self.query_one(TitleBar).say_parts([*parts, RemarkPiece(place, 3)])

    # -- what is under the cursor ------------------------------------------------------------------

    @property
    def chosen(self) -> MatrixSolution | None:
        """The solution under the cursor."""
        key = self.query_one(PassGrid).row_key
        solutions = () if self.matrix is None else self.matrix.solutions
        return next((one for one in solutions if one.id == key), None)

    @on(PassGrid.Moved)
    def _moved(self) -> None:
        """The test and the solution under the cursor, in words."""
        matrix, solution = self.matrix, self.chosen
        position = self.query_one(PassGrid).column_key
        test, about = list[texts.Line](), list[texts.Line]()
        if matrix is not None and self.laid is not None and position is not None and solution is not None:
            test += texts.test_lines(matrix, solution, position, self.laid.rates[position])
        if solution is not None:
            about += texts.solution_lines(solution)
            if matrix is not None and position is not None:
                about += texts.evidence_lines(matrix, solution, position)
            about += texts.verdict_lines(solution)
        wide = self.has_class("-wide")
        self.query_one("#code-problem-test", Reader).show(texts.text_of(*test, *(() if wide else about)))
        self.query_one("#code-problem-solution", Reader).show(texts.text_of(*about))

    def on_screen_resume(self) -> None:
        """Another solution may be marked."""
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """The texts stand beside each other, or in one."""
        if self.is_attached:
            self.call_after_refresh(self._lay_out)

    # -- what is shown -----------------------------------------------------------------------------

    def action_next_suite(self, step: Literal[1, -1]) -> None:
        """Show another suite, by the run that comes first."""
        if self.matrix is not None and self.matrix.suites:
            self._suite, self._run = following(self.matrix.suite, tuple(self.matrix.suites)[::step]), None
            self.read_again()

    def action_next_run(self) -> None:
        """Show the outcomes of another run."""
        if self.matrix is None or self.matrix.run is None or len(self.matrix.runs) < 2:
            self.notify("No other run has outcomes of this suite.", markup=False)
            return
        run = following(self.matrix.run, self.matrix.runs)
        self._suite, self._run = run.suite, run.run
        self.read_again()

    def action_start(self) -> None:
        """Fill in the form that starts this suite."""
        if self.matrix is not None and self.matrix.suite:
            start_suite(self, self.matrix.suite)

    def action_export(self) -> None:
        """Fill in the export for this problem's outcomes."""
        if self.matrix is not None:
            named = Condition("question_id", "=", self.matrix.problem.task_id)
            export_outcomes(self.workbench, Condition("dataset", "=", self.matrix.dataset), named)

    def action_columns(self) -> None:
        """Order the tests in the other way."""
        self.by_rate = not self.by_rate
        self._lay_out()

    def action_fold(self) -> None:
        """Fold the cluster under the cursor, or open it; the cursor goes to its first solution."""
        grid, chosen = self.query_one(PassGrid), self.chosen
        if self.laid is None or chosen is None or self.matrix is None:
            return
        cluster = next(one for one in self.laid.clusters if one.outcomes == chosen.outcomes)
        if len(cluster.members) > 1:
            self.folded ^= {cluster.outcomes}
            grid.move_to(self.matrix.solutions[cluster.members[0]].id, grid.column_key)
            self._lay_out()

    def action_fold_all(self) -> None:
        """Fold every cluster, or open them where all are folded."""
        if self.laid is None or self.matrix is None:
            return
        every, chosen = view.fold_all(self.laid), self.chosen
        self.folded = set() if every <= self.folded else every
        if chosen is not None and chosen.outcomes in self.folded:
            cluster = next(one for one in self.laid.clusters if one.outcomes == chosen.outcomes)
            grid = self.query_one(PassGrid)
            grid.move_to(self.matrix.solutions[cluster.members[0]].id, grid.column_key)
        self._lay_out()

    def action_verdicts(self) -> None:
        """Show or hide other verifiers' verdicts."""
        self.verdicts = not self.verdicts
        self._lay_out()

    def action_panes(self) -> None:
        """Show or hide the texts."""
        panes = self.query_one("#code-problem-panes")
        panes.display = not panes.display

    def action_go(self, step: int) -> None:
        """Open a neighbour."""
        beside = self.neighbour(self._neighbours, self.question, step, "problem")
        if beside is not None:
            self.question, self.comparing = beside, Comparing()
            self.folded.clear()
            self.read_again()

    # -- further on --------------------------------------------------------------------------------

    @property
    def order(self) -> list[int]:
        """Row ids of the solutions, as they stand in the grid."""
        return [row.key for row in self.query_one(PassGrid).rows]

    @on(PassGrid.Opened)
    def action_open_solution(self) -> None:
        """Open the solution under the cursor, at the test under the cursor."""
        if self.matrix is not None and (solution := self.chosen) is not None:
            test = self.query_one(PassGrid).column_key
            self.app.push_screen(CodeSolutionScreen(self.matrix, solution.id, self.order, test, self.comparing))

    def action_item(self) -> None:
        """Open the solution as an item."""
        from workbench.app.tui.screens.item import ItemScreen

        if (solution := self.chosen) is not None:
            self.app.push_screen(ItemScreen(solution.id, self.order))

    def action_rankings(self) -> None:
        """Show the solutions with the scores and ranks that verifiers give them."""
        from workbench.app.tui.screens.code_rankings import CodeRankingsScreen

        self.app.push_screen(CodeRankingsScreen(self.question, self._neighbours))

    def action_rounds(self) -> None:
        """Show the evolution of the problem's tests."""
        from workbench.app.tui.screens.code_rounds import CodeRoundsScreen

        self.app.push_screen(CodeRoundsScreen(self.question))

    def action_diff(self) -> None:
        """Mark a solution, or compare the marked one with this."""
        if self.matrix is not None and (solution := self.chosen) is not None:
            compare(self, self.matrix, self.comparing, solution.id)
            self._lay_out()


# -- One solution of a code problem: its code, the tests it fails, and why it fails the one under the cursor.


class ReadCode(NamedTuple):
    """A solution's code, read and highlighted."""

    completion: int
    code: SolutionCode
    lines: kit_view.NumberedCode


class CodeSolutionScreen(WorkbenchScreen):
    """Code above the failing tests and the evidence of one of them; on a wide terminal beside them.

    Args:
        matrix: The problem with its outcomes.
        completion: Row id of the solution.
        order: Row ids of the solutions ``[`` and ``]`` go to, in order.
        test: Position of the test to begin at.
        comparing: Which solution is marked.

    Attributes:
        completion: Row id of the solution now shown.
        every: List every test, not only those it fails.
    """

    CSS_PATH = "code_solution.tcss"
    TITLE_TEXT = "Solution"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-solution.next-test", "n", "go_test(1)", "Next test", "Go to the next test in the list."),
        Action("code-solution.test-before", "N", "go_test(-1)", "Test before", "Go to the test before.", False),
        Action("code-solution.every", "w", "every", "All tests", "List all tests, or only those it fails."),
        Action("code-solution.next", "right_square_bracket", "go(1)", "Next", "Open the next solution."),
        Action("code-solution.previous", "left_square_bracket", "go(-1)", "Previous", "Open the one before.", False),
        Action("code-solution.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
        Action(
            "code-solution.diff",
            "vertical_line",
            "diff",
            "Diff",
            "Mark the solution; on a second one: compare the two.",
        ),
        Action("code-solution.item", "i", "item", "Item", "Open the item: labels, verdicts, decisions."),
    )

    def __init__(
        self,
        matrix: PassMatrix,
        completion: int,
        order: Sequence[int] = (),
        test: int | None = None,
        comparing: Comparing | None = None,
    ) -> None:
        super().__init__()
        self.matrix, self.completion = matrix, completion
        self.every = False
        self._order, self._test = order, test
        self._comparing = comparing or Comparing()
        self._code: ReadCode | None = None
        self._line: int | None = None

    def compose(self) -> ComposeResult:
        """The frame; the code comes later."""
        yield TitleBar(self.TITLE_TEXT, "…")
        yield Static("", id="code-solution-facts", markup=False)
        with Container(id="code-solution-panes"):
            yield Reader(title="Code", id="code-solution-code")
            yield VirtualTable(id="code-solution-tests")
            yield Reader(title="Test", id="code-solution-evidence")
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Read; the cursor belongs to the tests."""
        self.query_one(VirtualTable).focus()
        self._open()

    @property
    def solution(self) -> MatrixSolution:
        """The solution that is shown."""
        return next(one for one in self.matrix.solutions if one.id == self.completion)

    @property
    def chosen(self) -> int | None:
        """Position of the test under the cursor."""
        return self.query_one(VirtualTable).selected_id if self._listed else None

    @property
    def _listed(self) -> list[int]:
        every = self.every or (self.solution.outcomes and not counted(self.solution.outcomes))
        return list(range(self.matrix.width)) if every else kit_view.failing(self.matrix, self.solution)

    # -- showing -----------------------------------------------------------------------------------

    def _open(self) -> None:
        self._code = self._line = None
        self._tell()
        self._list()
        work = partial(_read, self.project, self.matrix, self.completion, self.workbench.names_worked_under)
        self.in_background(work, self._show_code, group="code-solution")

    def _tell(self) -> None:
        solution, place = self.solution, index_of(self._order, self.completion)
        at = "" if place is None else f"{place + 1:,} of {len(self._order):,}"
        names = (f"{self.matrix.problem.task_id}/{solution.solution_id}", at, solution.model)
        parts = [RemarkPiece(printable(name), rank) for name, rank in zip(names, (0, 2, 3), strict=True)]
        self.query_one(TitleBar).say_parts(parts)
        words = [texts.passed_words(solution.outcomes), f"suite {self.matrix.suite}", f"gold {solution.gold}"]
        kept = "" if solution.execution is None else texts.kept_in(solution.execution)
        about = f"{' · '.join(words)} · {found_by(self.matrix)}\n{kept}"
        self.query_one("#code-solution-facts", Static).update("\n".join(map(printable, about.split("\n"))))

    def _list(self) -> None:
        """List the tests; the cursor stays with its test, else goes to the first."""
        table, tests = self.query_one(VirtualTable), self._listed
        columns = kit_view.test_columns(self.matrix, self.solution)
        table.show_records(columns, zip(tests, tests, strict=True))
        if tests:
            wanted = self._test if self._test in tests else tests[0]
            table.jump_to_id(wanted)
        self._show_test()

    def _show_code(self, found: ReadCode) -> None:
        if found.completion == self.completion:
            self._code = found
            reader = self.query_one("#code-solution-code", Reader)
            reader.set_title(kit_view.code_title(found.code))
            self._draw_code()

    @on(RowHighlighted)
    def _highlighted(self, event: RowHighlighted) -> None:
        self._test = event.row_id
        self._show_test()

    def _show_test(self) -> None:
        """The test under the cursor: what came of it, its source, and the line of the code that raised."""
        position, execution = self._test, self.solution.execution
        reader = self.query_one("#code-solution-evidence", Reader)
        if position is None or position not in self._listed:
            said = texts.all_words(self.solution.outcomes)
            reader.set_title("Test")
            reader.show(texts.text_of((texts.plain(f"{said} w lists all tests."),)))
            self._mark(None)
            return
        failure = texts.failure_of(execution, position)
        test = self.matrix.test_of(self.solution, position)
        reader.set_title(f"Test {position + 1} · {texts.place_words(self.matrix, test)}")
        source = texts.source_lines(test, self.matrix.problem.language)
        reader.show(texts.text_of(*texts.evidence_lines(self.matrix, self.solution, position), *source))
        self._mark(None if failure is None else failure.line)

    def _mark(self, line: int | None) -> None:
        """Mark a line of the code."""
        if line == self._line:
            return
        self._line = line
        top = self.query_one("#code-solution-code", Reader).scroll_offset.y
        self._draw_code(top)

    def _draw_code(self, top: int = 0) -> None:
        """The code for the width there is, the marked line in sight."""
        reader = self.query_one("#code-solution-code", Reader)
        if self._code is None or not reader.wrap_width:
            return
        reader.show(self._code.lines.text(reader.wrap_width, self._line))
        if self._line is not None:
            self.call_after_refresh(reader.jump, kit_view.RAISED)
        else:
            reader.scroll_to(y=top, animate=False, force=True)

    def on_resize(self, event: events.Resize) -> None:
        """Cut the code to another width."""
        if self.is_attached:
            self.call_after_refresh(self._draw_code)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Where panes are stacked, evidence is tall while it has the focus."""
        self.set_class(event.widget.id == "code-solution-evidence", "evidence")

    # -- actions -----------------------------------------------------------------------------------

    def action_go_test(self, step: int) -> None:
        """Move the cursor among the tests, wherever the focus is."""
        self.query_one(VirtualTable).action_move(step)

    @on(RowSelected)
    def _selected(self) -> None:
        self.query_one("#code-solution-evidence", Reader).focus()

    def action_every(self) -> None:
        """List all tests, or only those it fails."""
        self.every = not self.every
        self._list()

    def action_go(self, step: int) -> None:
        """Open a neighbour; the test stays where it fails there too."""
        beside = self.neighbour(self._order, self.completion, step, "solution")
        if beside is not None:
            self.completion = beside
            self._open()

    def action_item(self) -> None:
        """Open the solution as an item."""
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(self.completion, self._order))

    def action_diff(self) -> None:
        """Mark the solution, or compare the marked one with it."""
        compare(self, self.matrix, self._comparing, self.completion)


def _read(project: Project, matrix: PassMatrix, completion: int, also: Collection[str]) -> ReadCode:
    """Runs in a thread; the look is recorded."""
    reveal(project, completion, also)
    code = solution_code(project, matrix, completion)
    return ReadCode(completion, code, kit_view.numbered(code, matrix.problem.language))
