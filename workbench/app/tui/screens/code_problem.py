"""One code problem: its pass matrix, and the test and the solution under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, Final, Literal

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import pass_view as view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import following, index_of
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.pass_view import WORDS
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.table_messages import RowSelected
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.live import LiveScreen
from workbench.app.tui.screen import BREAKPOINTS
from workbench.app.tui.screens.code_diff import Comparing, compare
from workbench.app.tui.suite_start import export_outcomes, run_again, start_suite
from workbench.coding.apart import exclude_test, include_test
from workbench.coding.matrix import Arrangement, arrange, read_matrix
from workbench.core.label import coordinator_name
from workbench.core.selection import Condition
from workbench.data.records import MatrixSolution, PassMatrix
from workbench.measuring.browsing import reveal_each

_WHY_APART: Final = "Why exclude the test?"


class TestDecision(Struct, frozen=True):
    """A decision on one test.

    Attributes:
        before: Why it was excluded before; None if it was not.
    """

    __test__ = False

    question: int
    suite: str
    position: int
    before: str | None


class CodeProblemScreen(LiveScreen):
    """A matrix of solutions × tests with a cursor on one cell; showing the outcomes is recorded as a reveal.

    Args:
        question: Row id of the problem.
        suite: The initial suite.
        run: The initial run.
        neighbours: Row ids of the problems ``[`` and ``]`` go to, in order.
        solution: The initial completion.
        test: The position of the initial test.

    Attributes:
        matrix: The shown matrix; None until it has been loaded.
        laid: The order of its columns and the clusters of its rows.
        by_rate: Whether columns are sorted by pass rate.
        folded: Outcome letters of the folded clusters, one string per cluster of solutions with equal outcomes.
        verdicts: Whether other verifiers' verdicts are shown next to gold.
        comparing: Holds the solution that waits to be compared with another one.
    """

    TITLE_TEXT, PREFIX = "Problem", "code-problem"
    WORDS = WORDS
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-problem.open", "enter", "open_solution", "Open", "Open the solution: its code, why it fails."),
        Action("code-problem.suite", "w", "next_suite(1)", "Suite", "Show the next suite of tests."),
        Action("code-problem.suite-before", "W", "next_suite(-1)", "Previous suite", "Show the previous suite.", False),
        Action("code-problem.run", "@", "next_run", "Run", "Show the outcomes of the next run of this suite."),
        Action("code-problem.start", "a", "start", "Start", "Run the solutions against this suite of tests."),
        Action("code-problem.columns", "s", "columns", "Columns", "Order tests by pass rate, or as in the suite."),
        Action("code-problem.export", "e", "export", "Export", "Export the outcomes to a file.", False),
        Action("code-problem.exclude", "x", "exclude", "Exclude", "Exclude a suspect test from metrics; asks why."),
        Action("code-problem.retry", "l", "retry", "Again", "Run the problem's solutions again.", False),
        Action("code-problem.undo", "z", "undo", "Undo", "Undo the last decision on a test.", False),
        Action("code-problem.fold", "space", "fold", "Fold", "Fold solutions that fail alike, or open them."),
        Action("code-problem.fold-all", "h", "fold_all", "Fold all", "Fold all clusters, or open them all."),
        Action("code-problem.verdicts", "v", "verdicts", "Verdicts", "Show other verifiers' verdicts next to gold."),
        Action("code-problem.diff", "|", "diff", "Diff", "Mark a solution; on a second one: compare them."),
        Action("code-problem.item", "i", "item", "Item", "Open the item: labels, verdicts, decisions.", False),
        Action("code-problem.rankings", "V", "rankings", "Rankings", "Show how verifiers rank the solutions.", False),
        Action("code-problem.evolution", "o", "rounds", "Evolution", "Show the rounds of its tests' evolution.", False),
        Action("code-problem.panes", "d", "panes", "Panes", "Hide the texts below, for more rows.", False),
        Action("code-problem.next", "]", "go(1)", "Next", "Open the next problem.", False),
        Action("code-problem.previous", "[", "go(-1)", "Previous", "Open the previous problem.", False),
    )

    def __init__(
        self,
        question: int,
        *,
        suite: str | None = None,
        run: int | None = None,
        neighbours: Sequence[int] = (),
        solution: int | None = None,
        test: int | None = None,
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
        self._begin_at, self._begin_test = solution, test
        self._revealed: set[int] = set()
        self._decided: list[TestDecision] = []

    def content(self) -> ComposeResult:
        yield from self.texts("caption")
        yield PassGrid(id="code-problem-grid")
        yield from self.texts("legend")
        with Container(id="code-problem-panes"):
            yield Reader(id="code-problem-test")
            yield Reader(id="code-problem-solution")

    # -- reading -----------------------------------------------------------------------------------

    def read(self) -> PassMatrix:
        """Return the matrix; record that gold and outcomes of its solutions were seen."""
        matrix = read_matrix(self.project, self.question, suite=self._suite, run=self._run)
        unseen = [one.id for one in matrix.solutions if one.id not in self._revealed]
        if unseen:
            reveal_each(self.project, unseen, self.workbench.names_worked_under)
            self._revealed.update(unseen)
        return matrix

    @property
    def request(self) -> tuple[object, ...]:
        return self.question, self._suite, self._run

    def show(self, matrix: PassMatrix) -> None:
        self.matrix = matrix
        self.redraw()

    def redraw(self) -> None:
        if self.matrix is None:
            return
        matrix = self.matrix
        by_rate = self.by_rate and not matrix.own
        laid = self.laid = arrange([one.outcomes for one in matrix.solutions], matrix.width, by_rate=by_rate)
        self._update_title(matrix)
        self.put("caption", view.caption(matrix, laid))
        self.put("legend", view.legend(matrix, verdicts=self.verdicts))
        grid = self.query_one(PassGrid)
        grid.put_tests(
            view.heads(matrix, verdicts=self.verdicts),
            view.columns(matrix, laid),
            view.rows(matrix, laid, self.folded, verdicts=self.verdicts, marked=self.comparing.marked),
        )
        if (self._begin_at, self._begin_test) != (None, None):
            self._move_to(self._begin_at, grid.test if self._begin_test is None else self._begin_test)
            self._begin_at = self._begin_test = None

    def _move_to(self, solution: int | None, test: int | None) -> None:
        """Put the cursor on a cell; None keeps the row, or the column."""
        keys = (None if one is None else str(one) for one in (solution, test))
        self.query_one(PassGrid).move_to(*keys)

    def _update_title(self, matrix: PassMatrix) -> None:
        at = index_of(self._neighbours, self.question)
        place = "" if at is None else f"{at + 1:,} of {len(self._neighbours):,}"
        names = (matrix.problem.task_id, matrix.problem.entry_point or "", matrix.dataset, matrix.problem.language)
        parts = [RemarkPiece(printable(name), rank) for name, rank in zip(names, (0, 2, 4, 5), strict=True)]
        self.query_one(TitleBar).say_parts([*parts, RemarkPiece(place, 3)])

    # -- what is under the cursor ------------------------------------------------------------------

    @property
    def chosen(self) -> MatrixSolution | None:
        key = self.query_one(PassGrid).solution
        solutions = () if self.matrix is None else self.matrix.solutions
        return next((one for one in solutions if one.id == key), None)

    @on(PassGrid.Moved)
    def _show_cell(self) -> None:
        matrix, solution = self.matrix, self.chosen
        position = self.query_one(PassGrid).test
        test, about = list[view.Line](), list[view.Line]()
        if matrix is not None and self.laid is not None and position is not None and solution is not None:
            test += view.test_lines(matrix, solution, position, self.laid.rates[position])
        if solution is not None:
            about += view.solution_lines(solution)
            if matrix is not None and position is not None:
                about += view.evidence_lines(matrix, solution, position)
            about += view.verdict_lines(solution)
        wide = self.has_class("-wide")
        self.query_one("#code-problem-test", Reader).show(view.text_of(*test, *(() if wide else about)))
        self.query_one("#code-problem-solution", Reader).show(view.text_of(*about))

    def on_screen_resume(self) -> None:
        self.redraw()

    # -- what is shown -----------------------------------------------------------------------------

    def action_next_suite(self, step: Literal[1, -1]) -> None:
        if self.matrix is not None and len(self.matrix.suites) < 2:
            self.notify("The problem has no other suite of tests.")
        elif self.matrix is not None:
            self._suite, self._run = following(self.matrix.suite, tuple(self.matrix.suites)[::step]), None
            self.read_again()

    def action_next_run(self) -> None:
        if self.matrix is None or self.matrix.run is None or len(self.matrix.runs) < 2:
            self.notify("No other run has outcomes of this suite.")
            return
        run = following(self.matrix.run, self.matrix.runs)
        self._suite, self._run = run.suite, run.run
        self.read_again()

    def action_start(self) -> None:
        if self.matrix is not None and self.matrix.suite:
            start_suite(self, self.matrix.suite, *self._problem_conditions(self.matrix))

    def action_retry(self) -> None:
        if self.matrix is not None:
            run_again(self, self.matrix, Condition("question_id", "=", self.matrix.problem.task_id))

    def action_export(self) -> None:
        if self.matrix is not None:
            export_outcomes(self, *self._problem_conditions(self.matrix))

    @staticmethod
    def _problem_conditions(matrix: PassMatrix) -> tuple[Condition, Condition]:
        return Condition("dataset", "=", matrix.dataset), Condition("question_id", "=", matrix.problem.task_id)

    # -- tests that are excluded -------------------------------------------------------------------

    def action_exclude(self) -> None:
        matrix, position = self.matrix, self.query_one(PassGrid).test
        if matrix is None or position is None:
            return
        excluded = matrix.excluded.get(position)
        test = TestDecision(self.question, matrix.suite, position, excluded and excluded.reason)
        if matrix.own or matrix.test_of(matrix.solutions[0], position) is None:
            self.notify("Tests that belong to a single solution can't be excluded.")
        elif test.before:
            self._store_decision(test, None)
        else:
            self.ask_line(_WHY_APART, test, partial(self._store_decision, test))

    def _store_decision(self, test: TestDecision, reason: str | None) -> None:
        self._decided.append(test)
        self._store(test, reason)

    def action_undo(self) -> None:
        if not self._decided:
            self.notify("No test was excluded here.")
            return
        last = self._decided.pop()
        self._store(last, last.before)

    def _store(self, test: TestDecision, reason: str | None) -> None:
        args = self.project, test.question, test.suite, test.position
        work: Callable[[], bool] = (
            partial(include_test, *args, by=coordinator_name())
            if reason is None
            else partial(exclude_test, *args, reason=reason, by=coordinator_name())
        )
        self.in_background(work, partial(self._finish_store, test, reason), group="test-decision", exclusive=False)

    def _finish_store(self, test: TestDecision, reason: str | None, done: bool) -> None:
        self.line_stored(_WHY_APART, test)
        counts = "counts again" if reason is None else "is excluded from all metrics"
        again = f" {key_of('code-problem.retry')} runs the solutions again for new verdicts." if done else ""
        self.notify(f"Test {test.position + 1} {counts}.{again}")
        self.read_again()

    def action_columns(self) -> None:
        self.by_rate = not self.by_rate
        self.redraw()

    def action_fold(self) -> None:
        if (chosen := self.chosen) is not None and chosen.outcomes in self._clusters:
            self._fold(self.folded ^ {chosen.outcomes})

    def action_fold_all(self) -> None:
        every = {*self._clusters}
        self._fold(set() if every <= self.folded else every)

    @property
    def _clusters(self) -> dict[str, MatrixSolution]:
        """Return the first solution of each cluster of several, by their outcomes."""
        if self.laid is None or self.matrix is None:
            return {}
        several = (one for one in self.laid.clusters if len(one.members) > 1)
        return {one.outcomes: self.matrix.solutions[one.members[0]] for one in several}

    def _fold(self, clusters: set[str]) -> None:
        self.folded, chosen = clusters, self.chosen
        if chosen is not None and chosen.outcomes in clusters:
            self._move_to(self._clusters[chosen.outcomes].id, self.query_one(PassGrid).test)
        self.redraw()

    def action_verdicts(self) -> None:
        self.verdicts = not self.verdicts
        self.redraw()

    def action_panes(self) -> None:
        panes = self.query_one("#code-problem-panes")
        panes.display = not panes.display

    def action_go(self, step: int) -> None:
        beside = self.neighbour(self._neighbours, self.question, step, "problem")
        if beside is not None:
            self.question, self.comparing = beside, Comparing()
            self.folded.clear()
            self.read_again()

    # -- further on --------------------------------------------------------------------------------

    @property
    def order(self) -> list[int]:
        return [int(row.key) for row in self.query_one(PassGrid).rows]

    @on(RowSelected)
    def action_open_solution(self) -> None:
        from workbench.app.tui.screens.code_solution import CodeSolutionScreen

        if self.matrix is not None and (solution := self.chosen) is not None:
            test = self.query_one(PassGrid).test
            self.app.push_screen(CodeSolutionScreen(self.matrix, solution.id, self.order, test, self.comparing))

    def action_item(self) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        if (solution := self.chosen) is not None:
            self.app.push_screen(ItemScreen(solution.id, self.order))

    def action_rankings(self) -> None:
        from workbench.app.tui.screens.code_rankings import CodeRankingsScreen

        self.app.push_screen(CodeRankingsScreen(self.question, self._neighbours))

    def action_rounds(self) -> None:
        from workbench.app.tui.screens.code_rounds import CodeRoundsScreen

        self.app.push_screen(CodeRoundsScreen(self.question))

    def action_diff(self) -> None:
        if self.matrix is not None and (solution := self.chosen) is not None:
            compare(self, self.matrix, self.comparing, solution.id)
            self.redraw()
