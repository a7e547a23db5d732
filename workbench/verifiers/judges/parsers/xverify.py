"""xVerify: [Correct] or [Incorrect]."""

from __future__ import annotations

import re

from workbench.verifiers.judges.parsers.base import DOUBT, MARKUP, Reading, is_given, own_lines, said, verdict_in

# "Correct answer: …" is a heading of the request, often repeated.
_FIRST_WORD = re.compile(
    r"(?<![^\W_])(correct|incorrect)(?![^\W_]|-[^\W_])"
    r"(?![\]),* \t]{0,4}(?:[/|&]|(?:or|and|nor|but)[ \t])?[\[(* \t]{0,4}(?:in)?correct)"
    r"(?![ \t]+(?:answers?|me|us|the|this|that|it|or[ \t]+not)\b)",
    re.IGNORECASE,
)

_LABEL = re.compile(r"(?:final[ \t]+)?(?:judge?ment|verdict|result|answer)[*_` \t]{0,4}[:：]", re.IGNORECASE)


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Read a reply that is exactly the word, in any case; anything else counts as invalid, brackets too."""
    word = raw.strip().lower()
    return said(word == "correct" if word in ("correct", "incorrect") else None)


def strict(raw: str, delimiter: str | None = None) -> Reading:
    """Read the last line whose first word it is, in any case, after a label, brackets and asterisks."""
    return _read(verdict_in(own_lines(raw, delimiter), lambda line: _labelled_word(line) or _first_word(line)))


def labelled(raw: str, delimiter: str | None = None) -> Reading:
    """Read the last line that begins with a label and the word after it."""
    return _read(verdict_in(own_lines(raw, delimiter), _labelled_word))


def _read(word: str | None) -> Reading:
    return said({"correct": True, "incorrect": False}.get(word or ""))


def _labelled_word(line: str) -> str | None:
    label = _LABEL.match(line.lstrip(MARKUP))
    return _first_word(line.lstrip(MARKUP)[label.end() :]) if label else None


def _first_word(line: str) -> str | None:
    line = line.lstrip(MARKUP)
    if not (first := _FIRST_WORD.match(line)):
        return None
    given = {found[1].lower() for found in _FIRST_WORD.finditer(line) if is_given(line, found)}
    return first[1].lower() if given == {first[1].lower()} else DOUBT
