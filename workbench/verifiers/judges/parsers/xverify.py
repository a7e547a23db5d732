"""xVerify: [Correct] or [Incorrect]; and any other two words, for custom prompts."""

from __future__ import annotations

import re
from functools import partial

from workbench.verifiers.judges.parsers.base import (
    DOUBT,
    MARKUP,
    Parser,
    Reading,
    ReadLines,
    begins_statement,
    by_lines,
    reading_of,
)

# "Correct answer: …" is a heading of the request, often repeated.
_FIRST_WORD = re.compile(
    r"(?<![^\W_])(correct|incorrect)(?![^\W_]|-[^\W_])"
    r"(?![\]),* \t]{0,4}(?:[/|&]|(?:or|and|nor|but)[ \t])?[\[(* \t]{0,4}(?:in)?correct)"
    r"(?![ \t]+(?:answers?|me|us|the|this|that|it|or[ \t]+not)\b)",
    re.IGNORECASE,
)

_LABEL = re.compile(r"(?:final[ \t]+)?(?:judge?ment|verdict|result|answer)[*_` \t]{0,4}[:：]", re.IGNORECASE)


def upstream(raw: str, delimiter: str | None = None) -> Reading:
    """Parse a reply that is exactly the word, in any case; any other reply is invalid, even with brackets."""
    word = raw.strip().lower()
    return reading_of(word == "correct" if word in ("correct", "incorrect") else None)


def word_parser(accepts: str, rejects: str) -> Parser:
    """Return a strict parser of two words: one that accepts the completion, one that rejects it, in any case.

    It parses the last line that begins with one of the words, with or without a label.
    """
    either = f"{re.escape(accepts)}|{re.escape(rejects)}"
    pattern = re.compile(
        rf"(?<![^\W_])({either})(?![^\W_]|-[^\W_])"
        rf"(?![\]),*\"' \t]{{0,5}}(?:[/|&]|(?:or|and|nor|but)[ \t])[\[(*\"' \t]{{0,5}}(?:{either}))",
        re.IGNORECASE,
    )
    strict, labelled = _readers(accepts, rejects, pattern)
    return Parser(f"words:{accepts}/{rejects}", 2, strict=strict, labelled=labelled, in_words=True)


def _readers(accepts: str, rejects: str, pattern: re.Pattern[str]) -> tuple[ReadLines, ReadLines]:
    """Return parsers of the last line that begins with one of the words: perhaps after a label, and always after one.

    Case, and marks around the word, don't matter.
    """
    meaning = {accepts.lower(): True, rejects.lower(): False}
    labelled_word, first_word = partial(_labelled_word, pattern), partial(_first_word, pattern)
    read_any = by_lines(lambda line: labelled_word(line) or first_word(line), meaning=meaning)
    return read_any, by_lines(labelled_word, meaning=meaning)


def _labelled_word(pattern: re.Pattern[str], line: str) -> str | None:
    label = _LABEL.match(line.lstrip(MARKUP))
    return _first_word(pattern, line.lstrip(MARKUP)[label.end() :]) if label else None


def _first_word(pattern: re.Pattern[str], line: str) -> str | None:
    line = line.lstrip(MARKUP)
    if not (first := pattern.match(line)):
        return None
    given = {found[1].lower() for found in pattern.finditer(line) if begins_statement(line, found)}
    return first[1].lower() if given == {first[1].lower()} else DOUBT


strict, labelled = _readers("correct", "incorrect", _FIRST_WORD)
