"""Rendered text: lines of styled spans, each line tied to the characters it came from."""

from __future__ import annotations

from typing import Literal, NamedTuple

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
"""What a span means; a front end decides how that looks."""


class Span(NamedTuple):
    """A stretch of text in one style."""

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
        """The line without its styles."""
        return "".join(span.text for span in self.spans)


class RenderedText(NamedTuple):
    """A whole text, ready to be wrapped.

    Attributes:
        lines: The lines, in order.
        marks: Names of places ("boxed", "answer", "think_end", "code") and the indices of the lines they begin in.
    """

    lines: tuple[RenderedLine, ...]
    marks: dict[str, list[int]]

    @property
    def text(self) -> str:
        """All lines without their styles."""
        return "\n".join(line.text for line in self.lines)
