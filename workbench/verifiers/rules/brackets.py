"""Closing a sequence of brackets (Dyck words)."""

from __future__ import annotations

import re

_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ONLY = re.compile(r"[()\[\]{}<>\s]+")
_INPUT = re.compile(r"[()\[\]{}<>](?:[ \t]*[()\[\]{}<>])+")
_TYPESET = re.compile(r"\\(?=[{}])|\\[lr](?:angle|brace|brack)|[$`\"'.,\s]|\\(?:text|left|right|,|;)")
_NAMED = {"\\langle": "<", "\\rangle": ">", "\\lbrace": "{", "\\rbrace": "}", "\\lbrack": "[", "\\rbrack": "]"}


def is_sequence(text: str) -> bool:
    """Whether an answer consists of brackets only."""
    return bool(text.strip()) and _ONLY.fullmatch(text) is not None


def same_closing(reference: str, candidate: str, question: str) -> bool | None:
    """Whether a candidate closes the question's sequence as the reference does.

    The candidate may be the closing brackets alone or the whole sequence. None when the reference is no sequence of
    brackets or the question holds none that it closes.
    """
    if not is_sequence(reference):
        return None
    given = _bare(reference)
    for found in reversed(_INPUT.findall(question)):
        sequence = _bare(found)
        closed = closing(sequence)
        if closed and given in (closed, sequence + closed):
            said = _bare(candidate)
            return said in (closed, sequence + closed)
    return None


def closing(sequence: str) -> str | None:
    """The brackets that close a sequence; None when they can't."""
    expected: list[str] = []
    for bracket in sequence:
        if bracket in _PAIRS:
            expected.append(_PAIRS[bracket])
        elif not expected or expected.pop() != bracket:
            return None
    return "".join(reversed(expected))


def _bare(text: str) -> str:
    for name, bracket in _NAMED.items():
        text = text.replace(name, bracket)
    return _TYPESET.sub("", text)
