"""Words, phrases, names and patterns by topic: the files of ``data/``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

MAX_CACHED_CHARACTERS = 32_000
"""Longest text that caches hold: a process that judges many long ones must not grow with them."""


_FOLDER = Path(__file__).with_name("data")
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
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

    def holds(self, name: str, text: str) -> bool:
        """Return whether a text in lower case has a match of a pattern.

        The text is first searched for words of which each match needs one: most texts have none, and to find that out
        is much faster than to try the pattern at each place.
        """
        needed = _needed_words(name, self._topic)
        return any(map(text.__contains__, needed)) and getattr(self, name).search(text) is not None

    def table(self, name: str) -> Any:
        return entries(self._topic)[name]

    def listed(self, name: str) -> list[str]:
        words: str = self.table(name)
        return words.split()

    def words(self, name: str) -> frozenset[str]:
        return frozenset(self.listed(name))


@cache
def _needed_words(name: str, topic: str) -> tuple[str, ...]:
    """Return texts of which each match of a pattern has at least one; the empty text if there are none."""
    return tuple(_needed_in(_parser.parse(source(name, topic), re.VERBOSE)) or ("",))


def _needed_in(parsed: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    found, literal = [frozenset[str]()], ""
    for kind, value in [*parsed, (None, None)]:
        if kind is _constants.LITERAL:
            literal += chr(value).lower()
            continue
        found.append(frozenset(filter(None, [literal])))
        literal = ""
        if kind is _constants.BRANCH:
            branches = [_needed_in(branch) for branch in value[1]]
            found.append(frozenset().union(*branches) if all(branches) else frozenset())
        elif kind is _constants.IN and all(sort is _constants.LITERAL for sort, _ in value):
            found.append(frozenset(chr(sign).lower() for _, sign in value))
        elif kind is _constants.SUBPATTERN or (kind in _REPEATS and value[0]):
            found.append(_needed_in(value[-1]))
    return max(found, key=lambda words: (min(map(len, words), default=0), -len(words)))
