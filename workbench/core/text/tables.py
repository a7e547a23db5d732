"""Markdown tables with their columns aligned."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.text.document import RenderedLine
from workbench.core.text.emphasis import emphasise
from workbench.core.text.pieces import Piece, to_line

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


class TableLine(NamedTuple):
    """One line of a table: its offsets, and its pieces with the borders still in them."""

    start: int
    end: int
    pieces: list[Piece]


def is_table(head: list[Piece], ruler: list[Piece]) -> bool:
    """Whether two lines begin a table: both have the same columns, at least two, so that ``|x|`` is none."""
    return len(_cells(head)) == len(_cells(ruler)) > 1


def table_lines(text: str, rows: Sequence[TableLine], answer: tuple[int, int] | None) -> list[RenderedLine]:
    """Render a table's rows, the second being its separator.

    A row with more or fewer cells than the head, as ``|x|`` in a cell makes it, is shown as typed.

    Args:
        text: The whole text.
        rows: The rows.
        answer: The final answer's offsets.
    """
    grid = [_cells(row.pieces) for row in rows]
    columns = len(grid[0])
    widths = [0] * columns
    for number, row in enumerate(grid):
        row[:] = [emphasise(cell, text) if any("*" in piece.text for piece in cell) else cell for cell in row]
        if number != 1 and len(row) == columns:
            widths = [max(wide, min(_cell_width(cell), MAX_CELL)) for wide, cell in zip(widths, row, strict=True)]
    return [
        _line(number, row, cells, widths, answer) for number, (row, cells) in enumerate(zip(rows, grid, strict=True))
    ]


def _line(
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
            pieces.append(_filler(" │ ", source))
        pieces.extend(piece._replace(style="bold") if number == 0 and not piece.style else piece for piece in cell)
        pieces.append(_filler(" " * (wide - _cell_width(cell)), source))
    return to_line([piece for piece in pieces if piece.text], source, answer)


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
