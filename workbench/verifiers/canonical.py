"""One spelling for answers that differ only in how they are typeset."""

from __future__ import annotations

import re
from collections.abc import Callable

_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_SIZE = re.compile(r"\\(?:left|right|[bB]igg?[lr]?)(?![A-Za-z])")
_FRACTION = re.compile(r"\\[dtc]frac(?![A-Za-z])")
_SHORT_FRACTION = re.compile(r"\\frac ?(\d) ?(\d)(?!\d)")
_FONT = re.compile(
    r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|sf)|mbox|operatorname) ?\{((?:[^{}\\]|\\[^A-Za-z])*)\}"
)
_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~|\s+")
_DEGREE = re.compile(r"\^ ?(?:\\circ(?![A-Za-z])|\{ ?\\circ ?\})")
_SINGLE = re.compile(r"([_^]) ?\{ ?(\w) ?\}")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:(?:,|\{,\})\d{3})+(?![\d,])")
_LOOSE_SPACE = re.compile(r"(?<=\W) | (?=\W)|(?<=\d) (?=[^\W\d])")
_WORDS = re.compile(r"(?:[^\W\d_]{3,}|no|No|NO)(?: (?:[^\W\d_]{3,}|no|No|NO))*")
_BRACKETED_LETTER = re.compile(r"\(([A-Z])\)")

_REPLACEMENTS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (_SIZE, ""),
    (_FRACTION, r"\\frac"),
    (_FONT, r"\1"),
    (_SPACE, " "),
    (_DEGREE, "°"),
    (_SINGLE, r"\1\2"),
    (_SHORT_FRACTION, r"\\frac{\1}{\2}"),
    (_LOOSE_SPACE, ""),
)


def canonical_text(text: str) -> str:
    r"""The answer with typesetting taken out: spaces, math delimiters, ``\left``, ``\text{}``, ``\dfrac``.

    Also thousands commas outside brackets, a trailing full stop, the brackets of an option letter ``(B)``
    and, where every word has at least three letters (or is "no"), upper case. Single letters and short
    names keep their case: ``AB`` is not ``ab``.
    """
    text = _bare(text.replace("\N{MINUS SIGN}", "-").replace(r"\%", "%"))
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    text = _bare(text)
    if not any(bracket in text.replace("{,}", ",") for bracket in "([{"):
        text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number[0]), text)
    if letter := _BRACKETED_LETTER.fullmatch(text):
        return letter[1]
    return text.casefold() if _WORDS.fullmatch(text) else text


def _bare(text: str) -> str:
    """The text without spaces, full stop and one pair of math delimiters around it."""
    text = text.strip().removesuffix(".").rstrip()
    for opening, closing in _DELIMITERS:
        inner = text[len(opening) : -len(closing)]
        if text == opening + inner + closing and inner and opening not in inner and closing not in inner:
            return inner.strip().removesuffix(".").rstrip()
    return text
