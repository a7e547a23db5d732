"""Word trigrams, in which all numbers are equal, by which similar texts are recognised."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_MAX_HALF_WORDS: Final = 200

Wording = tuple[str, str, str]


def word_trigrams(text: str) -> set[Wording]:
    """Return the word trigrams of a text: of its first and last 200 words if it is longer.

    Numbers become ``#``, and each symbol is a word. ``^`` is added twice before the text and ``$`` after it, so that
    even the shortest text has a trigram.
    """
    words = ["#" if word.isdigit() else word for word in _WORDS.findall(text.lower())]
    if len(words) > 2 * _MAX_HALF_WORDS:
        words = [*words[:_MAX_HALF_WORDS], *words[-_MAX_HALF_WORDS:]]
    words = ["^", "^", *words, "$"]
    return set(zip(words, words[1:], words[2:], strict=False))
