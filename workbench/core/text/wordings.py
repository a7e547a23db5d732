"""Wordings: three words of a text in a row, digits apart, by which texts that say the same are known."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_HALF: Final = 200

Wording = tuple[str, str, str]


def wordings(text: str) -> set[Wording]:
    """The wordings of a text: of its first and last 200 words where it is longer.

    Numbers are ``#``, signs are words, ``^`` stands twice before the text and ``$`` behind it, so that the shortest
    text has one.
    """
    words = ["#" if word.isdigit() else word for word in _WORDS.findall(text.lower())]
    if len(words) > 2 * _HALF:
        words = [*words[:_HALF], *words[-_HALF:]]
    words = ["^", "^", *words, "$"]
    return set(zip(words, words[1:], words[2:], strict=False))
