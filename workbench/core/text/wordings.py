"""Word trigrams, without digits, by which equivalent texts are recognised."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = re.compile(r"\d+|[^\W\d_]+|[^\w\s]")
_HALF: Final = 200

Wording = tuple[str, str, str]


def wordings(text: str) -> set[Wording]:
    """Return the word trigrams of a text: of its first and last 200 words if it is longer.

    Numbers are ``#``, symbols are words, ``^`` is added twice before the text and ``$`` after it, so that the shortest
    text has one.
    """
    words = ["#" if word.isdigit() else word for word in _WORDS.findall(text.lower())]
    if len(words) > 2 * _HALF:
        words = [*words[:_HALF], *words[-_HALF:]]
    words = ["^", "^", *words, "$"]
    return set(zip(words, words[1:], words[2:], strict=False))
