"""Markdown tables with their columns aligned."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from workbench.render.document import RenderedLine
from workbench.render.pieces import Piece, to_line

MAX_CELL = 60
"""Cells wider than this (columns) are not padded to."""

_CELL_BORDER = re.compile(r"(?<!\\)\|")


def is_separator(line: str) -> bool:
    """True for the line between a table's head and body, such as ``|---|:-:|``."""
    return "-" in line and "|" in line and not line.strip(" \t|:-")


def width(text: str) -> int:
    """Columns a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def table_lines(
    rows: Sequence[list[Piece]], sources: Sequence[tuple[int, int]], answer: tuple[int, int] | None
) -> list[RenderedLine]:
    """Render a table's rows, the second being its separator.

    Args:
        rows: The pieces of each row.
        sources: The offsets of each row.
        answer: The final answer's offsets.
    """
    grid = [_cells(row) for row in rows]
    columns = max(map(len, grid))
    widths = [0] * columns
    for number, row in enumerate(grid):
        for column, cell in enumerate(row):
            if number != 1:
                widths[column] = max(widths[column], min(_cell_width(cell), MAX_CELL))
    lines = []
    for number, (row, source) in enumerate(zip(grid, sources, strict=True)):
        if number == 1:
            ruler = "─┼─".join("─" * wide for wide in widths)
            lines.append(to_line([Piece(ruler, "dim", *source, literal=False)], source, answer))
            continue
        pieces: list[Piece] = []
        for column, cell in enumerate(row):
            if column:
                pieces.append(_filler(" │ ", source))
            pieces.extend(piece._replace(style="bold") if number == 0 and not piece.style else piece for piece in cell)
            pieces.append(_filler(" " * (widths[column] - _cell_width(cell)), source))
        lines.append(to_line([piece for piece in pieces if piece.text], source, answer))
    return lines


def _filler(text: str, source: tuple[int, int]) -> Piece:
    return Piece(text, "dim", source[0], source[0])


def _cell_width(cell: list[Piece]) -> int:
    return sum(width(piece.text) for piece in cell)


def _cells(pieces: list[Piece]) -> list[list[Piece]]:
    """Split a row at its borders and strip each cell."""
    cells: list[list[Piece]] = [[]]
    for piece in pieces:
        if not piece.literal or piece.style == "code":
            cells[-1].append(piece)
            continue
        at = 0
        for match in _CELL_BORDER.finditer(piece.text):
            cells[-1].append(_part(piece, at, match.start()))
            cells.append([])
            at = match.end()
        cells[-1].append(_part(piece, at, len(piece.text)))
    cells = [_stripped(cell) for cell in cells]
    if cells and not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    return cells or [[]]


def _part(piece: Piece, start: int, end: int) -> Piece:
    return Piece(piece.text[start:end], piece.style, piece.start + start, piece.start + end)


def _stripped(cell: list[Piece]) -> list[Piece]:
    """The cell without the blanks at its ends."""
    if cell and cell[0].literal:
        blank = len(cell[0].text) - len(cell[0].text.lstrip())
        cell[0] = _part(cell[0], blank, len(cell[0].text))
    if cell and cell[-1].literal:
        cell[-1] = _part(cell[-1], 0, len(cell[-1].text.rstrip()))
    return [piece for piece in cell if piece.text]
