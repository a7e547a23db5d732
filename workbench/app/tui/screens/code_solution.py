"""One solution of a code problem: its code, the tests it fails, and the reason for the one under the cursor."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Container

from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit import pass_view as texts
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import index_of
from workbench.app.tui.kit.pass_view import (
    RAISED,
    WORDS,
    Line,
    code_title,
    failing_tests,
    numbered,
    outcome_source,
    test_columns,
)
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.table_messages import RowHighlighted, RowSelected
from workbench.app.tui.kit.title_bar import RemarkPiece, TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.app.tui.screens.code_diff import Comparing, compare
from workbench.app.tui.suite_start import run_again
from workbench.coding.matrix import solution_code
from workbench.core.code import counted
from workbench.core.project import Project
from workbench.core.selection import Condition
from workbench.core.text.code import code_lines
from workbench.core.text.document import Span
from workbench.data.records import MatrixSolution, PassMatrix, SolutionCode
from workbench.measuring.browsing import reveal


class ReadCode(NamedTuple):
    completion: int
    code: SolutionCode
    lines: Sequence[Line]


class CodeSolutionScreen(WorkbenchScreen):
    """The code above the failing tests and the evidence of one test; on a wide terminal, next to them.

    Args:
        matrix: The problem with its outcomes.
        completion: Row id of the solution.
        order: Row ids of the solutions ``[`` and ``]`` go to, in order.
        test: Position of the initial test.
        comparing: Holds the solution marked for comparison.

    Attributes:
        completion: Row id of the solution now shown.
        every: Whether every test is listed, not only those the solution fails.
    """

    TITLE_TEXT, PREFIX = "Solution", "code-solution"
    WORDS = WORDS
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-solution.next-test", "n", "go_test(1)", "Next test", "Go to the next test in the list."),
        Action("code-solution.test-before", "N", "go_test(-1)", "Previous test", "Go to the previous test.", False),
        Action("code-solution.every", "w", "every", "All tests", "List all tests, or only those it fails."),
        Action("code-solution.next", "]", "go(1)", "Next", "Open the next solution."),
        Action("code-solution.previous", "[", "go(-1)", "Previous", "Open the previous solution.", False),
        Action("code-solution.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
        Action("code-solution.diff", "|", "diff", "Diff", "Mark a solution; on a second one: compare them."),
        Action("code-solution.retry", "l", "retry", "Again", "Run this solution again.", False),
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

    def content(self) -> ComposeResult:
        yield from self.texts("facts")
        with Container(id="code-solution-panes"):
            yield Reader(title="Code", id="code-solution-code")
            yield VirtualTable(id="code-solution-tests")
            yield Reader(title="Test", id="code-solution-evidence")

    def on_mount(self) -> None:
        self.query_one(VirtualTable).focus()
        self._read_code()

    @property
    def solution(self) -> MatrixSolution:
        return next(one for one in self.matrix.solutions if one.id == self.completion)

    @property
    def chosen(self) -> int | None:
        return self.query_one(VirtualTable).selected_id if self._listed_tests else None

    @property
    def _listed_tests(self) -> list[int]:
        every = self.every or (self.solution.outcomes and not counted(self.solution.outcomes))
        return list(range(self.matrix.width)) if every else failing_tests(self.matrix, self.solution)

    # -- showing -----------------------------------------------------------------------------------

    def _read_code(self) -> None:
        self._code = self._line = None
        self._update_title()
        self._list()
        work = partial(_read, self.project, self.matrix, self.completion, self.workbench.names_worked_under)
        self.in_background(work, self._show_code, group="code-solution")

    def _update_title(self) -> None:
        solution, place = self.solution, index_of(self._order, self.completion)
        at = "" if place is None else f"{place + 1:,} of {len(self._order):,}"
        names = (f"{self.matrix.problem.task_id}/{solution.solution_id}", at, solution.model)
        parts = [RemarkPiece(printable(name), rank) for name, rank in zip(names, (0, 2, 3), strict=True)]
        self.query_one(TitleBar).say_parts(parts)
        words = [texts.passed_words(solution.outcomes), f"suite {self.matrix.suite}", f"gold {solution.gold}"]
        kept = "" if solution.execution is None else texts.isolation_text(solution.execution)
        about = f"{' · '.join(words)} · {outcome_source(self.matrix)}\n{kept}"
        self.put("facts", "\n".join(map(printable, about.split("\n"))))

    def _list(self) -> None:
        table, tests = self.query_one(VirtualTable), self._listed_tests
        columns = test_columns(self.matrix, self.solution)
        table.show_records(columns, zip(tests, tests, strict=True))
        if tests:
            wanted = self._test if self._test in tests else tests[0]
            table.jump_to_id(wanted)
        self._show_test()

    def _show_code(self, found: ReadCode) -> None:
        if found.completion == self.completion:
            self._code = found
            reader = self.query_one("#code-solution-code", Reader)
            reader.set_title(code_title(found.code))
            self.redraw()

    @on(RowHighlighted)
    def _show_row_notes(self, event: RowHighlighted) -> None:
        self._test = event.row_id
        self._show_test()

    def _show_test(self) -> None:
        position, execution = self._test, self.solution.execution
        reader = self.query_one("#code-solution-evidence", Reader)
        if position is None or position not in self._listed_tests:
            said = texts.outcome_sentence(self.solution.outcomes)
            reader.set_title("Test")
            reader.show(texts.text_of((Span(f"{said} {key_of('code-solution.every')} lists all tests.", "dim"),)))
            self._set_marks(None)
            return
        failure = texts.failure_of(execution, position)
        test = self.matrix.test_of(self.solution, position)
        reader.set_title(f"Test {position + 1} · {texts.place_words(self.matrix, test, position)}")
        source = texts.source_lines(test, self.matrix.problem.language)
        reader.show(texts.text_of(*texts.evidence_lines(self.matrix, self.solution, position), *source))
        self._set_marks(None if failure is None else failure.line)

    def _set_marks(self, line: int | None) -> None:
        if line == self._line:
            return
        self._line = line
        top = self.query_one("#code-solution-code", Reader).scroll_offset.y
        self.redraw(top)

    def redraw(self, top: int = 0) -> None:
        reader = self.query_one("#code-solution-code", Reader)
        if self._code is None or not reader.wrap_width:
            return
        reader.show(numbered(self._code.lines, reader.wrap_width, self._line))
        if self._line is not None:
            self.call_after_refresh(reader.jump, RAISED)
        else:
            reader.scroll_to(y=top, animate=False, force=True)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.set_class(event.widget.id == "code-solution-evidence", "evidence")

    # -- actions -----------------------------------------------------------------------------------

    def action_go_test(self, step: int) -> None:
        self.query_one(VirtualTable).action_move(step)

    @on(RowSelected)
    def _focus_evidence(self) -> None:
        self.query_one("#code-solution-evidence", Reader).focus()

    def action_every(self) -> None:
        self.every = not self.every
        self._list()

    def action_go(self, step: int) -> None:
        beside = self.neighbour(self._order, self.completion, step, "solution")
        if beside is not None:
            self.completion = beside
            self._read_code()

    def action_item(self) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(self.completion, self._order))

    def action_retry(self) -> None:
        run_again(self, self.matrix, Condition("completion_id", "=", self.solution.key))

    def action_diff(self) -> None:
        compare(self, self.matrix, self._comparing, self.completion)


def _read(project: Project, matrix: PassMatrix, completion: int, also: Collection[str]) -> ReadCode:
    reveal(project, completion, also)
    code = solution_code(project, matrix, completion)
    return ReadCode(completion, code, list(code_lines(code.source.rstrip("\n"), matrix.problem.language)))
