"""A final answer by itself, for reading."""

from __future__ import annotations

import re

from workbench.core.text.inert import inert
from workbench.core.text.math import render_math
from workbench.core.text.text import render

LONGEST = 2_000
"""Characters of an answer that are rendered."""

_SHORT = 24
"""Characters an answer may have to stand within a sentence."""

_DELIMITED = re.compile(r"(?<!\\)(?:\$|\\[()\[\]]|\\(?:boxed|fbox))")
_MATH = re.compile(r"\\|\^|_\{")
_LINES = re.compile(r"\s*\n\s*")
_BOX = ("\\boxed", "\\fbox")


def render_answer(text: str) -> str:
    """A final answer as its text would show it; bare LaTeX, as most boxes hold, is math without delimiters."""
    text = text[:LONGEST]
    if _DELIMITED.search(text) is not None:
        shown = render(_closed(text)).text.strip()
        return _LINES.sub(" ", shown) if _is_stretch(text) else shown
    return render_math(text) if _MATH.search(text) is not None else render(text).text


def shown_answer(text: str, *, raw: bool = False) -> str:
    """A final answer as rendered, or as stored; harmless to look at."""
    return inert(text) if raw else render_answer(text).strip() or inert(text)


def short_answer(text: str | None, *, raw: bool = False) -> str:
    """A final answer as shown if it is short enough to stand within a sentence, else ""."""
    shown = shown_answer(text or "", raw=raw)
    return shown if len(shown) <= _SHORT and "\n" not in shown else ""


def _is_stretch(text: str) -> bool:
    return text.startswith(_BOX) and text.endswith("}")


def _closed(text: str) -> str:
    """A stretch from box to box with the delimiters round it that it was cut out of."""
    if not _is_stretch(text):
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
