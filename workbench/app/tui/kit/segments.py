"""Parts of a drawn line in another style, such as search hits."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


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
