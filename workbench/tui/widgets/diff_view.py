"""A comparison of two texts as lines to read: side by side where there is room, else one above the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Final

from workbench.render.diff import DiffLine, DiffSide
from workbench.render.document import RenderedLine, RenderedText, Span, StyleName
from workbench.render.inert import inert
from workbench.tui.widgets.cutting import cut, padded

CHANGE: Final = "change"
"""The mark of the first line of every stretch that differs."""

SPLIT: Final = " │ "

_LONG: Final = 12  # equal lines, from which only the ends of a stretch are shown
_CONTEXT: Final = 4  # lines of an end

_SIGNS: Final[dict[StyleName, str]] = {"": " ", "removed": "-", "added": "+"}

Line = tuple[Span, ...]


def diff_text(rows: Sequence[DiffLine], width: int, *, beside: bool, whole: bool = False) -> RenderedText:
    """The rows for a reader of so many cells.

    Args:
        rows: As `diff_rows` makes them.
        width: Cells of a line; each is exactly as wide where both sides stand beside each other.
        beside: Both sides beside each other; else removed lines stand above added ones.
        whole: All lines; else of a long stretch without a change only its ends.
    """
    digits = len(str(max((side.number for row in rows for side in (row.left, row.right) if side), default=1)))
    lines: list[Line] = []
    changes: list[int] = []
    draw = _beside if beside else _above
    for block in _blocks(rows):
        if block[0].kind != "same":
            changes.append(len(lines))
        elif not whole and len(block) > _LONG:
            lines.extend(draw(block[:_CONTEXT], width, digits))
            lines.append((Span(f"⋯ {len(block) - 2 * _CONTEXT:,} equal lines", "dim"),))
            block = block[-_CONTEXT:]
        lines.extend(draw(block, width, digits))
    return RenderedText(tuple(RenderedLine(line, (0, 0)) for line in lines), {CHANGE: changes})


def _blocks(rows: Sequence[DiffLine]) -> Iterator[list[DiffLine]]:
    """Rows in stretches that are the same, or are not."""
    block: list[DiffLine] = []
    for row in rows:
        if block and (block[0].kind == "same") != (row.kind == "same"):
            yield block
            block = []
        block.append(row)
    if block:
        yield block


def _beside(block: Sequence[DiffLine], width: int, digits: int) -> Iterator[Line]:
    room = max((width - len(SPLIT)) // 2, digits + 4)
    for row in _closed_up(block):
        left = _side(row.left, "" if row.kind == "same" else "removed", room, digits)
        right = _side(row.right, "" if row.kind == "same" else "added", room, digits)
        for one, other in zip_longest(left, right, fillvalue=()):
            yield *padded(one, room), Span(SPLIT, "dim"), *other


def _closed_up(block: Sequence[DiffLine]) -> Iterator[DiffLine]:
    """The rows with lines of either side alone beside each other, so that there are no gaps on both."""
    for alone, rows in groupby(block, key=lambda row: row.kind in ("removed", "added")):
        if not alone:
            yield from rows
            continue
        some = list(rows)
        sides = ([row.left for row in some if row.left], [row.right for row in some if row.right])
        yield from (DiffLine("changed", left, right) for left, right in zip_longest(*sides))


def _above(block: Sequence[DiffLine], width: int, digits: int) -> Iterator[Line]:
    for row in block:
        if row.kind == "same":
            yield from _side(row.right, "", width, digits)
    if block[0].kind != "same":
        for row in block:
            yield from _side(row.left, "removed", width, digits)
        for row in block:
            yield from _side(row.right, "added", width, digits)


def _side(side: DiffSide | None, style: StyleName, width: int, digits: int) -> list[Line]:
    """A line of one text behind its number and sign, cut to the width; the cuts have neither."""
    if side is None:
        return []
    pieces = cut(_emphasised(side, style), max(width - digits - 3, 1))
    drawn: list[Line] = []
    for place, piece in enumerate(pieces):
        number = str(side.number) if not place else ""
        sign = _SIGNS[style] if not place else " "
        gutter = (Span(f"{number:>{digits}} ", "dim"), Span(f"{sign} ", style))
        drawn.append((*gutter, *(padded(piece, width - digits - 3, style) if style else piece)))
    return drawn


def _emphasised(side: DiffSide, style: StyleName) -> Iterator[Span]:
    """The text of a line, harmless to look at, with the words that differ in a style of their own."""
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
