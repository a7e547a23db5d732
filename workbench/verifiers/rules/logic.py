"""Formulas of logic: the same but for how connectives are written and for the order of what "and" and "or" join."""

from __future__ import annotations

import re

_CONNECTIVES = (
    (r"\\(?:lnot|neg)(?![A-Za-z])\s?|¬\s?|~(?=\s?[A-Za-z(])", "¬"),
    (r"\\(?:land|wedge)(?![A-Za-z])|∧|\\?&&?", "∧"),
    (r"\\(?:lor|vee)(?![A-Za-z])|∨|\|\|", "∨"),
    (r"\\(?:oplus|veebar)(?![A-Za-z])|⊕|⊻", "⊕"),
    (r"\\(?:leftrightarrow|Leftrightarrow|iff)(?![A-Za-z])|↔|⇔|⟺|<->|<=>", "↔"),
    (r"\\(?:to|rightarrow|Rightarrow|implies|longrightarrow|supset)(?![A-Za-z])|→|⇒|⟹|->|=>", "→"),
    (r"\\forall(?![A-Za-z])", "∀"),
    (r"\\exists(?![A-Za-z])", "∃"),
)
_WRITTEN = tuple((re.compile(pattern), sign) for pattern, sign in _CONNECTIVES)
_MARK = re.compile(r"\\(?:lnot|neg|land|wedge|lor|vee|oplus|veebar|forall|exists)(?![A-Za-z])|[∧∨¬⊕⊻∀∃]")
_RELATION = re.compile(r"[=<>≤≥≠\d]|\\(?:leq?|geq?|neq?)(?![A-Za-z])")
_BLANK = re.compile(r"\s|\\[,;:! ]|[{}]")
_LONGEST = 200


def same_formula(reference: str, candidate: str) -> bool | None:
    """Whether a formula is the reference; None when the reference is none.

    Two that are only equivalent are not the same: bringing one to the other may be all that the question asks.
    """
    if _MARK.search(reference) is None or _RELATION.search(reference) or max(len(reference), len(candidate)) > _LONGEST:
        return None
    return _ordered(_spelled(reference)) == _ordered(_spelled(candidate))


def _spelled(text: str) -> str:
    for pattern, sign in _WRITTEN:
        text = pattern.sub(sign, text)
    return _BLANK.sub("", text).strip("$.")


def _ordered(text: str) -> str:
    """The formula with the members of each "and" and "or" in alphabetical order, as far as brackets are balanced."""
    text = _without_brackets(text)
    for sign in ("↔", "→", "⊕", "∨", "∧"):
        parts = _split(text, sign)
        if len(parts) > 1:
            members = [_ordered(part) for part in parts]
            if sign != "→":
                members.sort()
            return f"({sign.join(members)})"
    if text[:1] == "¬":
        return "¬" + _ordered(text[1:])
    return text


def _split(text: str, sign: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == sign and depth == 0 and not text[start:at].startswith(("∀", "∃")):
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _without_brackets(text: str) -> str:
    while text[:1] == "(" and text[-1:] == ")":
        depth = 0
        for at, character in enumerate(text):
            depth += (character == "(") - (character == ")")
            if depth == 0 and at < len(text) - 1:
                return text
        text = text[1:-1]
    return text
