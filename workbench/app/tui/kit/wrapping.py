"""Rendered text wrapped to a width: rows that point into its lines."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from typing import Final, NamedTuple

from rich.cells import cell_len, get_character_cell_size

from workbench.app.tui.kit.cells import printable
from workbench.core.text.document import RenderedText, Span, StyleName

_NO_START: Final = frozenset("、。，．,.：；！？!?)）]］】〉》」』〕…‥ー々%％°℃")
_NO_END: Final = frozenset("(（[［【〈《「『〔$￥")


class Extent(NamedTuple):
    """Characters `start` to `end` of a line: one row on the screen, or a search hit."""

    line: int
    start: int
    end: int


class Wrapped(NamedTuple):
    """A rendered text, wrapped to `width` cells.

    Attributes:
        rendered: The original text with its marks.
        lines: Its lines in printable characters, as far as they have been wrapped.
        rows: The rows as shown on the screen, in order.
        complete: False when only the beginning has been wrapped.
        breadth: Cells of the longest row; more than `width` if a table is wider.
        aligned: Indexes of the lines of tables.
    """

    rendered: RenderedText
    width: int
    lines: list[tuple[Span, ...]]
    rows: list[Extent]
    complete: bool
    breadth: int
    aligned: set[int]

    def row_of(self, line: int, offset: int = 0) -> int:
        return max(0, bisect_right(self.rows, (line, offset, sys.maxsize)) - 1)

    def marked_rows(self, mark: str) -> list[int]:
        """Return the rows where the lines with this mark begin; for the final answer, the row where it begins."""
        lines = (line for line in self.rendered.marks.get(mark, ()) if line < len(self.lines))
        return [self.row_of(line, self._answer_offset(line) if mark == "answer" else 0) for line in lines]

    def _answer_offset(self, line: int) -> int:
        before = takewhile(lambda span: span.style not in ("answer", "guess"), self.lines[line])
        return sum(len(span.text) for span in before)

    def text(self, line: int) -> str:
        return "".join(span.text for span in self.lines[line])

    def spans(self, row: int) -> Iterator[Span]:
        line, start, end = self.rows[row]
        position = 0
        for span in self.lines[line]:
            first, last = max(start - position, 0), min(end - position, len(span.text))
            if first < last:
                yield Span(span.text[first:last], span.style)
            position += len(span.text)

    def find(self, text: str) -> list[Extent]:
        """Return every occurrence of `text`; the search is case-sensitive only if `text` has capital letters."""
        wanted = printable(text)
        if not wanted:
            return []
        pattern = re.compile(re.escape(wanted), 0 if wanted != wanted.lower() else re.IGNORECASE)
        return [
            Extent(number, match.start(), match.end())
            for number in range(len(self.lines))
            for match in pattern.finditer(self.text(number))
        ]


def prepare(rendered: RenderedText, width: int, limit: int | None = None) -> Wrapped:
    """Wrap a text to `width` cells; with a `limit`, wrap only about that many rows from its beginning.

    Lines with the mark "aligned", which are those of tables, stay whole.
    It touches no widget: a thread may prepare the next text while this one is read.
    """
    lines: list[tuple[Span, ...]] = []
    rows: list[Extent] = []
    complete = True
    aligned, breadth = {*rendered.marks.get("aligned", ())}, width
    for number, line in enumerate(rendered.lines):
        if limit is not None and len(rows) >= limit:
            complete = False
            break
        lines.append(tuple(Span(printable(span.text), span.style) for span in line.spans))
        text = "".join(span.text for span in lines[-1])
        breaks = wrap_line(text, max(1, width))
        if number in aligned:
            breaks, breadth = iter([(0, len(text))]), max(breadth, cell_len(text))
        if limit is not None:
            breaks = islice(breaks, limit)
        rows.extend(Extent(number, start, end) for start, end in breaks)
        complete = limit is None or rows[-1].end >= len(text.rstrip(" "))
    return Wrapped(rendered, width, lines, rows, complete, breadth, aligned)


def wrap_line(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Break one line of printable text into pieces of at most `width` cells.

    Words are not broken unless they are longer than a line; between wide (CJK) characters a line may break too, but not
    before closing or after opening punctuation. Spaces at a break are not shown.

    Yields:
        Start and end (characters) of each piece; one empty piece for an empty line.
    """
    start, length = 0, len(text)
    if not length:
        yield 0, 0
    while start < length:
        end = _piece_end(text, start, width)
        after = end
        while after < length and text[after] == " ":
            after += 1
        yield start, end
        start = after


def _piece_end(text: str, start: int, width: int) -> int:
    window = text[start : start + width + 1]
    if not window.isascii():
        return _wide_piece_end(text, start, width)
    if len(window) <= width:
        return start + len(window)
    space = window.rfind(" ")
    if space > 0 and not window[:space].isspace():
        return start + len(window[:space].rstrip(" "))
    return start + width


def _wide_piece_end(text: str, start: int, width: int) -> int:
    """Return the piece's end as `_piece_end` does, for text with characters of 0 or 2 cells."""
    cells, candidate, before, inked = 0, 0, "", False
    for index in range(start, len(text)):
        character = text[index]
        size = get_character_cell_size(character)
        if inked and character == " ":
            if before != " ":
                candidate = index
        elif inked and before != " " and _may_break_between(before, character, size):
            candidate = index
        if cells + size > width:
            return candidate or max(index, start + 1)
        cells += size
        inked = inked or character != " "
        before = character if size else before
    return len(text)


def _may_break_between(before: str, after: str, size: int) -> bool:
    if size == 0 or after in _NO_START or before in _NO_END:
        return False
    return size == 2 or get_character_cell_size(before) == 2


# -- Styled lines cut to a width, every character kept: for code, whose blanks mean something.


def split_spans(spans: Iterable[Span], width: int) -> list[tuple[Span, ...]]:
    """Split a line into pieces of at most `width` cells (and at least one character); an empty one is one piece."""
    pieces: list[list[Span]] = [[]]
    room = width
    for span in spans:
        text = printable(span.text)
        while text:
            fitting = _fitting_length(text, room, first=room == width)
            if fitting:
                pieces[-1].append(Span(text[:fitting], span.style))
                room -= cell_len(text[:fitting])
                text = text[fitting:]
            if text:
                pieces.append([])
                room = width
    return [tuple(piece) for piece in pieces]


def _fitting_length(text: str, room: int, *, first: bool) -> int:
    if text.isascii():
        return max(min(len(text), room), int(first))
    cells = 0
    for place, character in enumerate(text):
        cells += get_character_cell_size(character)
        if cells > room and not (first and place == 0):
            return place
    return len(text)


def padded(spans: Sequence[Span], width: int, style: StyleName = "") -> tuple[Span, ...]:
    missing = width - sum(cell_len(span.text) for span in spans)
    return (*spans, Span(" " * missing, style)) if missing > 0 else tuple(spans)
