"""An answer as a statement: an expression, or expressions related by ``=``, ``<`` and the like."""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.evaluate import CONSTANTS, features
from workbench.verifiers.rules.expression import UNKNOWN_FUNCTIONS, read
from workbench.verifiers.rules.nodes import Call, Name, Node
from workbench.verifiers.rules.tokens import NotUnderstood, tokenize

_RELATIONS = frozenset("=<>≤≥≠≈")
_MAX_PARTS = 6
_NESTING = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
_OPERATORS = {r"\int", r"\iint", r"\oint", r"\sum", r"\prod", r"\lim", r"\angle", r"\triangle", r"\overline"}
_LETTERS = frozenset(string.ascii_letters)
_CAPITALS = frozenset(string.ascii_uppercase)
_FUNCTIONS = (*UNKNOWN_FUNCTIONS, '"')
_WORD = re.compile(r"[\s$]*(?:[A-Za-z]{2,}|[A-Z](?:\s+[A-Z])+)[\s$.]*")
_SIGNS = ({"±": "+", "∓": "-"}, {"±": "-", "∓": "+"})


class Statement(NamedTuple):
    r"""A statement of an answer.

    Attributes:
        parts: The trees of each part, one for each possible parse; empty if the part is a name that can't be parsed.
        signs: The relations between the parts; empty for a bare expression.
        assigned: Whether the first part only names the rest (``x =``, ``f(x) =``, ``\int ... =``).
    """

    parts: tuple[tuple[Node, ...], ...]
    signs: tuple[str, ...]
    assigned: bool

    @property
    def equates(self) -> bool:
        return bool(self.signs) and all(sign in "=≈" for sign in self.signs)


@lru_cache(maxsize=1024)
def statements(text: str) -> tuple[Statement, ...] | None:
    """Parse the text's statements: one, or two if it has a plus-minus sign; None if it doesn't consist of expressions.

    Raises:
        TooComplex: The text is too long or nested too deeply, or its numbers are too large.
    """
    try:
        tokens = tokenize(text)
        if _LETTERS.issuperset(tokens) and _WORD.fullmatch(text):
            return None
        if "±" in tokens or "∓" in tokens:
            return tuple(_parse_statement([signs.get(token, token) for token in tokens]) for signs in _SIGNS)
        return (_parse_statement(tokens),)
    except NotUnderstood:
        return None


def _parse_statement(tokens: list[str]) -> Statement:
    if _RELATIONS.isdisjoint(tokens):
        return Statement((tuple(read(tokens)),), (), False)
    pieces, signs = _split_at_relations(tokens)
    if len(pieces) > _MAX_PARTS:
        raise NotUnderstood("a long chain of relations")
    parts = [_first_part(pieces[0])] + [tuple(read(piece)) for piece in pieces[1:]]
    statement = Statement(tuple(parts), tuple(signs), False)
    if not statement.equates:
        if not parts[0]:
            raise NotUnderstood("an unknown side of an inequality")
        return statement
    if (quantity := _quantity(pieces[0], parts[0])) is not None and not _mentions(parts[-1], quantity):
        return Statement((quantity, *parts[1:]), statement.signs, True)
    if len(parts) == 2 and (quantity := _quantity(pieces[1], parts[1])) and not _mentions(parts[0], quantity):
        return Statement((quantity, parts[0]), statement.signs, True)
    if not parts[0]:
        raise NotUnderstood("an unknown side of an equation")
    return statement


def _split_at_relations(tokens: list[str]) -> tuple[list[list[str]], list[str]]:
    pieces: list[list[str]] = [[]]
    signs: list[str] = []
    depth = 0
    for token in tokens:
        depth += _NESTING.get(token, 0)
        if token in _RELATIONS and not depth:
            signs.append(token)
            pieces.append([])
        else:
            pieces[-1].append(token)
    return pieces, signs


def _first_part(tokens: list[str]) -> tuple[Node, ...]:
    try:
        return tuple(read(tokens))
    except NotUnderstood:
        return ()


def _quantity(tokens: list[str], trees: tuple[Node, ...]) -> tuple[Node, ...] | None:
    if not tokens:
        return None
    first = trees[0] if trees else None
    applied = _applied_name(tokens)
    if isinstance(first, Name):
        # p(1) is not a product p · 1.
        return None if first.text in CONSTANTS else trees if applied is None else (applied,)
    if isinstance(first, Call) and first.function.startswith(_FUNCTIONS):
        return trees
    if _CAPITALS.issuperset(tokens):
        return trees
    if applied is not None:
        return (applied,)
    return () if first is None and tokens[0] in _OPERATORS else None


def _applied_name(tokens: list[str]) -> Node | None:
    """Parse ``P(A)``, ``y(0)``, ``E[X]``: a letter before one bracketed group that ends the part."""
    at = 1
    if tokens[1:2] == ["_"]:
        at = tokens.index("}") + 1 if tokens[2:3] == ["{"] and "}" in tokens else 3
    name, rest = tokens[:at], tokens[at:]
    if name[0] not in _LETTERS or not rest or rest[0] not in "([" or rest[-1] not in ")]":
        return None
    inner = rest[1:-1]
    if _NESTING.keys() & inner or not (name[0] in _CAPITALS or all(token == "," or token.isalnum() for token in inner)):
        return None
    return Call("".join(name), (Name("".join(inner)),))


def _mentions(trees: tuple[Node, ...], names: tuple[Node, ...]) -> bool:
    return any(isinstance(name, Name) and name.text in features(*trees).names for name in names)
