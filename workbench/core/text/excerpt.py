"""Where a final answer stands in its text: the line around it, harmless to look at."""

from __future__ import annotations

from typing import NamedTuple

from workbench.core.text.inert import inert

_AROUND = 60
_LONGEST = 200


class LineExcerpt(NamedTuple):
    """A line in three parts, each inert and cut; ``…`` stands where something was left out."""

    before: str
    marked: str
    after: str


def excerpt(text: str, span: tuple[int, int]) -> LineExcerpt | None:
    """The line of a text around a span of it; None when the span is none of the text."""
    start, end = span
    if not 0 <= start <= end <= len(text):
        return None
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", end)
    before = text[left:start]
    after = text[end:] if right < 0 else text[end:right]
    marked = text[start:end]
    return LineExcerpt(
        before=inert(before if len(before) <= _AROUND else "…" + before[-_AROUND:]),
        marked=shortened(marked),
        after=inert(after if len(after) <= _AROUND else after[:_AROUND] + "…"),
    )


def shortened(text: str) -> str:
    """A text's beginning, inert."""
    return inert(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
