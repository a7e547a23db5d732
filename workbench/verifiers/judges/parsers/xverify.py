"""xVerify: [Correct] or [Incorrect]."""

from __future__ import annotations

import re

from workbench.verifiers.judges.parsers.base import MARKUP, Reading, last_found, own_lines, said

# "Correct answer: …" is a heading of the request, often repeated.
_FIRST_WORD = re.compile(
    r"(correct|incorrect)(?![^\W_]|-[^\W_])(?![\])* \t]{0,4}(?:[/|]|or[ \t])[\[(* \t]{0,4}(?:in)?correct)"
    r"(?![ \t]+answers?\b)",
    re.IGNORECASE,
)

_LABEL = re.compile(r"(?:final[ \t]+)?(?:judge?ment|verdict|result|answer)[*_` \t]{0,4}[:：]", re.IGNORECASE)


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """The whole reply is the word, in any case; anything else counts as invalid, brackets too."""
    word = raw.strip().lower()
    return said(word == "correct" if word in ("correct", "incorrect") else None)


def strict(raw: str, delimiter: str | None = None) -> Reading:
    """The last line whose first word it is, in any case, behind brackets and stars."""
    word = last_found(own_lines(raw, delimiter), _first_word)
    return said(None if word is None else word == "correct")


def labelled(raw: str, delimiter: str | None = None) -> Reading:
    """The last line that begins with a label and the word behind it."""
    word = last_found(own_lines(raw, delimiter), _labelled_word)
    return said(None if word is None else word == "correct")


def _labelled_word(line: str) -> str | None:
    label = _LABEL.match(line.lstrip(MARKUP))
    return _first_word(line.lstrip(MARKUP)[label.end() :]) if label else None


def _first_word(line: str) -> str | None:
    found = _FIRST_WORD.match(line.lstrip(MARKUP))
    return found[1].lower() if found else None
