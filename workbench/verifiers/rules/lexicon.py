"""The words, phrases and names that the rules know, by topic: the files of ``data/``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from workbench.verifiers.rules.prefilter import PrefilteredPattern

_FOLDER = Path(__file__).with_name("data")
_REFERENCE = re.compile(r"<<(?:(\w+)\.)?(\w+)>>")


@cache
def entries(topic: str) -> dict[str, Any]:
    """Return the entries of a topic's file by name."""
    return tomllib.loads((_FOLDER / f"{topic}.toml").read_text(encoding="utf-8"))


class Lexicon:
    """The entries of one topic.

    A pattern is in verbose syntax: blanks and line breaks don't count. ``<<name>>`` is another entry of the topic,
    ``<<topic.name>>`` one of another topic.
    """

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def table(self, name: str) -> Any:
        return entries(self._topic)[name]

    def listed(self, name: str) -> list[str]:
        words: str = self.table(name)
        return words.split()

    def words(self, name: str) -> frozenset[str]:
        return frozenset(self.listed(name))

    def resolve(self, text: str) -> str:
        """Return a text with the entries it refers to."""
        return _REFERENCE.sub(lambda other: Lexicon(other[1] or self._topic).source(other[2]), text)

    def source(self, name: str) -> str:
        return self.resolve(self.table(name).lstrip())

    def pattern(self, name: str) -> re.Pattern[str]:
        return re.compile(self.source(name), re.VERBOSE)

    def prefiltered(self, name: str) -> PrefilteredPattern:
        return PrefilteredPattern(self.source(name), re.VERBOSE)
