"""Styled lines cut to a width, every character kept: for code, whose blanks mean something."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size

from workbench.app.tui.kit.cells import printable
from workbench.core.text.document import Span, StyleName


def cut(spans: Iterable[Span], width: int) -> list[tuple[Span, ...]]:
    """A line in pieces of at most `width` cells (and at least one character); an empty one is one piece."""
    pieces: list[list[Span]] = [[]]
    room = width
    for span in spans:
        text = printable(span.text)
        while text:
            fitting = _fitting(text, room, first=room == width)
            if fitting:
                pieces[-1].append(Span(text[:fitting], span.style))
                room -= cell_len(text[:fitting])
                text = text[fitting:]
            if text:
                pieces.append([])
                room = width
    return [tuple(piece) for piece in pieces]


def _fitting(text: str, room: int, *, first: bool) -> int:
    """How many characters fit."""
    if text.isascii():
        return max(min(len(text), room), int(first))
    cells = 0
    for place, character in enumerate(text):
        cells += get_character_cell_size(character)
        if cells > room and not (first and place == 0):
            return place
    return len(text)


def padded(spans: Sequence[Span], width: int, style: StyleName = "") -> tuple[Span, ...]:
    """The spans filled up to `width` cells with blanks of a style."""
    missing = width - sum(cell_len(span.text) for span in spans)
    return (*spans, Span(" " * missing, style)) if missing > 0 else tuple(spans)
