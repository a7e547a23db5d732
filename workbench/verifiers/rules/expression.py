"""Parse an answer, LaTeX or plain text, into expressions, equations and inequalities as trees."""

from __future__ import annotations

import re
import string
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.evaluate import CONSTANTS, features
from workbench.verifiers.rules.nodes import (
    MINUS_ONE,
    Call,
    Name,
    Node,
    Number,
    call,
    negative_if,
    number,
    power,
    product,
    quotient,
    total,
)
from workbench.verifiers.rules.spelling import FUNCTIONS, NotUnderstood, TooComplex, tokenize

# -- A position in a list of tokens that only moves forward.


MAX_DEPTH = 30
"""Maximum nesting of groups, exponents and arguments."""


class Cursor:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = [*tokens, ""]
        self._at = 0
        self._depth = 0

    def _take_token(self) -> str:
        """Return the next token.

        Raises:
            NotUnderstood: No token is left.
        """
        token = self._tokens[self._at]
        if not token:
            raise NotUnderstood("the text ends too early")
        self._at += 1
        return token

    def _accept(self, *tokens: str) -> bool:
        after = self._at + len(tokens)
        if self._tokens[self._at : after] != list(tokens):
            return False
        self._at = after
        return True

    def _expect(self, token: str) -> None:
        if self._tokens[self._at] != token:
            raise NotUnderstood(self._tokens[self._at])
        self._at += 1

    def _accept_signs(self) -> bool:
        minus = False
        while (token := self._tokens[self._at]) in ("+", "-"):
            minus ^= token == "-"
            self._at += 1
        return minus

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooComplex("nested too deep")

    def _leave(self) -> None:
        self._depth -= 1


MAX_POSTFIXES = 3
"""Maximum exponents, factorials and the like after one atom."""
_GROUP = 3
"""Digits of a group of thousands."""
SMALLEST_COMBINATION = 3
"""``C_3^2`` is a number of combinations, ``C_1^2`` the square of a constant."""
UNKNOWN_FUNCTIONS = frozenset("fgFφψΦΨ")
"""Letters that are functions before a round bracket; other letters are factors there."""
_NAME = frozenset(string.ascii_letters + "αβγδζηθικλμνξπρστυφχψωεςΓΔΘΛΞΠΣΥΦΨΩℓℏ∞")
_CALLS = {"\\" + name for name in FUNCTIONS.values()} - {"\\sqrt"}
_INVERTIBLE = {name for name in FUNCTIONS.values() if "a" + name in FUNCTIONS.values()}
_DECORATIONS = {r"\bar", r"\overline", r"\hat", r"\vec", r"\tilde", r"\dot", r"\ddot", r"\overrightarrow"}
_CLOSING = {"(": ")", "[": "]", "{": "}", "|": "|", "\\lfloor": "\\rfloor", "\\lceil": "\\rceil"}
_BRACKETS = {"|": "abs", "\\lfloor": "floor", "\\lceil": "ceil"}
_OPENING = frozenset({"(", "[", "{", "\\lfloor", "\\lceil", "\\frac", "\\sqrt", "\\binom"} | _CALLS | _DECORATIONS)
_POSTFIXES = frozenset("^!%°")
_DEGREE = product([Name("π"), Number(Fraction(1, 180))])
_PERCENT = Number(Fraction(1, 100))
_HALF = Number(Fraction(1, 2))
_TEN = Number(10)
_DIGITS = frozenset(".0123456789")


def read(tokens: list[str]) -> list[Node]:
    """Parse an expression into trees, one for each possible reading, the most usual first.

    There is more than one if ``/`` is followed by a product (``1/2x``) or a logarithm has no base.

    Raises:
        NotUnderstood: The tokens are not an expression, or use unsupported syntax.
        TooComplex: The expression is nested too deeply, or its numbers are too large.
    """
    first = _ExpressionParser(tokens)
    trees = [first.parse()]
    if first.met_slash:
        trees.append(_ExpressionParser(tokens, tight=True).parse())
    if first.met_log:
        trees.append(_ExpressionParser(tokens, decimal=True).parse())
    return trees


class _ExpressionParser(Cursor):
    """A one-pass parser of tokens.

    Args:
        tokens: The tokens.
        tight: Whether a product without a sign belongs to the slash before it: ``1/2x`` is ``1/(2x)``.
        decimal: Whether a logarithm without base has base 10.

    Attributes:
        met_slash: Whether a product without a sign followed a slash.
        met_log: Whether a logarithm had no base.
    """

    def __init__(self, tokens: list[str], *, tight: bool = False, decimal: bool = False) -> None:
        super().__init__(tokens)
        self._bars = False
        self._tight = tight
        self._decimal = decimal
        self.met_slash = False
        self.met_log = False

    def parse(self) -> Node:
        node = self._parse_sum()
        self._expect("")
        return node

    def _parse_sum(self) -> Node:
        node = self._parse_product()
        if self._tokens[self._at] not in ("+", "-"):
            return node
        terms = [node]
        while (sign := self._tokens[self._at]) in ("+", "-"):
            self._at += 1
            terms.append(negative_if(sign == "-", self._parse_product()))
        return total(terms)

    def _parse_product(self) -> Node:
        factors = [self._parse_signed()]
        while token := self._tokens[self._at]:
            if token == "*":
                self._at += 1
                factors.append(self._parse_signed())
            elif token == "/":
                self._at += 1
                factors.append(power(self._parse_denominator(), MINUS_ONE))
            elif self._starts_factor(token) or (_is_number(token) and self._tokens[self._at - 1] in ("}", ")")):
                factors.append(self._parse_power())
            else:
                break
        return product(factors)

    def _parse_denominator(self) -> Node:
        factors = [self._parse_signed()]
        if self._starts_factor(self._tokens[self._at]):
            self.met_slash = True
            while self._tight and self._starts_factor(self._tokens[self._at]):
                factors.append(self._parse_power())
        return product(factors)

    def _starts_factor(self, token: str) -> bool:
        return token in _NAME or token in _OPENING or (token == "|" and not self._bars) or token[:1] == '"'

    def _parse_signed(self) -> Node:
        if self._tokens[self._at] in ("+", "-"):
            return negative_if(self._accept_signs(), self._parse_power())
        return self._parse_power()

    def _parse_power(self) -> Node:
        self._enter()
        node = self._parse_atom()
        postfixes = 0
        while (token := self._tokens[self._at]) in _POSTFIXES:
            self._at += 1
            postfixes += 1
            if postfixes > MAX_POSTFIXES:
                raise TooComplex("signs after signs")
            if token == "^":
                in_degrees = self._accept("{", "°", "}") or self._accept("°")
                node = product([node, _DEGREE]) if in_degrees else power(node, self._parse_script())
                continue
            if self._tokens[self._at] in ("!", "%", "°"):
                raise TooComplex("signs after signs")
            node = call("factorial", [node]) if token == "!" else product([node, _PERCENT if token == "%" else _DEGREE])
        self._leave()
        return node

    def _parse_script(self) -> Node:
        self._enter()
        minus = self._accept_signs()
        node = self._parse_number_or_atom()
        if self._accept("^"):
            node = power(node, self._parse_script())
        self._leave()
        return negative_if(minus, node)

    def _parse_number_or_atom(self) -> Node:
        token = self._tokens[self._at]
        if not _is_number(token):
            return self._parse_atom()
        self._at += 1
        return _number_node(token)

    def _parse_atom(self) -> Node:
        token = self._take_token()
        if token in _NAME or token[0] == '"':
            return self._parse_name(token)
        if _is_number(token):
            return self._parse_number(token)
        if token in _CLOSING:
            node = self._parse_group(_CLOSING[token])
            return call(_BRACKETS[token], [node]) if token in _BRACKETS else node
        if token in _CALLS:
            return self._parse_function(token[1:])
        match token:
            case "\\frac":
                return quotient(self._parse_macro_argument(), self._parse_macro_argument())
            case "\\sqrt":
                return self._parse_root()
            case "\\binom":
                return call("binomial", [self._parse_macro_argument(), self._parse_macro_argument()])
        if token in _DECORATIONS:
            return self._parse_decorated(token)
        raise NotUnderstood(token)

    def _parse_group(self, closing: str) -> Node:
        bars, self._bars = self._bars, closing == "|"
        node = self._parse_sum()
        if closing == "}" and (sign := self._tokens[self._at]) in ("\\choose", "\\over"):
            self._at += 1
            below = self._parse_sum()
            node = call("binomial", [node, below]) if sign == "\\choose" else quotient(node, below)
        self._expect(closing)
        self._bars = bars
        return node

    def _parse_arguments(self) -> list[Node]:
        bars, self._bars = self._bars, False
        self._expect("(")
        arguments = [self._parse_sum()]
        while self._accept(","):
            arguments.append(self._parse_sum())
        self._expect(")")
        self._bars = bars
        return arguments

    def _parse_macro_argument(self) -> Node:
        r"""Parse a macro's argument: a group, or what TeX takes without braces (one digit of ``\frac12``)."""
        self._enter()
        token = self._tokens[self._at]
        if token.isdecimal() and len(token) > 1:
            self._tokens[self._at] = token[1:]
            node: Node = _number_node(token[0])
        else:
            node = self._parse_atom()
        self._leave()
        return node

    def _parse_root(self) -> Node:
        self._enter()
        exponent: Node = _HALF
        if self._accept("["):
            exponent = power(self._parse_group("]"), MINUS_ONE)
        node = self._parse_number_or_atom()
        self._leave()
        return power(node, exponent)

    def _parse_number(self, token: str) -> Node:
        following = self._tokens[self._at]
        if following == "\\frac" and token.isdecimal() and (part := self._parse_proper_fraction()):
            return number(int(token) + part)
        if _is_number(following):
            raise NotUnderstood("a number after a number")
        return _number_node(token)

    def _parse_proper_fraction(self) -> Fraction | None:
        r"""Step over the ``\frac{1}{2}`` of a mixed number, if it is next."""
        match self._tokens[self._at + 1 : self._at + 7]:
            case ["{", top, "}", "{", bottom, "}"]:
                length = 7
            case [str(both), *_] if len(both) == 2:
                top, bottom, length = both[0], both[1], 2
            case _:
                return None
        if not _is_proper(top, bottom):
            return None
        self._at += length
        return Fraction(int(top), int(bottom))

    def _parse_name(self, token: str) -> Node:
        text = token
        if self._accept("_"):
            text += "_" + self._parse_subscript()
        while self._accept("'") or self._accept("^", "'") or self._accept("^", "{", "'", "}"):
            text += "'"
        if text in UNKNOWN_FUNCTIONS and self._tokens[self._at : self._at + 6] == ["^", "{", "-", "1", "}", "("]:
            self._at += 5
            text += "⁻¹"
        if (text == "C" or text.startswith("C_")) and (count := self._parse_combinations(text[2:])):
            return count
        if self._tokens[self._at] != "(":
            return Name(text)
        if text[0] in UNKNOWN_FUNCTIONS or text[-1] == "'" or text[0] == '"':
            return call(text, self._parse_arguments())
        return Name(text)

    def _parse_combinations(self, subscript: str) -> Node | None:
        start = self._at
        if self._tokens[start] == "(" and not subscript:
            if len(arguments := self._parse_arguments()) == 2:
                return call("binomial", arguments)
        elif subscript.isdecimal() and int(subscript) >= SMALLEST_COMBINATION and self._accept("^"):
            above = self._parse_script()
            if isinstance(above, Number) and isinstance(above.value, int) and 0 <= above.value <= int(subscript):
                return call("binomial", [Number(int(subscript)), above])
        self._at = start
        return None

    def _parse_subscript(self) -> str:
        token = self._take_token()
        if token != "{":
            if token in _NAME or token.isdecimal():
                return token
            raise NotUnderstood(token)
        parts: list[str] = []
        open_braces = 1
        while (token := self._take_token()) != "}" or open_braces > 1:
            if token in "=<>≤≥≠":
                raise NotUnderstood(token)
            open_braces += (token == "{") - (token == "}")
            parts.append(token.removeprefix('"'))
        return "".join(parts)

    def _parse_decorated(self, decoration: str) -> Node:
        braced = self._accept("{")
        letter = self._take_token()
        if letter not in _NAME:
            raise NotUnderstood(letter)
        if braced:
            self._expect("}")
        return self._parse_name(letter + decoration)

    def _parse_function(self, name: str) -> Node:
        base: Node | None = None
        exponent: Node | None = None
        while (token := self._tokens[self._at]) == "^" or (token == "_" and name == "log"):
            self._at += 1
            if token == "^":
                exponent = self._parse_script()
            else:
                base = self._parse_script()
        if exponent == MINUS_ONE and name in _INVERTIBLE:
            name, exponent = "a" + name, None
        token = self._tokens[self._at]
        if token == "(":
            arguments = self._parse_arguments()
        else:
            arguments = [self._parse_atom() if token in ("{", "|", "[") else self._parse_bare_argument()]
        if len(arguments) > 1 and name not in ("max", "min"):
            raise NotUnderstood(name)
        node = self._make_logarithm(name, arguments[0], base) if name in ("log", "lg") else call(name, arguments)
        return node if exponent is None else power(node, exponent)

    def _make_logarithm(self, name: str, argument: Node, base: Node | None) -> Node:
        if name == "lg" or (base is None and self._decimal):
            base = _TEN
        if base is None:
            self.met_log = True
            return call("ln", [argument])
        return quotient(call("ln", [argument]), call("ln", [base]))

    def _parse_bare_argument(self) -> Node:
        r"""Parse a function's argument without brackets: a number, then letters, or one group (``\sin 2\pi x``)."""
        minus = self._accept_signs()
        factors = [self._parse_power()] if _is_number(self._tokens[self._at]) else []
        seen_letter = False
        while token := self._tokens[self._at]:
            is_letter = token in _NAME
            if is_letter:
                if factors and self._ends_argument(token):
                    break
            elif seen_letter or token in _CALLS or not self._starts_factor(token):
                break
            factors.append(self._parse_power())
            if not is_letter:
                break
            seen_letter = True
        return negative_if(minus, product(factors or [self._parse_power()]))

    def _ends_argument(self, letter: str) -> bool:
        return letter == "e" or (letter in UNKNOWN_FUNCTIONS and self._tokens[self._at + 1] == "(")


def _is_proper(top: str, bottom: str) -> bool:
    return top.isdecimal() and bottom.isdecimal() and 0 < int(top) < int(bottom)


def _is_number(token: str) -> bool:
    return token[:1] in _DIGITS and token != "."


def _number_node(token: str) -> Number:
    return Number(int(token)) if token.isdecimal() else number(Fraction(token))


# -- An answer as a statement: an expression, or expressions related by ``=``, ``<`` and the like.


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


def value_trees(text: str) -> list[Node] | None:
    """Return the values that a text states, without their names: two for a plus-minus sign; None for anything else."""
    said = statements(text)
    if said is None or any((one.signs and not one.assigned) or not one.parts[-1] for one in said):
        return None
    return [statement.parts[-1][0] for statement in said]


def value_tree(text: str) -> Node | None:
    """Return the only value that a text states; None for anything else."""
    trees = value_trees(text)
    return trees[0] if trees is not None and len(trees) == 1 else None


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
