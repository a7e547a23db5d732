r"""Functions given in pieces: ``\begin{cases}x & x>0\\ 0 & x\le 0\end{cases}``, "x if x > 0, 0 otherwise"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.equality import Equality
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import AnswerText, AnswerType, Expression, Part, Region, Term, Value

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_CASES = re.compile(
    r"(?:[^=]{1,30}=\s*)?\\begin\{(?:cases|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{(?:cases|array)\}\s*\.?", re.DOTALL
)
_ROW_END = re.compile(r"\s*\\\\(?:\[[\w. ]{1,8}\])?\s*")
_BETWEEN = re.compile(
    r"\s*(?:,\s*)?&\s*|\s*,?\s*(?:\\text\{\s*)?\b(?:if|for|when|where)\b(?:\s*\})?\s*|,\s+(?=[^,]*[<>≤≥=]|\\text)"
)
_PIECE_END = re.compile(
    r"\s*;\s*|,\s*(?:and\s+)?(?=[^,;]{1,60}?\b(?:if|for|when|otherwise|else|elsewhere)\b)|\s+and\s+(?=[^,;]{1,60}?\b(?:if|for|when)\b)"
)
_ELSE = re.compile(r"(?:\\text\{)?\s*(?:otherwise|else(?:where)?|in\s+all\s+other\s+cases)\s*\}?\.?", re.IGNORECASE)
_ELSE_BEHIND = re.compile(r"(.*?)[,\s]*(?:\\text\{)?\s*\b(?:otherwise|elsewhere)\s*\}?", re.IGNORECASE | re.DOTALL)
_ELSE_BEFORE = re.compile(r"(?:else|otherwise)\s+(.*)", re.IGNORECASE | re.DOTALL)
_HEAD = re.compile(r"[A-Za-z]\w?(?:_\w)?(?:\([A-Za-z]\))?\s*=\s*")
_MOST = 8


class Piecewise(NamedTuple):
    """A function in pieces: each value and where it holds, None for any other place."""

    pieces: tuple[tuple[Part[Value], Part[Value] | None], ...]


def _pieces(text: str) -> list[tuple[str, str]] | None:
    """Value and condition of each piece of a function, "" for any other place; None for one formula."""
    if (cases := _CASES.fullmatch(text)) is not None:
        rows = [row for row in _ROW_END.split(cases[1].strip()) if row.strip()]
    elif re.search(r"\b(?:if|for|when)\b", text):
        rows = _PIECE_END.split(text)
    else:
        return None
    found = [_piece(row.strip(" .,")) for row in rows]
    known = [piece for piece in found if piece is not None]
    return known if 1 < len(known) <= _MOST and len(known) == len(found) else None


def _piece(row: str) -> tuple[str, str] | None:
    row = _HEAD.sub("", row, count=1)
    for pattern in (_ELSE_BEHIND, _ELSE_BEFORE):
        if (found := pattern.fullmatch(row)) is not None and found[1].strip(" &,"):
            return found[1].strip(" &,"), ""
    value, *condition = _BETWEEN.split(row, maxsplit=1)
    if not condition or not value.strip() or not condition[0].strip():
        return None
    return value.strip(), "" if _ELSE.fullmatch(condition[0].strip()) else condition[0].strip(" .")


def _read(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = _pieces(source.text) if not source.depth and ("case" in source.text or " " in source.text) else None
    if found is None:
        return None
    parts = [(reader.part(value, 1), reader.part(place, 1) if place else None) for value, place in found]
    known = all(place is None or isinstance(place.value, (Region, Expression)) for _, place in parts)
    values = all(isinstance(value.value, (Quantity, Expression, Term)) for value, _ in parts)
    return Piecewise(tuple(parts)) if known and values else None


def _same_pieces(one: Part[Piecewise], other: Part[Piecewise], with_: Comparison) -> Equality | None:
    """Pieces in any order."""
    ours, left = one.value.pieces, list(other.value.pieces)
    if len(ours) != len(left):
        return None
    for value, place in ours:
        fits = [piece for piece in left if with_.within.same(value, piece[0]) and _same_place(place, piece[1], with_)]
        if not fits:
            return Equality(False, "piecewise")
        left.remove(fits[0])
    return Equality(True, "piecewise")


def _same_place(one: Part[Any] | None, other: Part[Any] | None, with_: Comparison) -> bool | None:
    return one is other if one is None or other is None else with_.within.same(one, other)


PIECEWISE = AnswerType(_read, {(Piecewise, Piecewise): _same_pieces})
