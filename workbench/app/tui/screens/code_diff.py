"""Two solutions of a problem: the differences in their code, and the tests that distinguish them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import groupby, zip_longest
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.content import Content

from workbench.app.tui.keymap import Action
from workbench.app.tui.kit import pass_view
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.columns import OUTCOME_MARKS
from workbench.app.tui.kit.pass_view import letter_at, outcome_cell, source_of
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.kit.wrapping import padded, split_spans
from workbench.app.tui.screen import BREAKPOINTS, WorkbenchScreen
from workbench.coding.matrix import distinguishing_tests, solution_code
from workbench.core.project import Project
from workbench.core.text.code import DiffLine, DiffSide, diff_rows
from workbench.core.text.document import RenderedLine, RenderedText, Span, StyleName
from workbench.core.text.figures import counted
from workbench.core.text.inert import inert
from workbench.data.records import MatrixSolution, PassMatrix
from workbench.measuring.browsing import reveal_each
from workbench.tables.table import Column, Columns, column, word


class Comparing:
    """The solution marked for comparison, shared by the screens of one problem.

    Attributes:
        marked: Row id of the solution that waits to be compared with another one; None for no solution.
    """

    def __init__(self) -> None:
        self.marked: int | None = None

    def take(self, solution: int) -> tuple[int, int] | None:
        """Mark or unmark a solution; when it is the second one, return both in the order of choice."""
        before = self.marked
        self.marked = solution if before is None else None
        return None if before in (None, solution) else (before, solution)


CHANGE: Final = "change"
"""Name of the mark on the first line of every difference, for jumping to it."""

SPLIT: Final = " │ "

_MIN_FOLDED: Final = 12  # consecutive equal lines from which only the first and last ones are shown

_CONTEXT: Final = 4  # equal lines shown next to a change

_SIGNS: Final[dict[StyleName, str]] = {"": " ", "removed": "-", "added": "+"}

Line = tuple[Span, ...]


class CodeDiffScreen(WorkbenchScreen):
    """Shows the first solution as the ``-`` side, the second one as the ``+`` side.

    Args:
        matrix: The problem with its outcomes.
        left: Row id of the first solution.
        right: Row id of the second one.

    Attributes:
        whole: Show every line, not only those near a change.
        every: List every test, not only those that distinguish the two.
        rows: The comparison; None until it has been loaded.
    """

    TITLE_TEXT, PREFIX = "Diff", "code-diff"
    HORIZONTAL_BREAKPOINTS = BREAKPOINTS
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("code-diff.next", "n", "change(1)", "Next change", "Go to the next change."),
        Action("code-diff.previous", "N", "change(-1)", "Previous change", "Go to the previous change.", False),
        Action("code-diff.swap", "S", "swap", "Swap", "Swap the two solutions."),
        Action("code-diff.beside", "o", "beside", "Beside", "Show changes side by side, or removed above added lines."),
        Action("code-diff.whole", "h", "whole", "Whole", "Show all lines, or only those near a change."),
        Action("code-diff.every", "w", "every", "All tests", "List all tests, or only those with different outcomes."),
        Action("code-diff.pane", "tab", "app.focus_next", "Pane", "Go to the next pane."),
    )

    def __init__(self, matrix: PassMatrix, left: int, right: int) -> None:
        super().__init__()
        self.matrix, self.left, self.right = matrix, left, right
        self.every = False
        self.rows: list[DiffLine] | None = None
        self.whole = False
        self._beside: bool | None = None

    def content(self) -> ComposeResult:
        yield from self.texts("sides")
        yield Reader(id="code-diff-code")
        yield from self.texts("telling")
        yield VirtualTable(id="code-diff-tests")

    def on_mount(self) -> None:
        self._read_lines()

    def _solution(self, completion: int) -> MatrixSolution:
        return next(one for one in self.matrix.solutions if one.id == completion)

    def _read_lines(self) -> None:
        self.rows = None
        self._update_title()
        self._list()
        work = partial(_read, self.project, self.matrix, (self.left, self.right), self.workbench.names_worked_under)
        self.in_background(work, self._show_lines, group="code-diff")

    def _show_lines(self, rows: list[DiffLine]) -> None:
        self.rows = rows
        self._update_title()
        self.redraw()

    @property
    def beside(self) -> bool:
        """Tell whether both solutions are shown side by side: as the user chose, else if the terminal is wide."""
        return self.has_class("-wide") if self._beside is None else self._beside

    def redraw(self) -> None:
        reader = self.query_one(Reader)
        if self.rows is not None and reader.wrap_width:
            reader.show(diff_text(self.rows, reader.wrap_width, beside=self.beside, whole=self.whole))
            self.call_after_refresh(reader.jump, CHANGE)

    def _update_title(self) -> None:
        changed = sum(row.kind != "same" for row in self.rows or ())
        said = "reading …" if self.rows is None else f"{counted(changed, 'line')} differ" if changed else "equal texts"
        self.say(f"{printable(self.matrix.problem.task_id)} · {said}")
        sides = (
            _side_title("-", "error", self._solution(self.left)),
            "\n",
            _side_title("+", "success", self._solution(self.right)),
        )
        self.put("sides", Content.assemble(*sides))

    def _list(self) -> None:
        left, right = self._solution(self.left), self._solution(self.right)
        apart = [] if self.matrix.own else distinguishing_tests(left.outcomes, right.outcomes)
        self.put("telling", self._tests_caption(left, right, len(apart)))
        tests = range(self.matrix.width) if self.every else apart
        columns = self._columns(left, right)
        self.query_one(VirtualTable).show_records(columns, zip(tests, tests, strict=True))

    def _columns(self, left: MatrixSolution, right: MatrixSolution) -> Columns[int]:
        def came(sign: str, of: MatrixSolution) -> Column[int]:
            return column(sign, lambda test: letter_at(of.outcomes, test), outcome_cell, words=True, room=18)

        return (
            word("test", lambda test: str(test + 1), room=5),
            came("-", left),
            came("+", right),
            word("source", lambda test: source_of(self.matrix.test_of(left, test)), room=(20, 80), tone="dim"),
        )

    def _tests_caption(self, left: MatrixSolution, right: MatrixSolution, apart: int) -> str:
        suite = printable(self.matrix.suite)
        if self.matrix.own:
            return f"In suite {suite} each solution has its own tests"
        if not (left.outcomes and right.outcomes):
            return "Not both have been run"
        if not apart:
            return f"No test of suite {suite} distinguishes them"
        return f"{counted(apart, 'test')} of suite {suite} {'tell' if apart > 1 else 'tells'} them apart"

    # -- actions -----------------------------------------------------------------------------------

    def action_change(self, step: int) -> None:
        if not self.query_one(Reader).jump(CHANGE, step):
            self.notify("There are no differences.")

    def action_swap(self) -> None:
        self.left, self.right = self.right, self.left
        self._read_lines()

    def action_beside(self) -> None:
        self._beside = not self.beside
        self.redraw()

    def action_whole(self) -> None:
        self.whole = not self.whole
        self.redraw()

    def action_every(self) -> None:
        self.every = not self.every
        self._list()


def _side_title(sign: str, style: str, solution: MatrixSolution) -> Content:
    mark = OUTCOME_MARKS[solution.gold][0]
    return Content.assemble(
        (f"{sign} ", f"bold $text-{style}"),
        (printable(solution.solution_id), "bold"),
        f" · {pass_view.passed_words(solution.outcomes)} · gold {mark} {solution.gold}",
        f" · {printable(solution.model)}" if solution.model else "",
    )


def _read(project: Project, matrix: PassMatrix, pair: tuple[int, int], also: Collection[str]) -> list[DiffLine]:
    reveal_each(project, pair, also)
    left, right = (solution_code(project, matrix, completion).source for completion in pair)
    return diff_rows(left, right)


def diff_text(rows: Sequence[DiffLine], width: int, *, beside: bool, whole: bool = False) -> RenderedText:
    """Return the rows as text for a pane of this width.

    Args:
        rows: As `diff_rows` returns them.
        width: Cells of a line; side by side, each line is exactly as wide.
        beside: Show both sides next to each other; else removed lines above added ones.
        whole: Show all lines; else only the first and last of many consecutive equal lines.
    """
    digits = len(str(max((side.number for row in rows for side in (row.left, row.right) if side), default=1)))
    lines: list[Line] = []
    changes: list[int] = []
    draw = _side_by_side if beside else _unified
    for block in _blocks(rows):
        if block[0].kind != "same":
            changes.append(len(lines))
        elif not whole and len(block) > _MIN_FOLDED:
            lines.extend(draw(block[:_CONTEXT], width, digits))
            lines.append((Span(f"⋯ {len(block) - 2 * _CONTEXT:,} equal lines", "dim"),))
            block = block[-_CONTEXT:]
        lines.extend(draw(block, width, digits))
    return RenderedText(tuple(RenderedLine(line, (0, 0)) for line in lines), {CHANGE: changes})


def _blocks(rows: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    block: list[DiffLine] = []
    for row in rows:
        if block and (block[0].kind == "same") != (row.kind == "same"):
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _side_by_side(block: Sequence[DiffLine], width: int, digits: int) -> Iterator[Line]:
    room = max((width - len(SPLIT)) // 2, digits + 4)
    for row in _pair_lines(block):
        left = _diff_side(row.left, "" if row.kind == "same" else "removed", room, digits)
        right = _diff_side(row.right, "" if row.kind == "same" else "added", room, digits)
        for one, other in zip_longest(left, right, fillvalue=()):
            yield *padded(one, room), Span(SPLIT, "dim"), *other


def _pair_lines(block: Sequence[DiffLine]) -> Iterator[DiffLine]:
    for alone, rows in groupby(block, key=lambda row: row.kind in ("removed", "added")):
        if not alone:
            yield from rows
            continue
        some = list(rows)
        sides = ([row.left for row in some if row.left], [row.right for row in some if row.right])
        yield from (DiffLine("changed", left, right) for left, right in zip_longest(*sides))


def _unified(block: Sequence[DiffLine], width: int, digits: int) -> Iterator[Line]:
    for row in block:
        if row.kind == "same":
            yield from _diff_side(row.right, "", width, digits)
    if block[0].kind != "same":
        for row in block:
            yield from _diff_side(row.left, "removed", width, digits)
        for row in block:
            yield from _diff_side(row.right, "added", width, digits)


def _diff_side(side: DiffSide | None, style: StyleName, width: int, digits: int) -> list[Line]:
    if side is None:
        return []
    pieces = split_spans(_emphasised_spans(side, style), max(width - digits - 3, 1))
    drawn: list[Line] = []
    for place, piece in enumerate(pieces):
        number = str(side.number) if not place else ""
        sign = _SIGNS[style] if not place else " "
        gutter = (Span(f"{number:>{digits}} ", "dim"), Span(f"{sign} ", style))
        drawn.append((*gutter, *(padded(piece, width - digits - 3, style) if style else piece)))
    return drawn


def _emphasised_spans(side: DiffSide, style: StyleName) -> Iterator[Span]:
    if not style:
        yield Span(inert(side.text))
        return
    word: StyleName = "removed.word" if style == "removed" else "added.word"
    at = 0
    for start, end in side.differs:
        yield Span(inert(side.text[at:start]), style)
        yield Span(inert(side.text[start:end]), word)
        at = end
    yield Span(inert(side.text[at:]), style)


def compare(screen: WorkbenchScreen, matrix: PassMatrix, comparing: Comparing, solution: int) -> None:
    pair = comparing.take(solution)
    if pair is not None:
        screen.app.push_screen(CodeDiffScreen(matrix, *pair))
    elif comparing.marked is not None:
        screen.notify("Marked. Press the same key on another solution to compare the two.")
    else:
        screen.notify("No longer marked.")
