"""Excerpts of texts, and abbreviated ids."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from workbench.core.text.inert import inert
from workbench.core.text.markdown import render
from workbench.core.text.math import render_math

_CONTEXT_CHARACTERS = 60
_MAX_PART = 200


class LineExcerpt(NamedTuple):
    """A line in three parts, each shortened and without control characters; ``…`` marks omissions."""

    before: str
    marked: str
    after: str


def excerpt(text: str, span: tuple[int, int]) -> LineExcerpt | None:
    """Return the line of a text that contains a span; None if the span is outside the text."""
    start, end = span
    if not 0 <= start <= end <= len(text):
        return None
    left = text.rfind("\n", 0, start) + 1
    right = text.find("\n", end)
    before = text[left:start]
    after = text[end:] if right < 0 else text[end:right]
    marked = text[start:end]
    return LineExcerpt(
        before=inert(before if len(before) <= _CONTEXT_CHARACTERS else "…" + before[-_CONTEXT_CHARACTERS:]),
        marked=shortened(marked),
        after=inert(after if len(after) <= _CONTEXT_CHARACTERS else after[:_CONTEXT_CHARACTERS] + "…"),
    )


def shorten_line(text: str, most: int) -> str:
    """Return a text as one line of about ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


def shortened(text: str) -> str:
    return inert(text if len(text) <= _MAX_PART else text[:_MAX_PART] + "…")


# -- Finding a search text as the database does: ASCII letters match in either case.


_BEFORE, _BEHIND = 10, 80


def search_pattern(search: str) -> re.Pattern[str]:
    return re.compile(re.escape(search), re.IGNORECASE | re.ASCII)


def snippet(text: str, search: str) -> str | None:
    """Return the first occurrence of a search text in one line with its context; None if there is none."""
    found = search_pattern(search).search(text)
    if found is None:
        return None
    start, end = max(0, found.start() - _BEFORE), min(len(text), found.end() + _BEHIND)
    around = text[start:end].replace("\n", " ")
    return f"{'…' if start else ''}{around}{'…' if end < len(text) else ''}"


# -- Rendering a final answer without its text.


LONGEST = 2_000
"""Most characters of a rendered answer."""
_MAX_SHORT = 24
"""Most characters of an answer in a sentence."""
_DELIMITED = re.compile(r"(?<!\\)(?:\$|\\[()\[\]]|\\(?:boxed|fbox))")
_MATH = re.compile(r"\\|\^|_\{")
_LINES = re.compile(r"\s*\n\s*")
_BOX = ("\\boxed", "\\fbox")


def render_answer(text: str) -> str:
    """Render a final answer as within its text. LaTeX without delimiters, as in most boxes, is rendered as math."""
    text = text[:LONGEST]
    if _DELIMITED.search(text) is not None:
        shown = render(_close_delimiters(text)).text.strip()
        return _LINES.sub(" ", shown) if _is_box(text) else shown
    return render_math(text) if _MATH.search(text) is not None else render(text).text


def shown_answer(text: str, *, raw: bool = False) -> str:
    """Return a final answer rendered, or raw as stored; both are safe to display."""
    return inert(text) if raw else render_answer(text).strip() or inert(text)


def short_answer(text: str | None, *, raw: bool = False) -> str:
    """Return a final answer as displayed if it is short enough for a sentence, else ""."""
    shown = shown_answer(text or "", raw=raw)
    return shown if len(shown) <= _MAX_SHORT and "\n" not in shown else ""


def _is_box(text: str) -> bool:
    return text.startswith(_BOX) and text.endswith("}")


def _close_delimiters(text: str) -> str:
    if not _is_box(text):
        return text
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        opens, closes = text.find(opening), text.find(closing)
        if 0 <= closes < (opens if opens >= 0 else len(text)):
            text = opening + text
        if text.rfind(opening) > text.rfind(closing):
            text += closing
    dollars = "$$" if "$$" in text else "$"
    if text.count(dollars) % 2:
        return text + dollars
    return f"{dollars}{text}{dollars}" if dollars in text else text


_ENOUGH: Final = 5
"""Minimum characters of an abbreviated id."""


def abbreviate_ids(ids: Collection[str]) -> dict[str, str]:
    """Abbreviate each id to ``…`` and its last characters: as many as distinguish all ids, at least 5.

    An id that is only slightly longer is not abbreviated.
    """
    known = set(ids)
    longest = max(map(len, known), default=0)
    length = next(
        (length for length in range(_ENOUGH, longest) if len({one[-length:] for one in known}) == len(known)), longest
    )
    return {one: one if len(one) <= length + 1 else f"…{one[-length:]}" for one in known}
