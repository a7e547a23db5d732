"""Texts that Python's parser takes time and memory for in proportion to the square of their length."""

from __future__ import annotations

import re
from typing import Final

_SHORT: Final = 1 << 12
_MOST: Final = 1 << 28
"""Characters that the parser may copy or pass over besides."""

_STRING: Final = re.compile(
    r"#[^\n]*|(?P<prefix>[bBfFrRuU]{0,2})(?P<quote>'''|\"\"\"|'|\")(?:[^\\]|\\.)*?(?P=quote)", re.DOTALL
)
"""A string, or a comment, which no string begins in."""

_LINE: Final = re.compile(r"(?:[^\n;\\]|\\.)+", re.DOTALL)
_IMPORT: Final = re.compile(r"\b(?:import|from)\b")


def is_bomb(source: str) -> bool:
    """Whether a text takes far longer to parse than others of its length.

    Each dot in the name of an imported module copies what stands before it, and up to Python 3.11 each field of a
    formatted string passes over that string from its start.
    """
    if len(source) <= _SHORT or len(source) * max(source.count("{"), source.count(".")) <= _MOST:
        return False
    if any("f" in found["prefix"].lower() and _squared(found[0], "{") for found in _strings(source)):
        return True
    lines = (line for line in _LINE.findall(_STRING.sub("", source)) if len(line) > _SHORT)
    return any(_squared(line, ".") for line in lines if _IMPORT.search(line))


def _strings(source: str) -> list[re.Match[str]]:
    return [found for found in _STRING.finditer(source) if found["prefix"] and len(found[0]) > _SHORT]


def _squared(text: str, counted: str) -> bool:
    return text.count(counted) * len(text) > _MOST
