"""A solution's code with its line numbers, and its tests as rows of a table."""

from __future__ import annotations

from typing import Final, NamedTuple

from workbench.app.tui.keymap import key_of
from workbench.app.tui.kit.pass_grid import FORGEABLE
from workbench.app.tui.kit.pass_view import INSIDE, LETTER_STYLES, SHORT, Line, failure_of, fault_of, letter_at
from workbench.app.tui.kit.wrapping import split_spans
from workbench.coding.matrix import failure_words
from workbench.core.code import BROKEN, NOT_RUN, PASS, CodeTest
from workbench.core.text.code import code_lines
from workbench.core.text.document import RenderedLine, RenderedText, Span
from workbench.data.records import MatrixSolution, PassMatrix, SolutionCode
from workbench.tables.document import Cell, Tone
from workbench.tables.table import Columns, column, word

RAISED: Final = "raised"
"""The mark of the line where a test's error was raised."""

_HERE: Final = "▶"


class NumberedCode(NamedTuple):
    """Code ready for display.

    Attributes:
        lines: Its lines, highlighted.
    """

    lines: tuple[Line, ...]

    def text(self, width: int, marked: int | None = None) -> RenderedText:
        """Return the lines with their numbers, cut to `width` cells; the marked one (from 1) has an arrow before it."""
        digits = len(str(len(self.lines)))
        drawn: list[RenderedLine] = []
        marks: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines, 1):
            here = number == marked
            if here:
                marks[RAISED] = [len(drawn)]
            for place, piece in enumerate(split_spans(line, max(width - digits - 2, 1))):
                gutter = f"{_HERE if here else ' '}{number if not place else '':>{digits}} "
                drawn.append(RenderedLine((Span(gutter, "error" if here else "dim"), *piece), (0, 0)))
        return RenderedText(tuple(drawn), marks)


def numbered(code: SolutionCode, language: str) -> NumberedCode:
    return NumberedCode(tuple(code_lines(code.source.rstrip("\n"), language)))


def code_title(code: SolutionCode) -> str:
    """Return the title of the code, which says whether it is stored code or was put together or extracted."""
    if code.form == "continuation":
        return "Code: the prompt and its continuation"
    if code.form == "reply":
        return f"Code in the reply ({code.extractor}) · {key_of('code-solution.item')} shows the whole reply"
    return "Code"


def failing_tests(matrix: PassMatrix, solution: MatrixSolution) -> list[int]:
    letters = [letter_at(solution.outcomes, test) for test in range(matrix.width)]
    return [test for test, letter in enumerate(letters) if letter not in (PASS, NOT_RUN, BROKEN)]


def test_columns(matrix: PassMatrix, solution: MatrixSolution) -> Columns[int]:
    def number(position: int) -> str:
        test = matrix.test_of(solution, position)
        return f"{position + 1}{FORGEABLE if test is not None and matrix.where.get(test) in INSIDE else ''}"

    return (
        word("test", number, room=5),
        column("outcome", lambda test: letter_at(solution.outcomes, test), outcome_cell, words=True, room=18),
        word("why", lambda test: _failure_reason(matrix, solution, test), room=(12, 40)),
        word("source", lambda test: source_of(matrix.test_of(solution, test)), room=(12, 60), tone="dim"),
    )


def source_of(test: CodeTest | None) -> str:
    return "" if test is None else test.source


def outcome_cell(letter: str) -> Cell:
    return Cell(f"{letter} {SHORT[letter]}", _outcome_tone(letter))


def _outcome_tone(letter: str) -> Tone:
    if letter in (NOT_RUN, BROKEN):
        return "dim"
    return "error" if LETTER_STYLES.get(letter) == "error" else "success" if letter == PASS else "warning"


def _failure_reason(matrix: PassMatrix, solution: MatrixSolution, position: int) -> str:
    failure = failure_of(solution.execution, position)
    if position in matrix.excluded:
        return matrix.excluded[position].words
    return fault_of(matrix, solution, position) if failure is None else failure_words(failure)
