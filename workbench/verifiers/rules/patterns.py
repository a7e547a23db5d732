"""Patterns: those of the data files, and those searched for only if a text has one of the literals they need.

Most patterns don't occur in a question or an answer, and finding that no literal occurs takes a tenth of the time of
the pattern. The literals are read off the pattern, as regular expression engines do that look for literals first
(https://swtch.com/~rsc/regexp/regexp4.html).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

_LEAST = 2
"""Minimum characters of a literal; single letters and digits occur everywhere."""

MAX_CACHED_CHARACTERS = 32_000
"""Longest text that caches hold: a process that judges many long ones must not grow with them."""


class PrefilteredPattern:
    """A regular expression that is only tried on texts with one of its literals; `search` returns what `re.search`
    does."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._pattern = re.compile(pattern, flags)
        self._any_case = bool(self._pattern.flags & re.IGNORECASE)
        words = required_literals(pattern, flags)
        if self._any_case:
            words = frozenset(word.lower() for word in words)
        self._words = tuple(sorted(words, key=len, reverse=True))

    def search(self, text: str) -> re.Match[str] | None:
        if not self._words or (self._any_case and not text.isascii()):
            return self._pattern.search(text)
        seen = text.lower() if self._any_case else text
        for word in self._words:
            if word in seen:
                return self._pattern.search(text)
        return None


def required_literals(pattern: str, flags: int = 0) -> frozenset[str]:
    """Return literals of which each match contains at least one; empty if no literal is worth searching for."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:
        return frozenset()
    words = _literals_of_sequence(_parser.parse(pattern, flags))
    return words if words and _are_worth_searching(words) else frozenset()


def _are_worth_searching(words: Iterable[str]) -> bool:
    return all(len(word) >= _LEAST or not (word.isascii() and word.isalnum()) for word in words) and "" not in words


def _literals_of_sequence(parsed: Any) -> frozenset[str]:
    found: list[frozenset[str]] = []
    run = ""
    for kind, given in parsed:
        if kind.name == "LITERAL":
            run += chr(given)
            continue
        if kind.name not in ("AT", "ASSERT", "ASSERT_NOT"):
            found, run = [*found, frozenset([run])], ""
        found.append(_literals_of_part(kind.name, given))
    return max([*found, frozenset([run])], key=_rank_literals, default=frozenset())


def _rank_literals(words: frozenset[str]) -> tuple[int, int]:
    return min(map(len, words), default=0), -len(words)


def _literals_of_part(kind: str, given: Any) -> frozenset[str]:
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, repeated = given
        return _literals_of_sequence(repeated) if least else frozenset()
    if kind == "SUBPATTERN":
        _, added, removed, inner = given
        return frozenset() if added or removed else _literals_of_sequence(inner)
    if kind == "ATOMIC_GROUP":
        return _literals_of_sequence(given)
    if kind == "BRANCH":
        branches = [_literals_of_sequence(branch) for branch in given[1]]
        return frozenset[str]().union(*branches) if all(branches) else frozenset()
    if kind == "IN" and all(part.name == "LITERAL" for part, _ in given):
        return frozenset(chr(sign) for _, sign in given)
    return frozenset()


# -- Words, phrases and names by topic: the files of ``data/``.


_FOLDER = Path(__file__).with_name("data")
_REFERENCE = re.compile(r"<<(?:(\w+)\.)?(\w+)>>")


@cache
def entries(topic: str) -> dict[str, Any]:
    """Return the entries of a topic's file by name."""
    return tomllib.loads((_FOLDER / f"{topic}.toml").read_text(encoding="utf-8"))


def resolved(text: str, topic: str) -> str:
    """Return a text of a topic with the entries it refers to."""
    return _REFERENCE.sub(lambda other: source(other[2], other[1] or topic), text)


def source(name: str, topic: str) -> str:
    known = entries(topic)
    return resolved((known | known.get("patterns", {}))[name].lstrip(), topic)


class Lexicon:
    """The entries of one topic; each of its patterns is an attribute, compiled on first use.

    Patterns are in verbose syntax: blanks and line breaks don't count. ``<<name>>`` is another entry of the topic,
    ``<<topic.name>>`` one of another topic.
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in entries(self._topic).get("patterns", ()):
            raise AttributeError(name)
        found = self.__dict__[name] = re.compile(source(name, self._topic), re.VERBOSE)
        return found

    def table(self, name: str) -> Any:
        return entries(self._topic)[name]

    def listed(self, name: str) -> list[str]:
        words: str = self.table(name)
        return words.split()

    def words(self, name: str) -> frozenset[str]:
        return frozenset(self.listed(name))

    def prefiltered(self, name: str) -> PrefilteredPattern:
        return PrefilteredPattern(source(name, self._topic), re.VERBOSE)
