"""Finds math and inline code in prose, before any other parsing, in one pass whose time is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from workbench.core.text.document import Piece, RenderedLine, to_line
from workbench.core.text.emphasis import emphasise
from workbench.core.text.figures import width
from workbench.core.text.symbols import MATRICES, STACKS

MAX_FRAGMENT = 20_000
"""Most characters between two delimiters of a formula."""
_OPENER = re.compile(
    r"(?P<display>\$\$|\\\[)|(?P<inline>\$|\\\()|(?P<code>`+)|\\begin\{(?P<env>[a-zA-Z]+\*?)\}"
    r"|(?P<box>\\(?:boxed|fbox)\s*\{)|\\[\\$`{}]"
)
_CLOSERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_MATH_LIKE = re.compile(r"[\\=^_<>+]")
_LETTER = re.compile(r"\s*[^\W\d_]\s*")
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_CONTEXT_CHARACTERS = 8
"""Number of characters next to a formula that are examined."""


class Fragment(NamedTuple):
    r"""A span of math or code inside prose.

    Attributes:
        start: Offset of its first delimiter's first character.
        end: Offset after its last delimiter.
        kind: Math or code.
        body: The text between the delimiters (with them, for ``\boxed{..}`` and ``\begin{..}`` in plain prose).
        display: Whether it is display math, which has its own lines.
    """

    start: int
    end: int
    kind: Literal["math", "code"]
    body: str
    display: bool = False


def fragments(text: str, start: int, end: int) -> Iterator[Fragment]:
    finder = _Finder(text, end)
    at = start
    while (match := _OPENER.search(text, at, end)) is not None:
        found = finder.fragment(match)
        if found is not None:
            yield found
        at = found.end if found is not None else match.end()


class _Finder:
    def __init__(self, text: str, end: int) -> None:
        self.text = text
        self.end = end
        self.next: dict[str, int] = {}
        self.braces: dict[int, int] | None = None

    def fragment(self, match: re.Match[str]) -> Fragment | None:
        start, inside = match.span()
        if match["code"]:
            return self.code(start, match["code"])
        if match["box"]:
            close = self.closing_brace(inside - 1)
            return None if close is None else self.math(start, start, close + 1, close + 1, display=False)
        if match["env"]:
            return self.environment(start, match["env"])
        if match["display"]:
            return self.closed(start, _CLOSERS[match["display"]], display=True)
        if match["inline"] == "$":
            return self.dollars(start)
        return self.closed(start, "\\)", display=False) if match["inline"] else None

    def find(self, closer: str, at: int) -> int | None:
        known = self.next.get(closer, -1)
        if known < at:
            known = self.text.find(closer, at, self.end)
            self.next[closer] = known = self.end if known < 0 else known
        return known if known < self.end else None

    def math(self, start: int, body: int, body_end: int, end: int, *, display: bool) -> Fragment | None:
        if not 0 < body_end - body <= MAX_FRAGMENT or "\n\n\n" in self.text[body:body_end]:
            return None
        return Fragment(start, end, "math", self.text[body:body_end], display)

    def closed(self, start: int, closer: str, *, display: bool) -> Fragment | None:
        close = self.find(closer, start + 2)
        if close is None:
            return None
        again = self.find(self.text[start : start + 2], start + 2) if closer != "$$" else None
        if (again is not None and again < close) or (not display and "\n\n" in self.text[start:close]):
            return None
        return self.math(start, start + 2, close, close + 2, display=display)

    def environment(self, start: int, name: str) -> Fragment | None:
        if name not in STACKS and name not in MATRICES:
            return None
        closer = f"\\end{{{name}}}"
        close = self.find(closer, start)
        if close is None:
            return None
        end = close + len(closer)
        return self.math(start, start, end, end, display=name in STACKS)

    def dollars(self, start: int) -> Fragment | None:
        """Find ``$..$`` within a paragraph; dollar signs of amounts ("$5 and $6") are not math, by pandoc's rule."""
        close = self.find("$", start + 1)
        while close is not None and self.text[close - 1] == "\\":
            close = self.find("$", close + 1)
        if close is None or close - start > MAX_FRAGMENT:
            return None
        body = self.text[start + 1 : close]
        if not body.strip() or "\n\n" in body:
            return None
        tight = not body[0].isspace() and not body[-1].isspace() and not self.text[close + 1 : close + 2].isdigit()
        spaced = body[0].isspace() and body[-1].isspace() and (_MATH_LIKE.search(body) or _LETTER.fullmatch(body))
        if not (tight or spaced) or ("\\" not in body and self.are_signs(start, close, body)):
            return None
        return Fragment(start, close + 1, "math", body)

    def are_signs(self, start: int, close: int, body: str) -> bool:
        if sum(body.count(mark) for mark in "([{") != sum(body.count(mark) for mark in ")]}"):
            return True
        before = self.text[max(start - _CONTEXT_CHARACTERS, 0) : start].rstrip(" ")[-1:]
        after = self.text[close + 1 : min(close + 1 + _CONTEXT_CHARACTERS, self.end)].lstrip(" ")[:1]
        return (before.isdigit() or before in _CLOSING) and (after.isdigit() or after in _OPENING)

    def code(self, start: int, ticks: str) -> Fragment | None:
        inside = start + len(ticks)
        newline = self.find("\n", inside)
        line_end = self.end if newline is None else newline
        close = self.text.find(ticks, inside, line_end)
        if close < 0 or close == inside:
            return None
        return Fragment(start, close + len(ticks), "code", self.text[inside:close])

    def closing_brace(self, opening: int) -> int | None:
        if self.braces is None:
            stack: list[int] = []
            self.braces = {}
            for match in _BRACES.finditer(self.text, opening, self.end):
                if match[0] == "{":
                    stack.append(match.start())
                elif match[0] == "}" and stack:
                    self.braces[stack.pop()] = match.start()
        return self.braces.get(opening)


# -- Markdown tables with their columns aligned.


MAX_CELL = 60
"""Widest cell, in columns, to which others are padded."""
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def is_separator(line: str) -> bool:
    """Return whether a line separates a table's head from its body, such as ``|---|:-:|``."""
    return "-" in line and "|" in line and not line.strip(" \t|:-")


class TableLine(NamedTuple):
    """One line of a table: its offsets, and its pieces, which still contain the column separators."""

    start: int
    end: int
    pieces: list[Piece]


def is_table(head: list[Piece], ruler: list[Piece]) -> bool:
    """Return whether two lines begin a table: both have the same number of columns, at least two; bars in ``|x|`` don't
    separate columns."""
    return len(_split_cells(head)) == len(_split_cells(ruler)) > 1


def table_lines(text: str, rows: Sequence[TableLine], answer: tuple[int, int] | None) -> list[RenderedLine]:
    """Render a table's rows, the second being its separator.

    A row with more or fewer cells than the head, such as one with ``|x|`` in a cell, is shown unchanged.

    Args:
        text: The whole text.
        rows: The rows.
        answer: The final answer's offsets.
    """
    grid = [_split_cells(row.pieces) for row in rows]
    columns = len(grid[0])
    widths = [0] * columns
    for number, row in enumerate(grid):
        row[:] = [emphasise(cell, text) if any("*" in piece.text for piece in cell) else cell for cell in row]
        if number != 1 and len(row) == columns:
            widths = [max(wide, min(_cell_width(cell), MAX_CELL)) for wide, cell in zip(widths, row, strict=True)]
    return [
        _table_line(number, row, cells, widths, answer)
        for number, (row, cells) in enumerate(zip(rows, grid, strict=True))
    ]


def _table_line(
    number: int, row: TableLine, cells: list[list[Piece]], widths: list[int], answer: tuple[int, int] | None
) -> RenderedLine:
    source = (row.start, row.end)
    if number == 1:
        ruler = "─┼─".join("─" * wide for wide in widths)
        return to_line([Piece(ruler, "dim", *source, literal=False)], source, answer)
    if len(cells) != len(widths):
        return to_line(row.pieces, source, answer)
    pieces: list[Piece] = []
    for column, (cell, wide) in enumerate(zip(cells, widths, strict=True)):
        if column:
            pieces.append(_filler_piece(" │ ", source))
        pieces.extend(piece._replace(style="bold") if number == 0 and not piece.style else piece for piece in cell)
        pieces.append(_filler_piece(" " * (wide - _cell_width(cell)), source))
    return to_line([piece for piece in pieces if piece.text], source, answer)


def _filler_piece(text: str, source: tuple[int, int]) -> Piece:
    return Piece(text, "dim", source[0], source[0])


def _cell_width(cell: list[Piece]) -> int:
    return sum(width(piece.text) for piece in cell)


def _split_cells(pieces: list[Piece]) -> list[list[Piece]]:
    cells: list[list[Piece]] = [[]]
    for piece in pieces:
        if not piece.literal or piece.style == "code":
            cells[-1].append(piece)
            continue
        at = 0
        for match in _CELL_BORDER.finditer(piece.text):
            cells[-1].append(_cut_piece(piece, at, match.start()))
            cells.append([])
            at = match.end()
        cells[-1].append(_cut_piece(piece, at, len(piece.text)))
    cells = [_strip_cell(cell) for cell in cells]
    if cells and not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    return cells or [[]]


def _cut_piece(piece: Piece, start: int, end: int) -> Piece:
    return Piece(piece.text[start:end], piece.style, piece.start + start, piece.start + end)


def _strip_cell(cell: list[Piece]) -> list[Piece]:
    if cell and cell[0].literal:
        blank = len(cell[0].text) - len(cell[0].text.lstrip())
        cell[0] = _cut_piece(cell[0], blank, len(cell[0].text))
    if cell and cell[-1].literal:
        cell[-1] = _cut_piece(cell[-1], 0, len(cell[-1].text.rstrip()))
    return [piece for piece in cell if piece.text]
