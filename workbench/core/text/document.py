"""Rendered text: lines of styled spans; each line knows the part of the source text it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from workbench.core.text.inert import inert

StyleName = Literal[
    "",
    "math",
    "code",
    "code.keyword",
    "code.string",
    "code.comment",
    "code.number",
    "code.name",
    "heading",
    "bold",
    "italic",
    "dim",
    "answer",
    "guess",
    "success",
    "think",
    "quote",
    "error",
    "removed",
    "removed.word",
    "added",
    "added.word",
]
"""The meaning of a span; a front end decides its appearance."""


class Span(NamedTuple):
    text: str
    style: StyleName = ""


class RenderedLine(NamedTuple):
    """One line before wrapping.

    Attributes:
        spans: The styled text, in order; no line breaks and no control characters.
        source: Start and end offsets (characters) into the raw text.
    """

    spans: tuple[Span, ...]
    source: tuple[int, int]

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


class RenderedText(NamedTuple):
    """A whole text, ready to be wrapped.

    Attributes:
        lines: The lines, in order.
        marks: Indexes of the lines in which marked parts begin, by mark ("boxed", "answer", "think_end", "code"),
            and of those that are not wrapped ("aligned").
    """

    lines: tuple[RenderedLine, ...]
    marks: dict[str, list[int]]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


# -- Pieces of one line: texts with their offsets in the source; the final answer is a separate piece.


ANSWER_SIGN = "▶ "
"""The sign before the line that holds the final answer, so that colour is not the only mark."""


class Piece(NamedTuple):
    """A span of one line.

    Attributes:
        text: The displayed text.
        style: Its style.
        start: Offset of the source text that it shows.
        end: Offset after that source text.
        literal: Whether ``text`` is the source text itself, character by character.
    """

    text: str
    style: StyleName
    start: int
    end: int
    literal: bool = True


def to_line(pieces: Sequence[Piece], source: tuple[int, int], answer: tuple[int, int] | None) -> RenderedLine:
    """Join pieces to a line; the final answer gets its style, and its first line the answer sign."""
    if answer is None or answer[0] >= source[1] or answer[1] <= source[0]:
        return RenderedLine(tuple(Span(inert(piece.text), piece.style) for piece in pieces), source)
    spans: list[Span] = []
    for piece in pieces:
        spans.extend(_split_at_answer(piece, *answer))
    if answer[0] >= source[0] and any(span.style == "answer" for span in spans):
        spans.insert(0, Span(ANSWER_SIGN, "success"))
    return RenderedLine(tuple(spans), source)


def _split_at_answer(piece: Piece, start: int, end: int) -> list[Span]:
    if end <= piece.start or start >= piece.end:
        return [Span(inert(piece.text), piece.style)]
    if not piece.literal:
        return [Span(inert(piece.text), "answer")]
    first, last = max(start - piece.start, 0), end - piece.start
    parts: list[tuple[str, StyleName]] = [
        (piece.text[:first], piece.style),
        (piece.text[first:last], "answer"),
        (piece.text[last:], piece.style),
    ]
    return [Span(inert(text), style) for text, style in parts if text]
