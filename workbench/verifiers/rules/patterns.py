"""Words, phrases, names and patterns by topic: the files of ``data/``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

MAX_CACHED_CHARACTERS = 32_000
"""Longest text that caches hold: a process that judges many long ones must not grow with them."""


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
