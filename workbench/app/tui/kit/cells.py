"""Texts made safe for a line of terminal cells, of an exact width, with parts such as search hits in another style."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.visual import VisualType
from textual.widgets import Static

from workbench.core.text.inert import inert

Align = Literal["left", "right"]
MAX_CELL: Final = 500
"""Maximum characters of a cell; longer cells are cut before they are measured."""
_LINE_END = re.compile("\r\n|[\n\u2028\u2029]")
_SHAPING = re.compile("[\u200c\u200d\ufe00-\ufe0f]")  # joiners and variation selectors


def printable(text: str) -> str:
    """Return the text in one line, in characters that each take 0, 1 or 2 cells regardless of their neighbours.

    Line ends become ``↵`` and tabs a space; control and invisible characters are replaced as by
    `inert`. Joiners and variation selectors are left out: terminals disagree about their widths.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SHAPING.sub("", inert(_LINE_END.sub("↵", text).replace("\t", " ")))


def fit(text: str, width: int, align: Align = "left") -> str:
    """Cut the text with ``…`` or pad it to exactly `width` cells."""
    if width <= 0:
        return ""
    shown = printable(text[:MAX_CELL])
    size = cell_len(shown)
    if size > width or len(text) > MAX_CELL:
        return set_cell_size(set_cell_size(shown, min(size, width - 1)) + "…", width)
    padding = " " * (width - size)
    return padding + shown if align == "right" else shown + padding


def fit_cell(text: str, width: int, align: Align = "left") -> str:
    """Fit a cell as `fit` does, but cut a path in its middle, since paths begin alike and differ at their ends."""
    is_path = "/" in text and " " not in text and text.isascii() and text.isprintable()
    if len(text) > width > 2 and align == "left" and is_path:
        last = width // 2
        return f"{text[: width - 1 - last]}…{text[-last:]}"
    return fit(text, width, align)


def show_line(line: Static, text: VisualType) -> None:
    """Show a text in a line that takes no room without one."""
    line.update(text)
    line.display = bool(text)


def restyle(segments: Iterable[Segment], start: int, end: int, style: Style) -> list[Segment]:
    """Return the segments with `style` added to characters `start` to `end`."""
    result: list[Segment] = []
    position = 0
    for text, old, _ in segments:
        first = min(max(start - position, 0), len(text))
        last = min(max(end - position, 0), len(text))
        both = style if old is None else old + style
        for part, look in ((text[:first], old), (text[first:last], both), (text[last:], old)):
            if part:
                result.append(Segment(part, look))
        position += len(text)
    return result


def highlight_matches(strip: Strip, sought: re.Pattern[str], style: Style) -> Strip:
    segments = list(strip)
    for found in sought.finditer(strip.text):
        segments = restyle(segments, *found.span(), style)
    return Strip(segments, strip.cell_length)
