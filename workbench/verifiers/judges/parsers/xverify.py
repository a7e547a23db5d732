"""xVerify: [Correct] or [Incorrect]; and any other two words, for custom prompts."""

from __future__ import annotations

import re

from workbench.verifiers.judges.parsers.base import (
    DOUBT,
    MARKUP,
    Parser,
    Read,
    Reading,
    begins_statement,
    own_lines,
    reading_of,
    verdict_in,
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
    return Parser(f"words:{accepts}/{rejects}", 2, *_make_readers(accepts, rejects, pattern), in_words=True)


def _make_readers(accepts: str, rejects: str, pattern: re.Pattern[str]) -> tuple[Read, Read]:
    meaning = {accepts.lower(): True, rejects.lower(): False}

    def strict(raw: str, delimiter: str | None = None) -> Reading:
        """Read the last line that begins with one of the words, in any case, perhaps after a label or marks."""
        word = verdict_in(own_lines(raw, delimiter), lambda line: _any_word(line, pattern))
        return reading_of(meaning.get(word or ""))

    def labelled(raw: str, delimiter: str | None = None) -> Reading:
        """Read the word after the label, in the last line that begins with a label and one of the words."""
        word = verdict_in(own_lines(raw, delimiter), lambda line: _labelled_word(line, pattern))
        return reading_of(meaning.get(word or ""))

    return strict, labelled


strict, labelled = _make_readers("correct", "incorrect", _FIRST_WORD)


def _any_word(line: str, pattern: re.Pattern[str]) -> str | None:
    return _labelled_word(line, pattern) or _first_word(line, pattern)


def _labelled_word(line: str, pattern: re.Pattern[str]) -> str | None:
    label = _LABEL.match(line.lstrip(MARKUP))
    return _first_word(line.lstrip(MARKUP)[label.end() :], pattern) if label else None


def _first_word(line: str, pattern: re.Pattern[str]) -> str | None:
    line = line.lstrip(MARKUP)
    if not (first := pattern.match(line)):
        return None
    given = {found[1].lower() for found in pattern.finditer(line) if begins_statement(line, found)}
    return first[1].lower() if given == {first[1].lower()} else DOUBT
