r"""Functions given in pieces: ``\begin{cases}x & x>0\\ 0 & x\le 0\end{cases}``, "x if x > 0, 0 otherwise"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.verifiers.rules.evaluate import REAL, features, finite_value
from workbench.verifiers.rules.expression import value_tree
from workbench.verifiers.rules.nodes import Node
from workbench.verifiers.rules.quantities import Quantity
from workbench.verifiers.rules.records import (
    AnswerText,
    Doubt,
    Equality,
    Expression,
    Part,
    Region,
    Term,
    Value,
    ValueType,
    decided,
)
from workbench.verifiers.rules.regions import IntervalForm, cells, intervals_or_points, letter_values
from workbench.verifiers.rules.sense import has_denial
from workbench.verifiers.rules.structure import ROW_END

if TYPE_CHECKING:
    from workbench.verifiers.rules.comparing import Comparison
    from workbench.verifiers.rules.reading import AnswerReader

_CASES = re.compile(
    r"(?:[^=]{1,30}=\s*)?\\begin\{(?:cases|array)\}(?:\{[lcr| ]*\})?(.*)\\end\{(?:cases|array)\}\s*\.?", re.DOTALL
)
_BETWEEN = re.compile(
    r"\s*(?:,\s*)?&\s*(?:(?:\\text\{\s*)?\b(?:if|for|when|where)\b(?:\s*\})?\s*)?|\s*,?\s*(?:\\text\{\s*)?\b(?:if|for|when|where)\b(?:\s*\})?\s*|,\s+(?=[^,]*[<>≤≥=]|\\text)"
)
_PIECE_END = re.compile(
    r"\s*;\s*|,\s*(?:and\s+)?(?=[^,;]{1,60}?\b(?:if|for|when|otherwise|else|elsewhere)\b)|\s+and\s+(?=[^,;]{1,60}?\b(?:if|for|when|otherwise|elsewhere)\b)"
)
_ELSE = re.compile(r"(?:\\text\{)?\s*(?:otherwise|else(?:where)?|in\s+all\s+other\s+cases)\s*\}?\.?", re.IGNORECASE)
_ELSE_BEHIND = re.compile(r"(.*?)[,\s]*(?:\\text\{)?\s*\b(?:otherwise|elsewhere)\s*\}?", re.IGNORECASE | re.DOTALL)
_ELSE_BEFORE = re.compile(r"(?:else|otherwise)\s+(.*)", re.IGNORECASE | re.DOTALL)
_HEAD = re.compile(r"\A(?:[A-Za-z]{1,3}\w?(?:_\w)?(?:\([A-Za-z]\))?|\|[^|=]{1,20}\|)\s*=\s*")
_RESTRICTED = re.compile(
    r"([^<>≤≥≠∈]{1,80}?)(?:\s*[,;]\s*|\s+)(?:(?:where|with|provided(?:\s+that)?)\s+)?([a-z]\s*(?:[<>≤≥≠∈]|\\[gln]eq?(?![a-z])).{1,40})"
)
_TOLERANCE = 1e-9
_BY_PIECES = re.compile(r"piece|\bcases\b|without|absolute|modulus", re.IGNORECASE)
_MAX_PIECES = 8


class Piecewise(NamedTuple):
    """A function in pieces: each value with its condition, which is None for "otherwise"."""

    pieces: tuple[tuple[Part[Value], Part[Value] | None], ...]


def _split_pieces(text: str) -> list[tuple[str, str]] | None:
    if (cases := _CASES.fullmatch(text)) is not None:
        rows = [row for row in ROW_END.split(cases[1].strip()) if row.strip()]
    elif re.search(r"\b(?:if|for|when)\b", text):
        rows = _PIECE_END.split(text)
    elif (restricted := _RESTRICTED.fullmatch(text)) is not None:
        return [(restricted[1], restricted[2])]
    else:
        return None
    found = [_split_piece(row.strip(" .,")) for row in rows]
    known = [piece for piece in found if piece is not None]
    return known if len(known) <= _MAX_PIECES and len(known) == len(found) else None


def _split_piece(row: str) -> tuple[str, str] | None:
    if (head := _HEAD.match(row)) is not None:
        if has_denial(head[0]):
            return None
        row = row[head.end() :]
    for pattern in (_ELSE_BEHIND, _ELSE_BEFORE):
        if (found := pattern.fullmatch(row)) is not None and found[1].strip(" &,"):
            return found[1].strip(" &,"), ""
    value, *condition = _BETWEEN.split(row, maxsplit=1)
    if not condition or not value.strip() or not condition[0].strip():
        return None
    return value.strip(), "" if _ELSE.fullmatch(condition[0].strip()) else condition[0].strip(" .")


def _read_piecewise(source: AnswerText, reader: AnswerReader) -> Value | None:
    found = _split_pieces(source.text) if not source.depth and ("case" in source.text or " " in source.text) else None
    if not found or (len(found) == 1 and not _is_restricted(*found[0])):
        return None
    parts = [
        (reader.part(value, 1), reader.part(where, 1)._replace(text=where) if where else None) for value, where in found
    ]
    known = all(where is None or isinstance(where.value, (Region, Expression, Quantity)) for _, where in parts)
    values = all(isinstance(value.value, (Quantity, Expression, Term)) for value, _ in parts)
    return Piecewise(tuple(parts)) if known and values else None


def _is_restricted(value: str, where: str) -> bool:
    formula, within = value_tree(value), intervals_or_points(where) if where else None
    return formula is not None and within is not None and within[0] in (None, *features(formula).names)


def _compare_piecewise(one: Part[Piecewise], other: Part[Piecewise], with_: Comparison) -> Equality | None:
    ours, left = one.value.pieces, list(other.value.pieces)
    for value, where in ours:
        fits = [piece for piece in left if with_.within.same(value, piece[0]) and _same_place(where, piece[1], with_)]
        if not fits:
            return decided(_same_function(one.value, other.value), "piecewise")
        left.remove(fits[0])
    return decided(not left or _same_function(one.value, other.value), "piecewise")


def _same_place(one: Part[Any] | None, other: Part[Any] | None, with_: Comparison) -> bool | None:
    return one is other if one is None or other is None else with_.within.same(one, other)


def _compare_piecewise_and_formula(one: Part[Piecewise], other: Part[Expression], with_: Comparison) -> Equality | None:
    equal = _same_function(one.value, Piecewise(((other, None),)))
    if equal and not with_.turned and (len(one.value.pieces) > 1 and _BY_PIECES.search(with_.question.text)):
        raise Doubt("unsolved")
    return decided(equal, "piecewise")


class _Function(NamedTuple):
    """A function's formulas, the intervals where each holds (None for "otherwise"), and its variable."""

    formulas: tuple[Node, ...]
    places: tuple[list[IntervalForm] | None, ...]
    names: frozenset[str]


def _make_function(value: Piecewise) -> _Function | None:
    formulas = [value_tree(part.text) for part, _ in value.pieces]
    places = [None if where is None else intervals_or_points(where.text) for _, where in value.pieces]
    known = tuple(formula for formula in formulas if formula is not None)
    if len(known) < len(formulas) or any(
        found is None and where is not None for found, (_, where) in zip(places, value.pieces, strict=True)
    ):
        return None
    names = frozenset(found[0] for found in places if found is not None and found[0] is not None)
    return _Function(known, tuple(None if found is None else found[1] for found in places), names)


def _same_function(one: Piecewise, other: Piecewise) -> bool | None:
    ours, theirs = _make_function(one), _make_function(other)
    if ours is None or theirs is None or len(ours.names | theirs.names) != 1:
        return None
    line = cells([forms for forms in (*ours.places, *theirs.places) if forms is not None])
    [name] = ours.names | theirs.names
    if line is None:
        return None
    split = sum(forms is not None for forms in ours.places)
    return all(
        _have_same_value(one, another, name, number)
        for cell in line
        for number in cell.numbers
        for one in _formulas_at(ours, cell.held[:split])
        for another in _formulas_at(theirs, cell.held[split:])
    )


def _formulas_at(function: _Function, held: list[bool]) -> list[Node | None]:
    holding = iter(held)
    found: list[Node | None] = []
    others = None
    for formula, forms in zip(function.formulas, function.places, strict=True):
        if forms is None:
            others = formula
        elif next(holding):
            found.append(formula)
    return found or [others]


def _have_same_value(one: Node | None, other: Node | None, name: str, number: float) -> bool:
    ours, theirs = (_value_at(node, name, number) for node in (one, other))
    if ours is None or theirs is None:
        return ours is theirs
    return abs(ours - theirs) <= _TOLERANCE * max(1, abs(ours), abs(theirs))


def _value_at(node: Node | None, name: str, number: float) -> float | None:
    if node is None:
        return None
    return finite_value(node, {**letter_values(features(node).names), **REAL.constants, name: number})


PIECEWISE = ValueType(
    _read_piecewise,
    {(Piecewise, Piecewise): _compare_piecewise, (Piecewise, Expression): _compare_piecewise_and_formula},
    of_a_word=False,
)
