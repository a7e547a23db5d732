"""Detect that a judge declines to judge, or states that it can't decide: a stray Yes or No is then no verdict."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

Declined = Literal["refused", "undecided"]
_NEAR: Final = 400
"""Characters at either end of a long reply that are examined: in between a judge discusses the completion."""
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`´′＇", "'"))


class _DecliningPattern(NamedTuple):
    """A way of declining.

    Attributes:
        pattern: The pattern within a line.
        holds: Lower-case literals; a line without any of them can't match. Finding none takes a hundredth of the time
            of the pattern.
        beyond_ascii: Whether a line with a non-ASCII letter may match, too.
    """

    pattern: re.Pattern[str]
    holds: list[str]
    beyond_ascii: bool = False

    def matches(self, lines: Iterable[tuple[str, str]]) -> bool:
        return any(
            self.pattern.search(line) is not None
            for line, small in lines
            if any(word in small for word in self.holds) or (self.beyond_ascii and not line.isascii())
        )


_TABLE: Final = tomllib.loads(Path(__file__).with_name("declining.toml").read_text(encoding="utf-8"))


def _patterns(kind: str) -> list[_DecliningPattern]:
    found = []
    for one in _TABLE[kind]:
        pattern = "|".join(one["alternatives"])
        for name, fragment in _TABLE["fragments"].items():
            pattern = pattern.replace(f"<{name}>", fragment)
        holds = [*(_TABLE["negations"] if one.get("negated") else ()), *one.get("holds", ())]
        compiled = re.compile(pattern, re.IGNORECASE | re.MULTILINE)
        found.append(_DecliningPattern(compiled, holds, one.get("beyond_ascii", False)))
    return found


_REFUSES: Final = _patterns("refuses")
_CANNOT_TELL: Final = _patterns("undecided")


@lru_cache(maxsize=4)
def declined_in(text: str) -> Declined | None:
    """Return whether a judge's own words refuse, or state that it can't decide; None if they do neither."""
    text = text.translate(_APOSTROPHES)
    ends = text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]}\n\n{text[-_NEAR:]}"
    lines = [(line, line.lower()) for line in ends.split("\n")]
    if any(one.matches(lines) for one in _REFUSES):
        return "refused"
    # In a long examination a doubt may be about one step; the verdict then has a separate line.
    told = lines[-1:] if len(text) > _NEAR else lines
    return "undecided" if any(one.matches(told) for one in _CANNOT_TELL) else None
